#!/bin/sh
# The command as a user meets it: exit codes, help, tables and JSON, files, errors. Usage: test_cli.sh TILEWRIGHT SOURCE
set -u
tilewright=$1 source=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
export TILEWRIGHT_CACHE_DIR="$root/cache" NO_COLOR=1
failures=0
small="direct_wgrad_depthwise kh=3 kw=3 dtype=bf16"
# GCC's address sanitizer leaves its allocator locked in a process that is forked while another thread allocates.
jobs=2
if ldd "$tilewright" 2>/dev/null | grep -q libasan; then
    jobs=1
    echo "[  SKIPPED ] several_jobs: the address sanitizer does not survive them"
fi

pass() { echo "[       OK ] $1"; }
fail() { echo "[  FAILED  ] $1"; sed 's/^/    /' "$root/out" "$root/err"; failures=$((failures + 1)); }
# expect NAME CODE PATTERN COMMAND...: the command ends with CODE, and PATTERN (extended, "" for none) is in its output.
expect() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >"$root/out" 2>"$root/err" </dev/null
    got=$?
    if [ $got -ne "$code" ]; then echo "exit code $got, not $code" >>"$root/err"; fail "$name"
    elif [ -n "$pattern" ] && ! cat "$root/out" "$root/err" | grep -Eq -- "$pattern"; then fail "$name"
    else pass "$name"; fi
}

expect no_command 2 'Usage: tilewright COMMAND' "$tilewright"
expect help 0 'emit-ir' "$tilewright" --help
expect version 0 '^tilewright [0-9]' "$tilewright" --version
expect unknown_command 2 "no command 'frob'" "$tilewright" frob
for command in list arch intrinsics emit-ir compile run exec replay golden identity cache bench; do
    expect "help_$command" 0 'Usage: tilewright' "$tilewright" "$command" --help
    expect "short_help_$command" 0 'Usage: tilewright' "$tilewright" "$command" -h
    expect "bad_option_$command" 2 'frobnicate' "$tilewright" "$command" --frobnicate
done

# A target that does not exist is a wrong command line for every command: what is named stands before --arch, if at all.
while read -r command words; do
    # shellcheck disable=SC2086
    expect "bad_target_$command" 2 'target must be one of gfx90a, .* \(got gfx9999\)' "$tilewright" $command $words gfx9999
    # shellcheck disable=SC2086
    expect "bad_feature_$command" 2 'target feature must be one that gfx1201 has \(got xnack-\)' "$tilewright" $command $words gfx1201:xnack-
