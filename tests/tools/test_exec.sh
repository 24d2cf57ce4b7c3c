#!/bin/sh
# tilewright exec on code objects and bundles that clang makes. Usage: test_exec.sh TILEWRIGHT SOURCE CLANG
set -u
tilewright=$(realpath "$1") source=$2 clang=$3
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
export NO_COLOR=1
cd "$root" || exit 1
failures=0 skipped=0

pass() { echo "[       OK ] $1"; }
fail() { echo "[  FAILED  ] $1"; sed 's/^/    /' out err; failures=$((failures + 1)); }
skip() { echo "[  SKIPPED ] $1: $2"; skipped=$((skipped + 1)); }
# expect NAME CODE PATTERN COMMAND...: the command ends with CODE, and PATTERN (extended, "" for none) is in its output.
expect() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >out 2>err </dev/null
    got=$?
    if [ $got -ne "$code" ]; then echo "exit code $got, not $code" >>err; fail "$name"
    elif [ -n "$pattern" ] && ! cat out err | tr '\n' ' ' | grep -Eq -- "$pattern"; then fail "$name"
    else pass "$name"; fi
}
# same NAME FILE HEX: the file's bytes.
same() {
    od -An -v -tx1 "$2" | tr -d ' \n' >got
    if [ "$(cat got)" = "$3" ]; then pass "$1"; else cp got out; echo "expected $3" >err; fail "$1"; fi
}
hip() { "$clang" -x hip --cuda-device-only -nogpulib -nogpuinc -O2 "$@" "$source/tests/tools/exec.hip"; }
exec_() { "$tilewright" exec "$@"; }

# Four floats each: 1 2 3 4, and 0.5 of all.
printf '\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100' >a.bin
printf '\000\000\000\077\000\000\000\077\000\000\000\077\000\000\000\077' >b.bin
sum=0000c03f000020400000604000009040

# ---- code object versions on every target ----
for target in gfx90a gfx942 gfx950 gfx1100 gfx1151 gfx1200 gfx1201 gfx1250; do
    for version in 4 5 6; do
        hip --no-gpu-bundle-output --offload-arch=$target -mcode-object-version=$version -o k.hsaco || failures=$((failures + 1))
        rm -f c.bin
        expect "vadd_${target}_v$version" 0 "device emu:$target" exec_ k.hsaco vadd --grid 2 --block 4 --device emu buf:a.bin buf:b.bin zero:16:c.bin i32:4
        same "sum_${target}_v$version" c.bin $sum
    done
    expect "arguments_$target" 0 '' exec_ k.hsaco arguments -g 1 -b 64 -d emu zero:72:o.bin i32:-2 i64:0x8000000000000001 f32:-1.5 \
        f64:1e300 hex:01000000000000000000803f0a0b0c0d null i32:0xffffffff
    same "argument_bits_$target" o.bin "feffffff000000000100000000000080""0000c0bf00000000""9c7500883ce4377e""0100000000000000""0000803f00000000""0a0b0c0d00000000""0000000000000000""ffffffff00000000"
    expect "dynamic_lds_$target" 0 '' exec_ k.hsaco reverse --grid 1 --block 4 --dynamic-lds 16 -d emu buf:a.bin zero:16:r.bin
    same "reversed_$target" r.bin 000080400000404000000040""0000803f
    # 16 values a work-item in scratch, or LDS, reached by one pointer; t times 0 + .. + 9, or that sum itself.
    expect "flat_spaces_$target" 0 'scratch read +1280 scratch written +4096 lds read +1280 ' exec_ k.hsaco scratch -g 1 -b 64 -d emu -p zero:256:s.bin i32:10
    same "flat_sums_$target" s.bin "$(t=0; while [ $t -lt 64 ]; do
        if [ $((t % 2)) = 1 ]; then n=$((t * 45)); else n=45; fi
        printf '%02x%02x0000' $((n % 256)) $((n / 256)); t=$((t + 1)); done)"
    expect "hidden_arguments_$target" 0 '' exec_ k.hsaco hidden -g 5,3,2 -b 64,2,1 --dynamic-lds 4096 -d emu zero:56:h.bin
    same "hidden_values_$target" h.bin "050000000300000002000000""400000000200000001000000""000000000000000000000000""000000000000000000000000""0300000000100000"
    expect "kernarg_end_$target" 0 '' exec_ k.hsaco past_end -g 1 -b 1 -d emu zero:4 i32:2
    expect "widened_$target" 0 '' exec_ k.hsaco three -g 1 -b 1 -d emu zero:4:n.bin i32:77
    same "widened_value_$target" n.bin 4d000000
    expect "past_kernarg_$target" 1 "0 bytes past the end of 'kernarg segment' \(12 bytes" exec_ k.hsaco past_end -g 1 -b 1 -d emu zero:4 i32:3
    case $target in gfx950 | gfx1250) set -- 0 0 15 0 2 6 ;; *) set -- 0 1 31 0 4 12 ;; esac
    # Three lanes are in range, one is not.
    expect "dropped_store_$target" 0 '' exec_ k.hsaco ranged -g 1 -b 4 -d emu zero:16:r.bin i32:12
    same "dropped_store_bytes_$target" r.bin 01000000020000000300000000000000
    expect "reported_store_$target" 1 'buffer store out of the range of its resource: index 0, offset 12 of 12' exec_ k.hsaco ranged -g 1 -b 4 -d emu --buffer-range report zero:16 i32:12
    expect "dropped_atomic_$target" 0 '' exec_ k.hsaco ranged_atomic -g 1 -b 4 -d emu --buffer-range=drop zero:16:r.bin zero:16:old.bin i32:12
    same "dropped_atomic_bytes_$target" r.bin 01000000020000000300000000000000
    same "dropped_atomic_old_$target" old.bin 07000000070000000700000007000000
    expect "reported_atomic_$target" 1 'buffer atomic out of the range of its resource' exec_ k.hsaco ranged_atomic -g 1 -b 4 -d emu --buffer-range report zero:16 zero:16 i32:12
    for row in strides:1 strides:2 strides:32 wide:1 wide:2 wide:4; do
        # 32 lanes at a time, a store and a load.
        expect "conflicts_${target}_$row" 0 "lds conflicts +$(($1 * 4)) " exec_ k.hsaco "${row%:*}" -g 1 -b 64 -d emu -p zero:256 "i32:${row#*:}"
        shift
    done
