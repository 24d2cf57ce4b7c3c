#!/bin/sh
# The files that commands write: whole or not at all, with the permissions they had. Usage: test_written.sh TILEWRIGHT SOURCE
set -u
tilewright=$(realpath "$1") source=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
export TILEWRIGHT_CACHE_DIR="$root/cache" NO_COLOR=1
cd "$root" || exit 1
failures=0

pass() { echo "[       OK ] $1"; }
fail() { echo "[  FAILED  ] $1"; sed 's/^/    /' out err; failures=$((failures + 1)); }
skip() { echo "[  SKIPPED ] $1: $2"; }
# check NAME COMMAND...: the command holds.
check() {
    name=$1
    shift
    if "$@"; then pass "$name"; else echo "does not hold: $*" >>err; fail "$name"; fi
}
# ends NAME CODE PATTERN COMMAND...: exit code, and what standard error says.
ends() {
    name=$1 code=$2 pattern=$3
    shift 3
    "$@" >out 2>err </dev/null
    got=$?
    if [ $got -ne "$code" ]; then echo "exit code $got, not $code" >>err; fail "$name"
    elif [ -n "$pattern" ] && ! grep -Eq -- "$pattern" err; then fail "$name"
    else pass "$name"; fi
}
mode() { stat -c %a "$1"; }
nothing_beside() { [ -z "$(find "$1" -name '*.tmp-*')" ]; }

cat >fill.tir <<'END'
tile.kernel @fill target("gfx1201") workgroup(64) (%p: ptr<i32, global>) {
  %id = gpu.workitem_id x : i32
  %group = gpu.workgroup_id x : i32
  %first = arith.mul %group, 64 : i32
  %at = arith.add %first, %id : i32
  tile.global_store %at, %p, %at : i32
  return
}
END
"$tilewright" compile fill.tir -o fill.hsaco || exit 1

# One command a row that writes the file named last: more than the limit of full() below.
write_tile() { "$tilewright" emit-ir direct_wgrad_depthwise kh=3 kw=3 dtype=bf16 -o "$1"; }
write_code() { "$tilewright" compile direct_wgrad_depthwise kh=3 kw=3 dtype=bf16 -o "$1"; }
write_zero() { "$tilewright" exec fill.hsaco fill --grid 64 --block 64 --device emu "zero:16384:$1"; }
# In place: what is written has the size of what is there.
write_buf() {
    [ -f "$1" ] && [ -s "$1" ] || head -c 16384 /dev/zero >"$1"
    "$tilewright" exec fill.hsaco fill --grid 64 --block 64 --device emu "buf:$1"
}
# Both are redirected, for functions to be limited.
full() (
    trap '' XFSZ
    ulimit -f 4
    "$@"
)

for row in tile code zero buf; do
    umask 027
    rm -rf d && mkdir d
    [ $row = buf ] && head -c 16384 /dev/zero >d/old
    ends "new_$row" 0 '' write_$row d/old
    check "umask_$row" [ "$(mode d/old)" = 640 ]
    cp d/old good
    chmod 604 d/old
    [ $row = buf ] && head -c 16384 /dev/zero | dd of=d/old conv=notrunc 2>/dev/null
    [ $row = buf ] || echo old >d/old
    ends "again_$row" 0 '' write_$row d/old
    check "mode_$row" [ "$(mode d/old)" = 604 ]
    check "bytes_$row" cmp -s d/old good

    # A disk that is full leaves what was there.
    head -c 16384 /dev/zero >d/old
    cp d/old before
    ends "full_$row" 1 'd/old: .*cannot be written: File too large' full write_$row d/old
    check "whole_$row" cmp -s d/old before
    check "clean_$row" nothing_beside d

    # Links stay, and the file that they lead to is replaced.
    mkdir d/there
    head -c 16384 /dev/zero >d/there/real
    ln -s there/real d/link
    ln -s link d/link2
    ends "link_$row" 0 '' write_$row d/link2
    check "link_stays_$row" [ "$(readlink d/link2) $(readlink d/link)" = "link there/real" ]
    check "link_bytes_$row" cmp -s d/there/real good
    check "link_clean_$row" nothing_beside d

    # A folder that takes no new names; root may do everything.
    if [ "$(id -u)" = 0 ]; then
        skip "read_only_folder_$row" "root may write everywhere"
        skip "read_only_file_$row" "root may write everywhere"
    else
        chmod 555 d/there
        head -c 16384 /dev/zero >d/there/real
        ends "read_only_folder_$row" 0 '' write_$row d/there/real
        check "read_only_folder_bytes_$row" cmp -s d/there/real good
        chmod 755 d/there
        chmod 400 d/old
        ends "read_only_file_$row" 1 'Permission denied' write_$row d/old
        check "read_only_file_whole_$row" cmp -s d/old before
    fi