done <<END
arch
list --grid direct_wgrad_reduce --arch
emit-ir $small --arch
compile $small --arch
run $small --arch
golden --execute --arch
identity --arch
bench compile --arch
END
expect no_family 2 'the first word must be a family: .* \(got direct_nothing\)' "$tilewright" compile direct_nothing
expect arch_all 0 '^gfx1250 ' "$tilewright" arch
expect arch_one 0 'vgpr budget' "$tilewright" arch gfx90a:xnack-
expect arch_json 0 '"lds_bytes": 163840' "$tilewright" arch gfx950 --json
expect arch_bad 2 'gfx9999' "$tilewright" arch gfx9999
expect intrinsics 0 '^READLANE +llvm.amdgcn.readlane' "$tilewright" intrinsics --flavor llvm22
expect intrinsics_json 0 '"gfx1250": "ok"' "$tilewright" intrinsics --flavor llvm22 --json
expect intrinsics_bad_flavor 2 'flavor must be one of .* \(got llvm18\)' "$tilewright" intrinsics --flavor llvm18
expect intrinsics_bad_set 2 'flavor must be one of .* \(got gcc\)' "$tilewright" intrinsics --probe gcc
expect intrinsics_nowhere 1 '/nonexistent: No such file' "$tilewright" intrinsics --probe llvm22 --dir /nonexistent
expect intrinsics_no_file 1 'intrinsics.llvm22.json: No such file' "$tilewright" intrinsics --check llvm22 --dir "$root"
expect intrinsics_two 2 'not two of them' "$tilewright" intrinsics --probe llvm22 --markdown
expect intrinsics_jobs_alone 2 'jobs goes with --probe and --check' "$tilewright" intrinsics --jobs 2
expect intrinsics_flavor_twice 2 'flavor goes with the table alone' "$tilewright" intrinsics --check llvm22 --flavor llvm22
expect intrinsics_argument 2 'no arguments are taken \(got llvm22\)' "$tilewright" intrinsics llvm22
expect list 0 'direct_wgrad_depthwise' "$tilewright" list
expect list_keys 0 '^r_split' "$tilewright" list direct_wgrad_depthwise
expect list_unknown 2 "no instance is called 'nothing'" "$tilewright" list nothing
expect list_grids 0 'direct_wgrad_reduce kh=8' "$tilewright" list --grid direct_wgrad --arch gfx1250
expect list_grid 0 'kh=7' "$tilewright" list --grid direct_wgrad_depthwise --arch gfx1250
expect list_grid_words 0 'kh=7 kw=7 ' "$tilewright" list --grid direct_wgrad_depthwise --arch gfx1250 kh=7 dtype=f16
if grep -Eq 'kh=3|bf16' "$root/out"; then fail list_grid_only; else pass list_grid_only; fi
expect list_grid_bad_word 2 'a word must name a field of direct_wgrad_reduce \(got depth=1\)' "$tilewright" list --grid direct_wgrad_reduce depth=1
few="direct_wgrad_reduce kh=3 kw=3 waves=4 out_dtype=f32"
# shellcheck disable=SC2086
expect list_compile 0 '^direct_wgrad_reduce +[1-9][0-9]* .* 0 +0 +0 +0 +[1-9]' "$tilewright" list --grid $few --arch gfx1201 --compile --jobs $jobs
# shellcheck disable=SC2086
expect list_compile_json 0 '"spilling": 0' "$tilewright" list --grid $few --compile --json
expect list_compile_nothing 1 'admits no such configuration' "$tilewright" list --grid direct_wgrad_mfma --arch gfx1250 --compile
expect list_compile_alone 2 'compile goes with --grid' "$tilewright" list --compile
expect list_jobs_alone 2 'jobs goes with --compile' "$tilewright" list --grid direct_wgrad_reduce --jobs 2
expect list_jobs_zero 2 'jobs must be 1..256 \(got 0\)' "$tilewright" list --grid direct_wgrad_reduce --compile --jobs 0
expect list_grid_problem_word 2 'a word must name a field of the spec, .* \(got n=4\)' "$tilewright" list --grid direct_wgrad_depthwise n=4
expect list_grid_nothing 0 '^note: the target admits no such configuration' "$tilewright" list --grid direct_wgrad_mfma --arch gfx1250
expect list_two 2 'one family at a time' "$tilewright" list direct_wgrad_reduce direct_wgrad_mfma

