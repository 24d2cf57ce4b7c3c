# Sourced by tools/quickstart and tools/check: what has to be installed, and how it gets there.

# Needed to build and to run the command.
build_packages="gcc g++ pkg-config meson ninja-build llvm-22-dev liblld-22-dev libelf-dev libmsgpack-dev libjansson-dev zlib1g-dev libzstd-dev"
# Needed by the tests in addition: witnesses (llc, llvm-mc, an older LLVM, comgr), what unpacks the
# releases of tools/toolchains, and linters.
check_packages="libcmocka-dev clang clang-22 clang-tools-22 llvm-22 lld-22 llvm-19 libamd-comgr2 clang-format clang-tidy cppcheck locales mmdebstrap"

missing_packages() {
    for package in "$@"; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || status=
        [ "$status" = installed ] || printf '%s ' "$package"
    done
}

# need_packages NAME...: installs what is missing on Debian, or says what is needed and fails. Does nothing where
# TILEWRIGHT_SKIP_PACKAGES is set.
need_packages() {
    [ -n "${TILEWRIGHT_SKIP_PACKAGES:-}" ] && return 0
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This is not a Debian system, so nothing was installed. Please install what corresponds to these"
        echo "packages of Debian 12 (LLVM and lld must be release 22), then set TILEWRIGHT_SKIP_PACKAGES=1:"
        echo "  $*"
        return 1
    fi >&2
    missing=$(missing_packages "$@")
    [ -z "$missing" ] && return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "These packages are missing, and installing them needs root: $missing" >&2
            return 1
        fi
        as_root=sudo
    fi
    echo "Installing: $missing"
    # shellcheck disable=SC2086 # both lists are words
    {
        $as_root apt-get update -q >/dev/null &&
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >/dev/null
    } || {
        echo "apt-get could not install: $missing" >&2
        echo "Debian 12 has LLVM 22 in its own archive (bookworm, bookworm-updates, bookworm-security)." >&2
        echo "Where they came another way, set TILEWRIGHT_SKIP_PACKAGES=1." >&2
        return 1
    }
}
