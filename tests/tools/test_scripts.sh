#!/bin/sh
# The scripts that decide what a check says: counts of tests, sums of continuous integration, packages, tool sets, and the
# figures of tools/mca. Programs that they call are stand-ins. Usage: test_scripts.sh SOURCE
set -u
source=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failures=0
# expect NAME CODE TEXT COMMAND...: the command ends with CODE, and TEXT is one of the lines that it prints.
expect() {
    name=$1 code=$2 text=$3
    shift 3
    "$@" >"$root/out" 2>&1 </dev/null
    got=$?
    if [ $got -eq "$code" ] && { [ -z "$text" ] || grep -qxF -- "$text" "$root/out"; }; then
        echo "[       OK ] $name"
    else
        echo "[  FAILED  ] $name: exit code $got"
        sed 's/^/    /' "$root/out"
        failures=$((failures + 1))
    fi
}
stand_in() { # FILE, its lines on standard input
    mkdir -p "${1%/*}" && { echo '#!/bin/sh'; cat; } >"$1" && chmod +x "$1"
}

# ---- tools/count-tests ----
suite() { # NAME RESULT: its output on standard input
    printf '=================================== 1/9 ===================================\ntest:         tilewright / %s\nresult:       %s\n' "$1" "$2"
    printf -- '---------------------------------- stdout ----------------------------------\n'
    cat
}
stderr='---------------------------------- stderr ----------------------------------'
{
    printf '[ RUN      ] a\n[       OK ] a\n[       OK ] b\n' | suite good 'exit status 0'
    printf '[       OK ] a\n[  FAILED  ] b\n[  SKIPPED ] c\n%s\n[  FAILED  ] b\n' "$stderr" | suite mixed 'exit status 1'
    printf 'no words of cmocka\n' | suite plain 'exit status 0'
    printf 'no words of cmocka\n' | suite plain_bad 'exit status 3'
    printf 'not here\n' | suite away 'exit status 77'
    printf '[       OK ] a\n' | suite crash 'killed by signal 11 SIGSEGV'
    printf '[       OK ] a\n[  FAILED  ] b\n[  FAILED  ] c\n' | suite crash_counted 'killed by signal 6 SIGABRT'
    printf '' | suite slow 'timeout'
} >"$root/log"
expect count_numbers 0 '6 6 2' "$source/tools/count-tests" "$root/log"
for line in 'failed: tilewright / mixed: b' 'skipped: tilewright / mixed: c' 'failed: tilewright / plain_bad (exit status 3)' \
    'skipped: tilewright / away' 'failed: tilewright / crash (killed by signal 11 SIGSEGV)' 'failed: tilewright / crash_counted: b' \
    'failed: tilewright / slow (timeout)'; do
    expect "count_names '$line'" 0 "$line" "$source/tools/count-tests" "$root/log"
done
: >"$root/log"
expect count_nothing 0 '0 0 0' "$source/tools/count-tests" "$root/log"
expect count_no_log 2 '' "$source/tools/count-tests" "$root/none"

# ---- .ci/run ----
mkdir -p "$root/ci/.ci"
cp "$source/.ci/run" "$root/ci/.ci/run"
stand_in "$root/ci/tools/packages.sh" <<'END'
build_packages=b check_packages=c
need_packages() { echo "packages: $*"; }
END
both() { # what tools/check does with gcc, and with clang
    printf 'case $CC in\ngcc) %s ;;\nclang) %s ;;\nesac\n' "$1" "$2" | stand_in "$root/ci/tools/check"
}
good='echo "5 passed, 0 failed, 1 skipped"'
ci="$root/ci/.ci/run"
both "$good" "$good"
expect ci_packages 0 'packages: git b c' "$ci"
expect ci_good 0 '10 passed, 0 failed, 2 skipped' "$ci"
both "$good" 'echo "3 passed, 2 failed, 0 skipped"; exit 1'
expect ci_failed 1 '8 passed, 2 failed, 1 skipped' "$ci"
both 'echo "3 passed, 2 failed, 0 skipped"; exit 1' "$good"
expect ci_failed_first 1 '8 passed, 2 failed, 1 skipped' "$ci"
both "$good" "$good; exit 1"
expect ci_bad_end 1 '10 passed, 1 failed, 2 skipped' "$ci"
both 'exit 1' "$good"
expect ci_no_summary 1 '5 passed, 1 failed, 1 skipped' "$ci"
both 'kill -KILL $$' "$good"
expect ci_killed 1 '5 passed, 1 failed, 1 skipped' "$ci"
both 'exit 0' "$good"
expect ci_nothing_said 1 '5 passed, 1 failed, 1 skipped' "$ci"