# shellcheck disable=SC2086
{
    expect emit_tile 0 'tile.kernel @' "$tilewright" emit-ir $small --arch gfx1201
    expect emit_llvm 0 'amdgpu_kernel' "$tilewright" emit-ir $small --arch gfx1201 --stage llvm
    expect emit_isa 0 'buffer_atomic_add_f32.*TH_ATOMIC_CASCADE_RT scope:SCOPE_DEV' "$tilewright" emit-ir $small --stage isa
    expect emit_flavor_refused 1 'gfx1250 needs llvm22 or later \(got llvm19\)' "$tilewright" emit-ir $small --stage llvm --flavor llvm19
    expect emit_bad_stage 2 'tile, llvm or isa \(got asm\)' "$tilewright" emit-ir $small --stage asm
    expect emit_bad_flavor 2 'flavor must be one of .* \(got llvm99\)' "$tilewright" emit-ir $small --flavor llvm99
    expect emit_other_flavor 1 'the built-in LLVM, which reads llvm2[0-9] \(got llvm19\)' "$tilewright" emit-ir $small --arch gfx1100 --stage isa --flavor llvm19
    expect emit_bad_key 2 'nothing' "$tilewright" emit-ir $small nothing=1
    expect emit_refused 1 'r_split must be 1..8 \(got 9\)' "$tilewright" emit-ir $small r_split=9
    expect emit_no_source 2 'missing' "$tilewright" emit-ir
    "$tilewright" emit-ir $small --arch gfx1100 -o "$root/k.tir"
    expect emit_file 0 'amdgpu_kernel' "$tilewright" emit-ir "$root/k.tir" --stage llvm --arch gfx1201
    expect emit_endless_file 1 '^error: /dev/zero: a file must have at most 16777216 bytes \(got more\)' timeout 60 "$tilewright" emit-ir /dev/zero
    expect emit_missing_file 1 'No such file' "$tilewright" emit-ir "$root/none.tir"
    expect emit_file_keys 2 'a tile IR file has no keys, and stands alone \(got kh=3\)' "$tilewright" emit-ir "$root/k.tir" kh=3
    expect compile_stats 0 '^vgpr spills +0' "$tilewright" compile $small --stats -o "$root/k.hsaco"
    expect compile_hit 0 '^cache hit +yes' "$tilewright" compile $small --stats -o "$root/k.hsaco"
    expect compile_no_cache 0 '^cache hit +no' "$tilewright" compile $small --stats --no-cache -o "$root/k.hsaco"
    expect compile_unwritable 1 'No such file' "$tilewright" compile $small -o "$root/none/k.hsaco"
    expect compile_stats_mixed 2 'stats and the code object cannot both go to standard output' "$tilewright" compile $small --stats -o -
    expect compile_json_mixed 2 'json and the code object cannot both go to standard output' "$tilewright" compile $small --json --output=-
    for level in 1 3; do "$tilewright" compile $small --no-cache --opt-level $level -o "$root/level$level"; done
    expect compile_levels 1 '' cmp "$root/level1" "$root/level3"
    expect compile_default_level 0 '' cmp "$root/k.hsaco" "$root/level3"
    mkfifo "$root/pipe"
    timeout 60 cat "$root/pipe" >"$root/piped" &
    expect compile_pipe 0 '' "$tilewright" compile $small -o "$root/pipe"
    if [ -p "$root/pipe" ] && wait $! && [ -s "$root/piped" ]; then pass piped_bytes; else fail piped_bytes; fi
    expect compile_without_cache 0 '^/proc/none: warning: the cache is not used' env TILEWRIGHT_CACHE_DIR=/proc/none "$tilewright" compile $small -o "$root/k.hsaco"
    expect cache_stat 0 '^entries +1' "$tilewright" cache stat
    expect cache_verify 0 '^damaged +0' "$tilewright" cache verify
    entry=$(find "$root/cache" -type f -size +1k | head -n 1)
    printf damage | dd of="$entry" bs=1 seek=900 conv=notrunc 2>/dev/null
    expect cache_verify_damaged 1 '^damaged +1' "$tilewright" cache verify
    expect cache_repair 1 '^damaged +1' "$tilewright" cache verify --repair
    expect cache_repaired 0 '^entries +0' "$tilewright" cache verify
    "$tilewright" compile $small -o "$root/k.hsaco"
    expect cache_prune 0 '^entries +0' "$tilewright" cache prune --limit 0
    odd=$(printf '%s/odd\377\303\251' "$root")
    expect cache_odd_name 0 "^directory +$root/odd.{1,3}$(printf '\303\251')" "$tilewright" cache stat --dir "$odd"
    expect cache_odd_name_json 0 '"directory": ".*/odd' "$tilewright" cache stat --json --dir "$odd"
    expect cache_no_action 2 'stat, verify or prune' "$tilewright" cache
    expect cache_limit_huge 2 'limit takes bytes \(got 99999999999G\)' "$tilewright" cache prune --limit 99999999999G
    expect cache_limit_wrapped 2 'limit takes bytes \(got 17179869184G\)' "$tilewright" cache prune --limit 17179869184G
    expect run_verified 0 'passed' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --verify --bundle "$root/bundle"
    run_cached() { # OPTION...: how many entries a run leaves in an empty cache
        rm -rf "$root/run-cache"
        TILEWRIGHT_CACHE_DIR=$root/run-cache "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu "$@" >/dev/null &&
            find "$root/run-cache" -name '*.co' 2>/dev/null | wc -l
    }
    expect run_cached 0 '^2$' run_cached
    expect run_no_cache 0 '^0$' run_cached --no-cache --compiler llvm
    expect run_no_cache_twice 0 '^0$' run_cached --compiler llvm --no-cache
    expect run_integers 0 'passed' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --verify --values integers
    expect run_seed 0 'passed' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --verify --seed 2 --bundle "$root/seed2"
    expect run_other_inputs 1 'differ' cmp "$root/bundle/x.bin" "$root/seed2/x.bin"
    expect run_same_seed 0 'passed' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --verify --seed 2 --bundle "$root/seed2_again"
    expect run_same_inputs 0 '' diff -r "$root/seed2" "$root/seed2_again"
    expect run_json 0 '"result": "passed"' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --verify --json
    expect run_profile 0 'valu' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --profile
    expect run_trace 0 '^workgroup 0,0,0 wave 0 .*s_' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --trace --trace-workgroup 0
    expect run_watch 0 'wave 0 .*\+0x0000 exec' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --verify --watch 0
    expect run_watch_lds 0 '^    lds 00000 00000000' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --watch 0
    # Nothing but zeros yet: the first row, one mark for all that repeat it, and the last row.
    expect run_watch_repeats 0 '^2 1$' sh -c "awk '/^    lds/ {rows++} /^    [*]/ {marks++} END {print rows, marks}' <\"\$1\"" sh "$(cp "$root/out" "$root/watched"; echo "$root/watched")"
    expect run_watch_never 1 'no wave came to --watch 0xfffff \(got there 0 times\)' "$tilewright" run $small n=1 h=5 w=5 c=3 --device emu --watch 0xfffff
    expect run_no_gpu 1 'hip:0' "$tilewright" run $small n=1 h=5 w=5 c=3 --device hip:0
    expect run_too_large 1 'got [0-9]+' "$tilewright" run $small n=100000 h=1000 w=1000 c=1000 --device emu
    expect run_file 2 "run takes an instance: .* 'tilewright exec' \(got .*/k.tir\)" "$tilewright" run "$root/k.tir"
    expect replay 0 'passed' "$tilewright" replay "$root/bundle" --device emu
    expect replay_profile 0 '^wait +[1-9]' "$tilewright" replay "$root/bundle" --device emu --profile
    expect replay_profile_json 0 '"matrix": ' "$tilewright" replay "$root/bundle" --device emu -p --json
    expect replay_watch 0 'wave 0 .*\+0x0000 exec' "$tilewright" replay "$root/bundle" --device emu --watch 0
    expect replay_missing 1 "^$root/none: error: file bundle.json cannot be opened \(No such file" "$tilewright" replay "$root/none"
}
# A device that does not exist is a wrong command line, too; what it is for has to be there.
while read -r command words; do
    # shellcheck disable=SC2086
    expect "bad_device_$command" 2 'a device must be emu:TARGET, .* \(got cuda\)' "$tilewright" $command $words cuda
    # shellcheck disable=SC2086
    expect "bad_device_target_$command" 2 'target must be one of gfx90a, .* \(got gfx9999\)' "$tilewright" $command $words emu:gfx9999
    # shellcheck disable=SC2086
    expect "bad_device_number_$command" 2 'hip: must be followed by the number of a device \(got hip:x\)' "$tilewright" $command $words hip:x
