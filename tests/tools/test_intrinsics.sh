#!/bin/sh
# What arch/intrinsics.SET.json says is what the tool set does. Usage: test_intrinsics.sh TILEWRIGHT SOURCE SET
# Skipped by name where the set is neither prepared by tools/toolchains nor installed.
set -u
out=$("$1" intrinsics --check "$3" --dir "$2/arch" 2>&1)
status=$?
echo "$out"
case $out in
*"the tool set must be set up"*) echo "$3: no such tool set here"; exit 77 ;;
esac
exit $status