done

rm -f c.bin
# shellcheck disable=SC2016 # for the inner shell
expect standard_input 0 'device emu:gfx1250' sh -c '"$0" exec - vadd --grid 2 --block 4 --device emu buf:a.bin buf:b.bin zero:16:c.bin i32:4 <k.hsaco' "$tilewright"
same standard_input_sum c.bin $sum

# ---- preloaded arguments: the code behind the prologue must not load them ----
for target in gfx90a gfx942 gfx950 gfx1250; do
    for count in 0 1 16; do
        hip --no-gpu-bundle-output --offload-arch=$target -mllvm -amdgpu-kernarg-preload-count=$count -o p.hsaco || failures=$((failures + 1))
        expect "preload_${target}_$count" 0 '' exec_ p.hsaco arguments -g 1 -b 64 -d emu -p zero:72:o.bin i32:-2 i64:0x8000000000000001 f32:-1.5 \
            f64:1e300 hex:01000000000000000000803f0a0b0c0d null i32:0xffffffff
        eval "read$count=\$(sed -n 's/^scalar read *//p' out)"
        same "preload_bits_${target}_$count" o.bin "feffffff000000000100000000000080""0000c0bf00000000""9c7500883ce4377e""0100000000000000""0000803f00000000""0a0b0c0d00000000""0000000000000000""ffffffff00000000"
    done
    # shellcheck disable=SC2154
    if [ "$read16" -lt "$read1" ] && [ "$read1" -lt "$read0" ]; then pass "preload_spares_$target"
    else echo "bytes read by scalar loads: $read0 $read1 $read16" >out; fail "preload_spares_$target"; fi
done