done <<END
run $small n=1 h=5 w=5 c=3 --device
replay $root/bundle --device
exec $root/k.hsaco k --grid 1 --block 64 --device
END
# One expected value moved by more than its bound must fail the replay.
printf '\0\0\0\0\0\0\360\177' | dd of="$root/bundle/dw.expected.f64" conv=notrunc 2>/dev/null
expect replay_mismatch 1 'failed' "$tilewright" replay "$root/bundle" --device emu
expect golden_filter 0 'passed' "$tilewright" golden --check --dir "$source/golden" --filter accumulate
# The letter is in every target's llvm22, and in the words of a few pins.
expect golden_filter_words 0 'passed' "$tilewright" golden --check --dir "$source/golden" --filter l
expect golden_nothing 1 'no pinned configuration matches' "$tilewright" golden --check --dir "$source/golden" --filter nothing
mkdir "$root/long"
{ echo 'direct_wgrad_reduce kh=3 kw=3'; seq 1 65 | tr '\n' ' '; } >"$root/long/pins.txt"
expect golden_long_pin 1 'a pin must have at most 64 words \(got more\)' "$tilewright" golden --check --dir "$root/long"
expect golden_execute 0 '^right numbers +[1-9]' "$tilewright" golden --execute --jobs $jobs --dir "$source/golden" --filter r_split=2 --arch gfx1201
grep -Eq "^record +compared" "$root/out" && recorded=true || recorded=false # of this exact version of LLVM
expect golden_execute_nothing 1 'nothing was compiled' "$tilewright" golden --execute --jobs $jobs --dir "$source/golden" --filter r_split=9 --arch gfx1201
expect golden_execute_record_part 2 'arch does not go with it' "$tilewright" golden --execute --record --arch gfx1201
expect golden_execute_no_tools 1 'must hold the program opt \(got /nonexistent\)' "$tilewright" golden --execute --jobs $jobs --dir "$source/golden" --compiler tools:/nonexistent
expect golden_jobs 2 'must be 1..64 \(got 0\)' "$tilewright" golden --execute --jobs 0
for option in --jobs=2 --arch=gfx1201 --compiler=llvm; do
    expect "golden_alone${option%=*}" 2 "${option%=*} goes with --execute" "$tilewright" golden $option
