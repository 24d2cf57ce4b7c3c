#!/bin/sh
# Installs into an empty folder, then builds docs/examples/axpy.c against that tree with pkg-config alone, shared and static,
# and runs it. Usage: test_install.sh SOURCE BUILD CC SANITIZERS|none
set -eu
source=$1 build=$2 compiler=$3
# A sanitized library wants a sanitized program.
[ "$4" = none ] && sanitize= || sanitize=-fsanitize=$4
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failures=0
check() {
    if "$@"; then echo "[       OK ] $what"; else echo "[  FAILED  ] $what"; failures=$((failures + 1)); fi
}

what=install
check env DESTDIR="$root" meson install -C "$build" --no-rebuild --quiet
pc=$(find "$root" -name tilewright.pc | head -n 1)
prefix=$(sed -n 's/^prefix=//p' "$pc")
libdir=$root$prefix/$(sed -n 's/^libdir=\${prefix}\///p' "$pc")
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$root"
export LD_LIBRARY_PATH="$libdir" TILEWRIGHT_CACHE_DIR="$root/cache"

what=shared_library
# shellcheck disable=SC2046,SC2086 # flags are words
check "$compiler" -std=c11 -Wall -Wextra -Werror -pedantic "$source/docs/examples/axpy.c" $(pkg-config --cflags tilewright) \
    $sanitize -o "$root/axpy" $(pkg-config --libs tilewright)
what=shared_library_runs
check "$root/axpy" emu:gfx1250
what=soname
abi=$(printf '#include <tilewright.h>\nTW_ABI_VERSION\n' | "$compiler" -E -P $(pkg-config --cflags tilewright) - | tail -n 1)
check test "$(readelf -d "$libdir/libtilewright.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" = "libtilewright.so.$abi"
what=static_library
# shellcheck disable=SC2046,SC2086
check "$compiler" -std=c11 "$source/docs/examples/axpy.c" $(pkg-config --cflags tilewright) $sanitize -o "$root/axpy_static" \
    $(PKG_CONFIG_SYSROOT_DIR= pkg-config --static --libs --define-variable=prefix="$root$prefix" tilewright |
        sed "s|-ltilewright|$libdir/libtilewright.a|")
what=static_library_runs
check env LD_LIBRARY_PATH= "$root/axpy_static" emu:gfx1250
what=headers_for_cplusplus
printf '#include <tilewright.h>\nint main() { return tw_status_name(TW_OK) == nullptr; }\n' >"$root/plain.cpp"
check c++ -std=c++17 -Wall -Wextra -Werror "$root/plain.cpp" $(pkg-config --cflags tilewright) -o "$root/plain" \
    $(pkg-config --libs tilewright)
# Each header alone: what it needs it includes.
headers=$(cd "$root$prefix/include/tilewright" && find . -name '*.h')
bad=0
for header in ${headers:-none}; do
    printf '#include "%s"\n' "$header" >"$root/alone.c"
    "$compiler" -std=c11 -Wall -Wextra -Werror -pedantic -fsyntax-only $(pkg-config --cflags tilewright) "$root/alone.c" || bad=1
    c++ -x c++ -std=c++17 -Wall -Wextra -Werror -pedantic -fsyntax-only $(pkg-config --cflags tilewright) "$root/alone.c" || bad=1
done
what=each_header_alone
check test $bad -eq 0
what=command
check test -x "$root$prefix/bin/tilewright"
what=man_page
check test -f "$root$prefix/share/man/man1/tilewright.1"
# What the headers mark TW_API (visible in the static library), what the version script lists and what the shared library
# exports are the same.
what=exported_symbols
nm -D --defined-only "$libdir/libtilewright.so" | awk '$2 ~ /[TDRBV]/ {sub(/@.*/, "", $3); print $3}' | sort -u >"$root/exported"
sed -n 's/^ *\(tw_[a-z0-9_]*\);$/\1/p' "$source/tilewright.map" | sort -u >"$root/listed"
readelf -sW "$libdir/libtilewright.a" | awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" && $8 ~ /^tw_/ {print $8}' |
    sort -u >"$root/marked"
check diff "$root/listed" "$root/exported"
what=marked_symbols
check diff "$root/listed" "$root/marked"

[ $failures -eq 0 ]