# ---- arguments ----
expect trailing_are_zero 0 '' exec_ k.hsaco arguments -g 1 -b 64 -d emu zero:72:o.bin i32:2147483648
same trailing_bits o.bin "0000008000000000$(printf '%0128d' 0)"
expect unsigned_i64 0 '' exec_ k.hsaco arguments -g 1 -b 64 -d emu zero:72:o.bin i32:+7 i64:18446744073709551615 f32:inf f64:-inf
same unsigned_bits o.bin "0700000000000000ffffffffffffffff0000807f00000000000000000000f0ff$(printf '%080d' 0)"
cp a.bin in_place.bin
expect in_place 0 '' exec_ k.hsaco reverse --grid 1 --block 4 --dynamic-lds 16 -d emu buf:in_place.bin buf:in_place.bin
same in_place_bytes in_place.bin 00008040000040400000004""00000803f
"$clang" -x cl -target amdgcn-amd-amdhsa -mcpu=gfx1250 -nogpulib -O2 -o fixed.hsaco "$source/tests/tools/exec.cl"
expect fixed_block 0 '64,2,1' exec_ fixed.hsaco fixed --grid 1,2,2 -d emu zero:2K
expect fixed_block_refused 1 'is 64x2x1 work-items \(got 64x1x1\)' exec_ fixed.hsaco fixed --grid 1 --block 64 -d emu zero:2K
for row in 'i32:4294967296' 'i32:-2147483649' 'i32:0x100000000' 'i32:' 'i32:1.5' 'i32:0x' 'i32: 1' 'i64:18446744073709551616' \
    'i64:-9223372036854775809' 'f32:1e39' 'f32:1,5' 'f32:' 'f64:1e309' 'hex:' 'hex:0' 'hex:0g' 'zero:' 'zero:x:f' 'zero:4:' 'buf:' 'i8:1' ''; do
    expect "refuses '$row'" 2 'error: .*\(got ' exec_ k.hsaco vadd -g 1 -b 64 -d emu "$row"
done
expect wrong_kind 2 'argument 3 \([a-z_]*\) takes a value of 4 bytes \(got a buffer\)' exec_ k.hsaco vadd -g 1 -b 64 -d emu buf:a.bin buf:b.bin zero:16 null
expect wrong_size 2 'argument 3 \([a-z_]*\) takes 4 bytes \(got 8\)' exec_ k.hsaco vadd -g 1 -b 64 -d emu buf:a.bin buf:b.bin zero:16 i64:4
expect too_many 2 'at most 4 arguments \(got 5\)' exec_ k.hsaco vadd -g 1 -b 64 -d emu null null null i32:1 i32:1
LC_ALL=C sed 's/vadd/v\xffdd/g' k.hsaco >odd.hsaco
expect odd_name 0 'v.{1,3}dd +1,1,1 +4,1,1 ' exec_ odd.hsaco "$(printf 'v\377dd')" -g 1 -b 4 -d emu buf:a.bin buf:b.bin zero:16 i32:4
expect large_value 0 '' exec_ k.hsaco by_value -g 1 -b 1 -d emu zero:4:v.bin "hex:$(printf '%08792d' 0)2a000000"
same large_value_bytes v.bin 2a000000
expect large_value_missing 2 'argument 1 has to be given \(got none of its 4400 bytes\)' exec_ k.hsaco by_value -g 1 -b 1 -d emu zero:4
expect no_file 1 'none.bin: No such file' exec_ k.hsaco vadd -g 1 -b 64 -d emu buf:none.bin
rm -f c.bin
expect out_of_bounds 1 "store of 4 bytes out of bounds.*'c.bin'" exec_ k.hsaco vadd -g 1 -b 4 -d emu buf:a.bin buf:b.bin zero:12:c.bin i32:4
if [ -e c.bin ]; then fail no_file_after_a_report; else pass no_file_after_a_report; fi

# ---- options ----
expect no_grid 2 '--grid is needed' exec_ k.hsaco vadd -b 64
expect no_block 2 '--block is needed' exec_ k.hsaco vadd -g 1 -d emu
expect bad_grid 2 'from 1 on, as in 64,2,1 \(got 1,0\)' exec_ k.hsaco vadd -g 1,0 -b 64
expect bad_block 2 'got 1,2,3,4' exec_ k.hsaco vadd -g 1 -b 1,2,3,4
expect bad_lds 2 'a number of bytes \(got -1\)' exec_ k.hsaco vadd -g 1 -b 64 --dynamic-lds=-1
expect much_lds 1 'together must be at most 327680 bytes on gfx1250 \(got 1048576\)' exec_ k.hsaco vadd -g 1 -b 64 -l 1M -d emu
expect bad_range 2 'drop or report \(got none\)' exec_ k.hsaco vadd -g 1 -b 64 --buffer-range none
expect bad_lds_range 2 '--lds-range must be drop or report \(got yes\)' exec_ k.hsaco vadd -g 1 -b 64 --lds-range yes
expect no_kernel 2 'the name of a kernel is needed' exec_ k.hsaco -g 1
expect other_kernel 1 'arguments.*\(got frob\)' exec_ k.hsaco frob -g 1 -b 64 -d emu
expect no_object 1 'none.hsaco: No such file' exec_ none.hsaco vadd -g 1 -b 64
expect not_an_object 1 'exec.cl: .*ELF' exec_ "$source/tests/tools/exec.cl" vadd -g 1 -b 64
expect other_target 1 'runs no code of another target' exec_ k.hsaco vadd -g 1 -b 64 -d emu:gfx942
expect no_gpu_default 0 'device emu:gfx1250' env TILEWRIGHT_HIP=/none "$tilewright" exec k.hsaco vadd -g 1 -b 64 buf:a.bin buf:b.bin zero:16 i32:4
expect no_gpu 1 'hip:0' env TILEWRIGHT_HIP=/none "$tilewright" exec k.hsaco vadd -g 1 -b 64 -d hip:0
expect profile 0 'valu  .*instructions per second' exec_ k.hsaco vadd -g 2 -b 64 -d emu -p buf:a.bin buf:b.bin zero:16 i32:4
expect profile_json 0 '"bytes_read": 32,' exec_ k.hsaco vadd -g 2 -b 64 -d emu --profile --json buf:a.bin buf:b.bin zero:16 i32:4
expect locale 0 '' env LC_ALL=de_DE.UTF-8 "$tilewright" exec k.hsaco arguments -g 1 -b 64 -d emu zero:72:o.bin i32:1 i64:2 f32:1.5