done
expect bench_word 2 'or an instance .got parse.' "$tilewright" bench parse
expect bench_file 0 '^frontend +both' "$tilewright" bench "$root/k.tir" --repeat 1
expect bench_file_emulator 2 'emulator runs an instance: .*k.tir' "$tilewright" bench emulator "$root/k.tir" --repeat 1
expect golden_table 0 '^\| gfx1250 \|' "$tilewright" golden --table --dir "$source/golden"
expect golden_table_alone 2 'only --dir goes with it' "$tilewright" golden --table --record
expect golden_table_nothing 1 'No such file' "$tilewright" golden --table --dir "$root"
for command in compile run golden identity; do
    expect "compiler_words_$command" 2 'auto, llvm, comgr, comgr:LIBRARY, tools:FOLDER or a flavor as llvm21 \(got gcc\)' "$tilewright" $command --compiler gcc
done
expect compile_by_missing_set 1 'must be set up by tools/toolchains or installed in /usr/lib/llvm-20 \(got llvm20\)' \
    env TILEWRIGHT_TOOLCHAINS=/nonexistent "$tilewright" compile $small --toolchain llvm20
expect compile_by_named_library 1 'no comgr library can be opened \(/nonexistent: ' "$tilewright" compile $small --compiler comgr:/nonexistent
cp -r "$source/golden" "$root/golden"
# A compiler that computes something else, one that forgets a function, and one that crashes.
if command -v opt-22 >/dev/null && command -v llc-22 >/dev/null && command -v ld.lld-22 >/dev/null; then
    mkdir "$root/tools"
    ln -s "$(command -v llc-22)" "$root/tools/llc"
    printf '#!/bin/sh\nexec ld.lld-22 "$@"\n' >"$root/tools/ld.lld"
    wrong() { # what happens to the text
        printf '#!/bin/sh\n[ "$1" = --version ] && exec opt-22 "$1"\n%s\n' "$1" >"$root/tools/opt"
        chmod +x "$root/tools/opt" "$root/tools/ld.lld"
    }
    execute() { "$tilewright" golden --execute --jobs $jobs --dir "$source/golden" --filter r_split=2 --arch gfx1201 --compiler "tools:$root/tools"; }
    wrong 'exec opt-22 "$@"'
    expect lane_tools 0 '^right numbers +1' execute
    # shellcheck disable=SC2016 # for the script
    wrong 'sed "s/\(llvm.fma.f32(float \)\([^,]*\), float [^,]*/\1\2, float \2/" | opt-22 "$@"'
    expect lane_wrong_numbers 1 'integers inputs: [0-9]+ of [0-9]+ elements are exact' execute
    # These programs say one version, by which the cache tells compilers apart.
    verify() { rm -rf "$root/cache"; "$tilewright" run direct_wgrad_reduce kh=3 kw=3 ws_replicas=2 c=5 --device emu --arch gfx1201 --compiler "tools:$root/tools" --verify "$@"; }
    wrong 'sed "s/fadd float \([^,]*\), .*/fadd float \1, 1.0/" | opt-22 "$@"'
    expect run_wrong_numbers 1 '^error: results are out of their bounds' verify
    expect run_wrong_numbers_json 1 '"result": "failed"' verify --json
    wrong 'exec opt-22 "$@"'
    expect run_right_numbers 0 '"result": "passed"' verify --json
    wrong 'sed "s/workitem.id.x/nonsense/" | opt-22 "$@"'
    expect lane_undefined_symbol 1 'undefined symbol llvm.amdgcn.nonsense' execute
    wrong 'kill -SEGV $$'
    expect lane_crash 1 'opt was ended by SIGSEGV' execute