done

for row in tile code zero; do
    umask 022
    rm -rf d && mkdir d
    write_$row good >out 2>err
    ln -s there d/dangling
    ends "dangling_$row" 0 '' write_$row d/dangling
    check "dangling_bytes_$row" cmp -s d/there good
    check "dangling_stays_$row" [ -L d/dangling ]
    ln -s loop d/loop
    ends "loop_$row" 1 'd/loop: .*Too many levels of symbolic links' write_$row d/loop
    ends "folder_$row" 1 'd: .*Is a directory' write_$row d
    ends "no_folder_$row" 1 'none/x: .*No such file' write_$row none/x
    long=$(printf '%0250d' 1)
    ends "long_name_$row" 0 '' write_$row "d/$long"
    check "long_name_bytes_$row" cmp -s "d/$long" good

    # What is no regular file is written to as it is.
    ends "null_$row" 0 '' write_$row /dev/null
    check "null_stays_$row" [ -c /dev/null ]
    ends "full_device_$row" 1 '/dev/full: .*No space left' write_$row /dev/full
    mkfifo d/pipe
    timeout 60 cat d/pipe >piped &
    ends "pipe_$row" 0 '' write_$row d/pipe
    wait $!
    check "pipe_stays_$row" [ -p d/pipe ]
    check "pipe_bytes_$row" cmp -s piped good
done

# Standard output by its names; a file behind it is appended to, not replaced.
for row in tile code; do
    write_$row good >out 2>err
    for way in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
        [ -e "${way#-}" ] || [ $way = - ] || { skip "output_${row}_$way" "there is no such file here"; continue; }
        write_$row $way 2>err | cat >piped
        check "output_${row}_$way" cmp -s piped good
        echo first >appended
        write_$row $way >>appended 2>err
        (echo first && cat good) >wanted
        check "appended_${row}_$way" cmp -s appended wanted
    done
    ends "other_descriptor_$row" 0 '' sh -c '"$0" "$1" direct_wgrad_depthwise kh=3 kw=3 dtype=bf16 -o /dev/fd/7 7>through' \
        "$tilewright" "$(case $row in tile) echo emit-ir ;; *) echo compile ;; esac)"
    check "other_descriptor_bytes_$row" cmp -s through good
done
instance='direct_wgrad_depthwise kh=3 kw=3 dtype=bf16 n=1 h=4 w=4 c=16 --device emu'
for words in list arch "arch --json" "intrinsics --markdown --dir $source/arch" "emit-ir fill.tir" "compile fill.tir -o -" \
    "compile fill.tir --stats -o stats.co" "compile fill.tir --json -o stats.co" "arch gfx1250" "cache stat" "run $instance --verify" \
    "run --help" "cache -h" "list --usage" --help --version; do
    # shellcheck disable=SC2086
    "$tilewright" $words >/dev/full 2>err
    code=$?
    : >out
    check "full_output '$words'" [ $code -eq 1 ]
    check "full_output_says '$words'" grep -q '^error: standard output: No space left on device$' err
    check "full_output_once '$words'" [ "$(wc -l <err)" -eq 1 ]
done

# Records: the old ones stay.
cp -r "$source/golden" golden
echo changed >>golden/accumulate.tir
ends full_records 1 'golden/.*cannot be written: File too large' full "$tilewright" golden --record --dir golden
check whole_texts cmp -s golden/texts.zst "$source/golden/texts.zst"
check clean_records nothing_beside golden

exit $((failures > 0))
