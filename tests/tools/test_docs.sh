#!/bin/sh
# Documents that must say what the product does. Usage: test_docs.sh TILEWRIGHT SOURCE
set -u
tilewright=$(realpath "$1") source=$2
failures=0
result() { if [ "$2" -eq 0 ]; then echo "[       OK ] $1"; else echo "[  FAILED  ] $1"; failures=$((failures + 1)); fi; }

# Every line of the README's C example stands in the example that it was taken from.
missing=0
sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '/^```/d' >"${TMPDIR:-/tmp}/readme.$$"
while IFS= read -r line; do
    grep -qxF -- "$line" "$source/docs/examples/axpy.c" || { echo "not in axpy.c: $line"; missing=1; }
done <"${TMPDIR:-/tmp}/readme.$$"
[ -s "${TMPDIR:-/tmp}/readme.$$" ] || missing=1
rm -f "${TMPDIR:-/tmp}/readme.$$"
result readme_example $missing

# docs/intrinsics.md is what the command prints.
"$tilewright" intrinsics --markdown --dir "$source/arch" | cmp - "$source/docs/intrinsics.md"
result intrinsics $?

# Releases that were not measured say so, and only they.
not_measured() { "$tilewright" intrinsics --flavor "$1" | head -n 1 | grep -q '^llvm[0-9]*: not measured$'; }
wrong=0
for flavor in llvm20 llvm24; do not_measured $flavor || wrong=1; done
for flavor in llvm15 llvm19 llvm21 llvm22 llvm23; do
    not_measured $flavor && wrong=1
    "$tilewright" intrinsics --flavor $flavor | head -n 1 | grep -q "^$flavor: measured with LLVM ${flavor#llvm}[.]" || wrong=1
done
"$tilewright" arch gfx950 | grep -q '^not measured *llvm20 llvm24$' || wrong=1
result not_measured $wrong

# The kernel that docs/ir.md runs from the command line: 256 ones a group, the last group is shorter.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/^tile.kernel @block_sum/,/^}$/p' "$source/docs/ir.md" >"$work/block_sum.tir"
sum=0
(
    cd "$work" && export TILEWRIGHT_CACHE_DIR="$work/cache" &&
        awk 'BEGIN {for (i = 0; i < 1000; i++) printf "\\0\\0\\200\\077"}' >ones && printf "$(cat ones)" >x.bin &&
        "$tilewright" compile block_sum.tir &&
        "$tilewright" exec block_sum.hsaco block_sum --grid 4 --device emu buf:x.bin zero:16:out.bin i32:1000 &&
        [ "$(od -A n -t f4 out.bin | tr -s ' ')" = " 256 256 256 232" ]
) || sum=1
grep -q '^tilewright exec block_sum.hsaco block_sum --grid 4 buf:x.bin zero:16:out.bin i32:1000$' "$source/docs/ir.md" || sum=1
result ir_command_line $sum

# Links of the documents lead to files.
broken=0
for document in "$source"/README.md "$source"/CONTRIBUTING.md "$source"/docs/*.md; do
    for link in $(grep -o '](\([^)#:]*\))' "$document" | sed 's/^](//; s/)$//'); do
        [ -e "${document%/*}/$link" ] || { echo "$document: $link"; broken=1; }
    done
done
result links $broken

# No section stands twice: what a merge may leave. Generated tables may have the names of sections that explain them.
twice=0
for document in "$source"/README.md "$source"/CONTRIBUTING.md "$source"/docs/*.md; do
    for section in $(sed '/^<!-- generated/,$d' "$document" | grep '^## ' | tr ' ' _ | sort | uniq -d); do
        echo "$document: $section"
        twice=1
    done
done
result sections $twice

# The tables of compilers are those of the records.
sed -n '/^<!-- tilewright golden --table -->$/,/^<!-- end -->$/p' "$source/docs/toolchains.md" | sed '1d;$d' >"${TMPDIR:-/tmp}/table.$$"
same=0
"$tilewright" golden --table --dir "$source/golden" | diff -u "${TMPDIR:-/tmp}/table.$$" - || same=1
[ -s "${TMPDIR:-/tmp}/table.$$" ] || same=1
rm -f "${TMPDIR:-/tmp}/table.$$"
result toolchain_tables $same

# The manual page has a paragraph for every command and names every long option.
unnamed=0
man=$(sed 's/\\-/-/g; s/\\f[BIR]//g' "$source/docs/tilewright.1")
for command in $("$tilewright" --help | awk '/^  [a-z]/ {print $1}'); do
    printf '%s\n' "$man" | grep -q "^\.B $command " || { echo "no command $command"; unnamed=1; }
    for option in $("$tilewright" "$command" --help | grep -o -- '--[a-z][a-z-]*' | sort -u | grep -vx -e --usage -e --help); do
        case $man in *"$option"*) ;; *) echo "$command: no $option"; unnamed=1 ;; esac
    done
done
result manual_page $unnamed
[ $failures -eq 0 ]