else
    echo "[  SKIPPED ] lane_tools: opt-22, llc-22 and ld.lld-22 are not installed"
fi
# A set whose programs do not run must not pass for a compiler that refuses all.
mkdir -p "$root/sets/llvm19"
printf '#!/bin/sh\necho "LLVM version 19.1.7"\n' >"$root/sets/llvm19/llc"
printf '#!/bin/sh\nexec /nonexistent/program "$@"\n' >"$root/sets/llvm19/opt"
cp "$root/sets/llvm19/opt" "$root/sets/llvm19/llvm-nm"
chmod +x "$root"/sets/llvm19/*
expect intrinsics_no_program 1 'cannot run .*/sets/llvm19/opt' env TILEWRIGHT_TOOLCHAINS="$root/sets" "$tilewright" intrinsics --check llvm19 --dir "$source/arch"
printf '#!/bin/sh\nkill -SEGV $$\n' >"$root/sets/llvm19/llc"
expect intrinsics_no_version 1 'llvm19/llc does not tell its version' env TILEWRIGHT_TOOLCHAINS="$root/sets" "$tilewright" intrinsics --check llvm19 --dir "$source/arch"
if $recorded; then
    # Other code gives the same numbers; what other waves give is not recorded.
    few_numbers() { "$tilewright" golden --execute --jobs $jobs --dir "$1" --filter r_split=2 --arch "$2"; }
    expect golden_execute_feature 0 '^record +numbers of gfx90a compared' few_numbers "$source/golden" gfx90a:xnack-
    expect golden_execute_wave 0 '^record +of gfx1100 in wave32 only' few_numbers "$source/golden" gfx1100:wave64
    expect golden_execute_compared 0 '^code objects compared +1' "$tilewright" golden --execute --jobs $jobs --dir "$source/golden" --filter r_split=2 --arch gfx1201
    lane=$(ls "$root"/golden/lanes/llvm-*.txt | grep -v tools)
    sed -i 's/^right    gfx1201 0 [0-9a-f]*\(.*r_split=2\)/right    gfx1201 0 0123456789abcdef\1/' "$lane"
    expect golden_execute_other_numbers 1 'differs from its record' "$tilewright" golden --execute --jobs $jobs --dir "$root/golden" --filter r_split=2 --arch gfx1201
    cp "$source"/golden/lanes/* "$root/golden/lanes"
    sed -i 's/^right    gfx1201 0 \(.*r_split=2\)/right    gfx1201 1 \1/' "$lane"
    expect golden_execute_other_spills 1 'differs from its record' "$tilewright" golden --execute --jobs $jobs --dir "$root/golden" --filter r_split=2 --arch gfx1201
    sed -i 's/^right    \(gfx90a\|gfx1100\) 0 [0-9a-f]*\(.*r_split=2\)/right    \1 0 0123456789abcdef\2/' "$lane"
    expect golden_execute_feature_numbers 1 'gfx90a:xnack-: differs from its record' few_numbers "$root/golden" gfx90a:xnack-
    expect golden_execute_wave_numbers 0 '^result +passed' few_numbers "$root/golden" gfx1100:wave64
    sed -i '/gfx1201.*r_split=2$/d' "$lane"
    expect golden_execute_not_recorded 1 'not recorded' "$tilewright" golden --execute --jobs $jobs --dir "$root/golden" --filter r_split=2 --arch gfx1201
    expect golden_execute_record_filter 0 '^record +written' "$tilewright" golden --execute --record --jobs $jobs --dir "$root/golden" --filter r_split=2
    expect golden_execute_recorded_rest 0 '' diff -r "$source/golden/lanes" "$root/golden/lanes"
    expect golden_execute_recorded_code 0 '' diff -r "$source/golden/identity" "$root/golden/identity"
    sed -i '2s/.*/nonsense/' "$lane"
    expect golden_table_damaged 1 'line 2 is no row' "$tilewright" golden --table --dir "$root/golden"
    cp "$source"/golden/lanes/* "$root/golden/lanes"
    sed -i 's/^[0-9a-f]*\( gfx1201 .*r_split=2\)$/0000000000000000000000000000000000000000000000000000000000000000\1/' "$root"/golden/identity/llvm-2*.txt
    expect golden_execute_other_code 1 'another code object' "$tilewright" golden --execute --jobs $jobs --dir "$root/golden" --filter r_split=2 --arch gfx1201
else
    echo "[  SKIPPED ] golden_execute_records: no record of this version of LLVM"
fi
sed -i 's/step 256/step 128/' "$root/golden/accumulate.tir"
expect golden_difference 1 'differs' "$tilewright" golden --check --dir "$root/golden" --filter accumulate
cp -r "$source/golden" "$root/shown"
echo '; edited' >>"$root/shown/shown/accumulate.tir.gfx1250.llvm22.ll"
expect golden_shown_edited 1 'not the golden' "$tilewright" golden --check --dir "$root/shown"
expect golden_shown_record 0 'unchanged' "$tilewright" golden --record --dir "$root/shown"
: >"$root/shown/shown/another.ll"
expect golden_shown_unknown 1 'no golden has this name' "$tilewright" golden --check --dir "$root/shown"
cp -r "$source/golden" "$root/cut"
head -c 20000 "$source/golden/texts.zst" >"$root/cut/texts.zst"
expect golden_cut 1 'texts.zst: ' "$tilewright" golden --check --dir "$root/cut" --filter accumulate
sed -i '1s/^./z/' "$root/golden/hashes.txt"
expect golden_edited 1 'record them together' "$tilewright" golden --check --dir "$root/golden" --filter accumulate
expect identity 0 '^threads +passed' "$tilewright" identity --dir "$source/golden" --filter reduce --arch gfx1201
mkdir "$root/fresh"
grep -m 1 '^direct_wgrad_reduce ' "$source/golden/pins.txt" >"$root/fresh/pins.txt"
expect golden_record_fresh 0 "^note: .*'tools/toolchains measure TILEWRIGHT --record'" "$tilewright" golden --record --dir "$root/fresh"
expect golden_execute_record_fresh 0 '^record +written' "$tilewright" golden --execute --record --jobs $jobs --dir "$root/fresh"
expect golden_execute_fresh 0 '^record +compared' "$tilewright" golden --execute --jobs $jobs --dir "$root/fresh"
lane=$(ls "$root"/fresh/lanes/*.txt)
sed -i '$s/.*/&\n& more=1/' "$lane"
expect golden_execute_gone 1 ' more=1 . gfx[0-9a]*: recorded, but not made any more' "$tilewright" golden --execute --jobs $jobs --dir "$root/fresh"
sed -i '$d' "$lane"
expect identity_fresh 0 '^baseline +passed +[1-9]' "$tilewright" identity --dir "$root/fresh"
cp -r "$root/fresh" "$root/other"
sed -i '1s/^[0-9a-f]*/0000000000000000000000000000000000000000000000000000000000000000/' "$root"/other/identity/*.txt
expect identity_other_code 1 '[|] baseline: another code object than the recorded one' "$tilewright" identity --dir "$root/other"
rm -rf "$root/fresh/identity" && : >"$root/fresh/identity"
expect identity_record_nowhere 1 'fresh/identity' "$tilewright" identity --record --dir "$root/fresh"
# Tools of a release that has not all targets, and that compile nothing.
mkdir "$root/old"
for tool in "opt LLVM version" "llc LLVM version" "ld.lld LLD"; do
    printf '#!/bin/sh\necho "%s 19.1.7"\n' "${tool#* }" >"$root/old/${tool%% *}"
    chmod +x "$root/old/${tool%% *}"
done
expect identity_skipped 1 '^skipped: gfx1250: gfx1250 needs llvm22 or later \(got llvm19\)' "$tilewright" identity --compiler "tools:$root/old" --dir "$source/golden" --filter r_split=2
expect identity_record_part 2 'arch does not go with it' "$tilewright" identity --dir "$root/golden" --record --arch gfx1201
expect identity_record_filter 2 'filter does not go with it' "$tilewright" identity --dir "$root/golden" --record --filter reduce
rm "$root/golden/accumulate.tir"
expect identity_no_file 1 'builder: .*No such file' "$tilewright" identity --dir "$root/golden" --filter accumulate --arch gfx1201
expect identity_nothing 1 'no pinned' "$tilewright" identity --dir "$source/golden" --filter nothing

[ $failures -eq 0 ]