# ---- tools/packages.sh ----
need() { # PATH-FOLDER PACKAGE...: need_packages with nothing on the path but the folder and a shell's own
    (PATH=$1 && shift && unset TILEWRIGHT_SKIP_PACKAGES && . "$source/tools/packages.sh" && need_packages "$@")
}
bin=$root/bin
stand_in "$bin/dpkg-query" <<'END'
for last; do :; done
case $last in
here) printf installed ;;
removed) printf config-files ;;
*) exit 1 ;;
esac
END
stand_in "$bin/apt-get" <<END
echo "\$*" >>$root/apt
END
stand_in "$bin/env" <<'END'
while :; do case $1 in *=*) shift ;; *) break ;; esac; done
exec "$@"
END
printf 'echo 0\n' | stand_in "$bin/id"
mkdir "$root/empty"
expect packages_there 0 '' need "$bin" here
expect packages_nothing_done 1 '' cat "$root/apt"
expect packages_installed 0 'Installing: gone removed ' need "$bin" here gone removed
expect packages_by_apt 0 'install -y -q --no-install-recommends gone removed' cat "$root/apt"
expect packages_not_debian 1 '  here gone' need "$root/empty" here gone
printf 'echo 1000\n' | stand_in "$bin/id"
expect packages_no_root 1 'These packages are missing, and installing them needs root: gone ' need "$bin" gone
printf 'echo 0\n' | stand_in "$bin/id"
printf 'exit 100\n' | stand_in "$bin/apt-get"
expect packages_not_to_be_had 1 'apt-get could not install: gone ' need "$bin" gone
skipping() { (TILEWRIGHT_SKIP_PACKAGES=1 PATH=$root/empty && . "$source/tools/packages.sh" && need_packages gone); }
expect packages_skipped 0 '' skipping

# ---- tools/toolchains ----
export TILEWRIGHT_TOOLCHAINS="$root/sets"
sets="$source/tools/toolchains"
printf 'echo "ran $*"\n' | stand_in "$root/bin/tw"
expect sets_missing 0 'llvm15   skipped: not set up: run tools/toolchains' "$sets" list
expect sets_run_missing 1 'tools/toolchains: llvm15: not set up: run tools/toolchains' "$sets" run llvm15 llc
expect sets_unknown 2 'tools/toolchains: no set has this name (got gcc)' "$sets" path gcc
expect sets_word 2 'tools/toolchains: setup, list, path, run, measure or beside (got frob)' "$sets" frob
expect sets_measure 0 'ran golden --execute --compiler llvm --jobs 3' "$sets" measure "$bin/tw" --jobs 3
expect sets_measure_count 0 '1 passed, 0 failed, 9 skipped' "$sets" measure "$bin/tw"
printf 'exit 1\n' | stand_in "$root/bin/tw"
expect sets_measure_failed 1 '0 passed, 1 failed, 9 skipped' "$sets" measure "$bin/tw"
expect sets_measure_nothing 2 'tools/toolchains: no such command (got tilewright-nowhere)' "$sets" measure tilewright-nowhere

# ---- tools/mca: the block with the most products, without waits ----
stand_in "$bin/tw" <<'END'
for last; do :; done
cat >"$last" <<'KERNEL'
.LBB0_1:
	v_mfma_f32 v0
	s_cbranch_scc1 .LBB0_1
.LBB0_2:
	v_mfma_f32 v1
	v_add_f32 v2
	s_waitcnt vmcnt(0)
	v_mfma_f32 v3
	s_branch .LBB0_1
.LBB0_3:
	v_mfma_f32 v4
KERNEL
END
stand_in "$bin/mca" <<'END'
awk 'END {print "Block RThroughput: " NR ".0"; print "Total Cycles:      " NR * 100}'
END
expect mca 0 'gfx950 kernel: 2 products, 2.0 cycles alone, 3.0 in all, 15 of one wave' \
    env TILEWRIGHT="$bin/tw" LLVM_MCA="$bin/mca" "$source/tools/mca" gfx950 kernel
printf 'for last; do :; done\necho v_add_f32 >"$last"\n' | stand_in "$bin/tw"
expect mca_no_product 1 'kernel: no matrix instruction' env TILEWRIGHT="$bin/tw" LLVM_MCA="$bin/mca" "$source/tools/mca" gfx950 kernel
expect mca_usage 2 '' "$source/tools/mca" gfx950

# ---- words of the others ----
expect check_word 2 'tools/check: lanes are plain, asan, tsan, lint, toolchains, tidy; or --quick (got frob)' "$source/tools/check" frob
expect check_help 0 'CC and CXX choose the compiler (CC=clang tools/check). The last line counts the tests of all lanes.' "$source/tools/check" --help
expect quickstart_word 2 'tools/quickstart: the only argument is a target (got --frob)' "$source/tools/quickstart" --frob
expect quickstart_two 2 'tools/quickstart: the only argument is a target (got gfx942)' "$source/tools/quickstart" gfx950 gfx942
expect quickstart_help 0 'one, the emulator elsewhere. Usage: tools/quickstart [TARGET]    (default gfx1250)' "$source/tools/quickstart" --help
[ $failures -eq 0 ]