# ---- traces ----
hip --no-gpu-bundle-output --offload-arch=gfx1100 -o t.hsaco
vadd_() { exec_ t.hsaco vadd -g 2 -b 64 -d emu "$@" buf:a.bin buf:b.bin zero:16:c.bin i32:4; }
lines() { grep -c "^workgroup" "$1"; }
rm -f c.bin
expect trace 0 'workgroup 1,0,0 wave 1 vadd\+0x0000 exec ffffffff  s_' vadd_ --trace
expect trace_values 0 'v_add_f32_e32 v[0-9]+, v[0-9]+, v[0-9]+     v[0-9]+ 0:3fc00000 1:40200000 2:40600000 3:40900000 ' vadd_ --trace
expect trace_runs 0 ' v1 0-31:00000020\+1 ' vadd_ --trace
expect trace_mask 0 'exec 0000000f  v_add_f32' vadd_ --trace
same trace_result c.bin $sum
expect trace_file 0 '' vadd_ --trace=t.txt --json
all=$(lines t.txt)
"$tilewright" exec t.hsaco vadd -g 2 -b 64 -d emu --json buf:a.bin buf:b.bin zero:16 i32:4 >out
if grep -q "\"instructions\": $all," out; then pass trace_is_whole; else fail trace_is_whole; fi
expect trace_one 0 '' vadd_ --trace=t.txt --trace-workgroup 1,0,0 --trace-wave 1
if [ "$(lines t.txt)" -gt 0 ] && [ "$(lines t.txt)" = "$(grep -c '^workgroup 1,0,0 wave 1 ' t.txt)" ]; then pass trace_filter; else fail trace_filter; fi
expect trace_store 0 'buffer_store_b32 v[0-9]+, v[0-9]+, s\[[0-9:]+\], 0 offen workgroup' exec_ t.hsaco ranged -g 1 -b 4 -d emu --trace zero:16 i32:16
expect trace_atomic 0 'buffer_atomic_add_u32 .* glc +v[0-9]+ 0-3:00000000 workgroup' exec_ t.hsaco ranged_atomic -g 1 -b 4 -d emu --trace zero:16 zero:16 i32:16
expect trace_lds 0 'ds_(store|load)_b32 .* v[0-9]+ 0-3:00000000\+1 ' exec_ t.hsaco strides -g 1 -b 4 -d emu --trace zero:16 i32:1
expect trace_unwritable 1 '/none/t.txt: No such file' vadd_ --trace=/none/t.txt
expect trace_full 1 'cannot be written \(got /dev/full\)' vadd_ --trace=/dev/full
expect trace_bad_workgroup 2 'as in 3,0,0 \(got 1,2,3,4\)' vadd_ --trace --trace-workgroup 1,2,3,4
expect trace_bad_wave 2 '\(got -1\)' vadd_ --trace --trace-wave=-1
expect trace_nothing 2 '\(got neither\)' vadd_ --trace-wave 0
rm -f c.bin
expect watch 0 'wave 0 vadd\+0x0000 .* s0 .* v0 0-31:00000000\+1' vadd_ --watch 0
if [ -e c.bin ] || grep -q ms out; then fail watch_ends_the_launch; else pass watch_ends_the_launch; fi
expect watch_third 0 'workgroup 1,0,0 wave 0 vadd\+0x0000' vadd_ --watch 0x0:3
expect watch_filtered 0 'workgroup 1,0,0 wave 1 vadd\+0x0000' vadd_ --watch 0 --trace-workgroup 1 --trace-wave 1
expect watch_never 1 'no wave came to --watch 0:5 \(got there 4 times\)' vadd_ --watch 0:5
expect watch_between 1 '\(got there 0 times\)' vadd_ --watch 1
for bad in x 0x 1:0 1: -1 0x1g 99999999999999999999; do expect "watch_refuses $bad" 2 "\(got $bad\)" vadd_ --watch=$bad; done
end=$(sed -n 's/.*strides+\(0x[0-9a-f]*\) .*s_endpgm.*/\1/p' <<EOF
$(exec_ t.hsaco strides -g 1 -b 32 -d emu --trace zero:128 i32:1 2>&1)
EOF
)
expect watch_lds 0 'lds 00000 00000000 01000000 02000000' exec_ t.hsaco strides -g 1 -b 32 -d emu --watch "$end" zero:128 i32:1
expect watch_gpu 1 'hip:0' env TILEWRIGHT_HIP=/none "$tilewright" exec t.hsaco vadd -g 1 -b 64 -d hip:0 --watch 0

# ---- the guide's example ----
# shellcheck disable=SC2016 # the fences of code blocks
{
sed -n '/^```hip$/,/^```$/p' "$source/docs/exec.md" | sed '/^```/d' >scale.hip
sed -n '/^```sh$/,/^```$/p' "$source/docs/exec.md" | sed -n '/^```/d; 1,/^tilewright/p' | grep -v '^```' >scale.sh
}
printf 'clang_() { "%s" "$@"; }\ntilewright() { "%s" "$@"; }\nset -e\n' "$clang" "$tilewright" >guide.sh
sed 's|^clang-22 |clang_ |' scale.sh >>guide.sh
expect guide 0 '^device emu:gfx942 .*scale +4,1,1 +256,1,1 ' sh guide.sh
expect guide_report 1 "out of bounds: 0x[0-9a-f]* is 0 bytes past the end of 'x.bin' \(4000 bytes.*global_load_dword" \
    exec_ scale.hsaco scale --grid 4 --block 256 --device emu buf:x.bin zero:4000:y.bin f32:2.5 i32:1001

# ---- bundles ----
PATH=$PATH:$(dirname "$(readlink -f "$clang")")
targets='--offload-arch=gfx1100 --offload-arch=gfx942 --offload-arch=gfx90a:xnack-'
run_bundle() { # NAME FILE DEVICE
    rm -f c.bin
    expect "$1" 0 "device emu:$3" exec_ "$2" vadd -g 2 -b 4 --device "emu:$3" buf:a.bin buf:b.bin zero:16:c.bin i32:4
    same "$1_sum" c.bin $sum
}
if command -v clang-offload-bundler >/dev/null; then
    # shellcheck disable=SC2086
    {
        hip $targets -o plain.hipfb
        hip $targets --offload-compress -o v3.hipfb
        COMPRESSED_BUNDLE_FORMAT_VERSION=2 hip $targets --offload-compress -o v2.hipfb
    }
    hip --offload-arch=gfx1201 -o one.hipfb
    for bundle in plain v2 v3; do
        run_bundle "${bundle}_gfx1100" $bundle.hipfb gfx1100
        run_bundle "${bundle}_gfx90a" $bundle.hipfb gfx90a
        run_bundle "${bundle}_gfx942" $bundle.hipfb gfx942:xnack-
    done
    expect other_feature 1 'a member for gfx90a:xnack\+ is needed .*gfx90a:xnack-' exec_ plain.hipfb vadd -g 1 -b 4 -d emu:gfx90a:xnack+
    expect several_targets 2 'gfx1100, gfx90a:xnack-, gfx942' exec_ v3.hipfb vadd -g 1 -b 4 -d emu
    rm -f c.bin
    expect one_target 0 'device emu:gfx1201' env TILEWRIGHT_HIP=/none "$tilewright" exec one.hipfb vadd -g 1 -b 4 buf:a.bin buf:b.bin zero:16:c.bin i32:4
    same one_target_sum c.bin $sum
    head -c 1000 v3.hipfb >cut.hipfb
    expect cut_bundle 1 'must lie in the 1000 bytes of its file' exec_ cut.hipfb vadd -g 1 -b 4 -d emu:gfx942
else
    skip bundles 'no clang-offload-bundler'
fi

if [ $failures -ne 0 ]; then exit 1; fi
if [ $skipped -ne 0 ]; then echo "skipped: bundles made by clang"; fi
