#!/usr/bin/env bash
# Every check of the repository but the long ones (tests/long.sh), one step after the other, each with what it is for and how long it
# took. Stops at the first step that fails. Needs Rust (https://rustup.rs), Python 3.11 or later, and Node.js 20
# with npm; on Debian and Ubuntu it installs a software graphics adapter where no other is found, Chromium, an MPI, and
# what Python lacks for a virtual environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

steps=0
current="start"
page_build=
python_install=
trap 'code=$?; [ "$code" -eq 0 ] || printf "\nFAILED in: %s (exit code %s)\n" "$current" "$code" >&2
      for process in $page_build $python_install; do kill "$process" 2> /dev/null || true; done' EXIT

# step TITLE WHY COMMAND...: says what comes and why, runs it, says how long it took.
step() {
    current="$1"
    local begun=$SECONDS
    printf '\n== %s\n   %s\n' "$1" "$2"
    shift 2
    "$@"
    steps=$((steps + 1))
    printf '   %s: %d s\n' "$current" $((SECONDS - begun))
}

# need_component NAME COMMAND...: makes sure that a part of the Rust toolchain is there. Offline, a part
# that is there already is enough.
need_component() {
    if "${@:2}" --version > /dev/null 2>&1; then
        return
    fi
    if ! command -v rustup > /dev/null; then
        echo "$1 is missing and there is no rustup to install it: add it to your Rust toolchain" >&2
        return 1
    fi
    rustup component add "$1"
}

check_toolchain() {
    if ! command -v cargo > /dev/null; then
        echo "cargo is missing: install Rust from https://rustup.rs" >&2
        return 1
    fi
    cargo --version
    need_component rustfmt cargo fmt
    need_component clippy cargo clippy
}

# Whether `esker devices` finds an adapter: where there is none, it says so in a line of its own.
has_adapter() {
    local devices code=0
    devices=$(target/debug/esker devices 2>&1) || code=$?
    printf '%s\n' "$devices"
    if grep -qi '^no adapter' <<< "$devices"; then
        return 1
    fi
    if [ "$code" -ne 0 ]; then
        exit "$code"
    fi
}

# apt_get ARGUMENT...: runs apt-get as root. On a machine that was just started another program may hold its locks for minutes: it waits for
# that of dpkg by its own option, which old versions pass over, and for that of the lists here.
apt_get() {
    local said last=$((SECONDS + 300))
    until said=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 "$@" 2>&1 | tee >(cat >&2)); do
        if [ "$SECONDS" -ge "$last" ] || ! grep -qE 'Could not get lock|Unable to lock' <<< "$said"; then
            return 1
        fi
        echo "another program holds the lock of apt: trying again in 5 s" >&2
        sleep 5
    done
}

# apt_install PACKAGE...: installs packages of Debian or Ubuntu.
apt_install() {
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo > /dev/null; then
            echo "run 'apt-get install $*' as root and start again" >&2
            return 1
        fi
        as_root=(sudo)
    fi
    apt_get update
    apt_get install -y --no-install-recommends "$@"
}

install_software_adapter() {
    if ! command -v apt-get > /dev/null; then
        cat >&2 <<'MESSAGE'
No graphics adapter, and this is not Debian or Ubuntu: install a Vulkan driver by hand and start again.
Any hardware driver will do, and so will lavapipe, which needs no graphics card:
    Fedora  dnf install mesa-vulkan-drivers
    Arch    pacman -S vulkan-swrast
    Alpine  apk add mesa-vulkan-swrast
macOS and Windows bring an adapter with them.
MESSAGE
        return 1
    fi
    echo "No graphics adapter: installing lavapipe, which runs shaders on the processor."
    apt_install mesa-vulkan-drivers
}

check_adapter() {
    # lavapipe complains on stderr where this is not set.
    if [ -z "${XDG_RUNTIME_DIR:-}" ]; then
        XDG_RUNTIME_DIR=$(mktemp -d)
        export XDG_RUNTIME_DIR
        echo "XDG_RUNTIME_DIR was not set; using $XDG_RUNTIME_DIR"
    fi
    if has_adapter; then
        return
    fi
    install_software_adapter
    if ! has_adapter; then
        echo "Still no graphics adapter after the installation." >&2
        return 1
    fi
}

# Where the packages of Python are that the tests need, and the package under test.
venv=target/python
python_package=target/python-package

is_new_enough() {
    python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null
}

install_python_packages() {
    "$venv/bin/pip" install --quiet --upgrade pip &&
        "$venv/bin/pip" install --quiet --group python/pyproject.toml:tests &&
        cp python/pyproject.toml "$venv/"
}

python_log=target/python.log

# A virtual environment, into which what is named in python/pyproject.toml is installed beside the build, which does not need it. Offline,
# one that is there already is enough.
begin_python() {
    if ! is_new_enough || ! python3 -c 'import ensurepip, venv' 2> /dev/null; then
        if ! command -v apt-get > /dev/null; then
            echo "Python 3.11 or later with its module venv is missing: install it from your system or https://python.org" >&2
            return 1
        fi
        apt_install python3 python3-venv
    fi
    if ! is_new_enough; then
        echo "python3 is $(python3 --version), expected 3.11 or later: put a newer one first in PATH" >&2
        return 1
    fi
    if ! cmp -s python/pyproject.toml "$venv/pyproject.toml"; then
        python3 -m venv --clear "$venv"
        install_python_packages > "$python_log" 2>&1 &
        python_install=$!
    fi
    # The one that the extension is built against, in all steps that build it.
    export PYO3_PYTHON="$PWD/$venv/bin/python"
    "$PYO3_PYTHON" --version
}

check_python() {
    local code=0
    if [ -n "$python_install" ]; then
        wait "$python_install" || code=$?
        python_install=
        cat "$python_log"
    fi
    return "$code"
}

has_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] || compgen -G '/usr/lib/llvm-*/lib/libclang.so*' > /dev/null || ldconfig -p 2> /dev/null | grep -q 'libclang\.so'
}

# An MPI, and the libclang with which its interface is read.
check_mpi() {
    if ! { command -v mpicc && command -v mpirun; } > /dev/null || ! has_libclang; then
        if ! command -v apt-get > /dev/null; then
            echo "no MPI or no libclang: install both by hand and start again (Fedora: openmpi-devel clang-devel; macOS: brew install open-mpi llvm)" >&2
            return 1
        fi
        apt_install libopenmpi-dev openmpi-bin libclang-dev
    fi
    # To the end: a program that a pipe leaves behind fails.
    mpirun --version | sed -n 1p
}

# What is built and tested together, and so with the same features: nothing is built twice.
packages=(--package esker --package esker-python --features esker/mpi)

build() {
    cargo build "${packages[@]}" --lib --bins --tests
}

# Tests run side by side already, one per core. So lavapipe is told to run kernels on the thread that submits them, which for scenes as small
# as these takes half the time of handing workgroups to threads of its own; other adapters do not read the variable. What has to come to
# the same bits, and each stage against its twin, is tested with workgroups side by side, where they could get in each other's way.
test_rust() {
    local side_by_side=(gpu_stages:: bits)
    LP_NUM_THREADS=0 cargo test "${packages[@]}" -- "${side_by_side[@]/#/--skip=}"
    LP_NUM_THREADS=4 cargo test "${packages[@]}" --lib --bins --tests -- "${side_by_side[@]}"
}

# The extension is built from what the Rust tests were built of, not by maturin, which would build all of that again with other
# features. What maturin makes of the metadata is looked at apart.
test_python() {
    local library
    build
    rm -rf "$python_package"
    mkdir -p "$python_package"
    cp -r python/package/esker "$python_package/"
    rm -f "$python_package"/esker/_esker*.so
    for library in target/debug/lib_esker.so target/debug/lib_esker.dylib; do
        if [ -e "$library" ]; then
            cp "$library" "$python_package/esker/_esker.abi3.so"
        fi
    done
    (cd python && "../$venv/bin/maturin" pep517 write-dist-info --metadata-directory "../$python_package" --interpreter "$PYO3_PYTHON")
    (cd python && PYTHONPATH="$PWD/../$python_package" "../$venv/bin/pytest" -q --durations=5)
}

# leaves_out FEATURES PACKAGE...: whether a build with these features does without all of these packages.
leaves_out() {
    local features="$1" tree package
    shift
    tree=$(cargo tree --quiet --edges normal --prefix none --no-default-features --features "$features")
    for package in "$@"; do
        if grep -q "^$package v" <<< "$tree"; then
            echo "a build with the features \"$features\" depends on $package" >&2
            return 1
        fi
    done
}

check_features() {
    local features
    # With gpu and scenario the page is built below; gpu and render are those of the package for Python.
    for features in "" gpu scenario gpu,render lab; do
        echo "   features: ${features:-none}"
        cargo clippy --quiet --lib --no-default-features --features "$features" -- -D warnings
    done
    leaves_out "" wgpu naga encase toml serde serde_json csv clap annotate-snippets plotters gif png
    leaves_out "gpu,scenario" clap annotate-snippets indicatif signal-hook sysinfo plotters gif png
    leaves_out "gpu,render" clap annotate-snippets indicatif signal-hook sysinfo plotters
    leaves_out lab clap annotate-snippets indicatif signal-hook sysinfo
    leaves_out cli mpi
    # The check itself can fail:
    if leaves_out gpu wgpu 2> /dev/null; then
        echo "a build for graphics cards without wgpu passes the check" >&2
        return 1
    fi
}

# find_chromium: the program of Chromium or Chrome, or nothing.
find_chromium() {
    command -v chromium || command -v chromium-browser || command -v google-chrome || true
}

need_browser() {
    if ! { command -v node && command -v npm; } > /dev/null; then
        echo "node or npm is missing: install Node.js 20 or later (https://nodejs.org)" >&2
        return 1
    fi
    if [ -z "$(find_chromium)" ]; then
        if ! command -v apt-get > /dev/null; then
            echo "no Chromium: install it by hand and start again (Fedora: dnf install chromium; Arch: pacman -S chromium; macOS, Windows: Chrome)" >&2
            return 1
        fi
        apt_install chromium
    fi
    if ! [ -d web/test/node_modules/playwright-core ]; then
        npm ci --prefix web/test --no-audit --no-fund
    fi
}

# The page is built in folders of its own, mostly by one core, beside the checks that need one core as well.
page_log=target/page.log

begin_page() {
    need_browser
    web/build.sh > "$page_log" 2>&1 &
    page_build=$!
}

check_browser() {
    local code=0
    wait "$page_build" || code=$?
    cat "$page_log"
    [ "$code" -eq 0 ] || return "$code"
    cargo clippy --quiet --package esker-web -- -D warnings
    (cd web/test && CHROMIUM="$(find_chromium)" node --test browser.test.mjs)
}

step "Toolchain" "cargo, rustfmt and clippy must be there." check_toolchain
step "Format" "One style everywhere, so that changes show only what they change." cargo fmt --all --check
step "Python" "The packages that the Python package is built and tested with; they are installed beside the next steps." begin_python
step "MPI" "Runs on several processes are tested with the MPI of the machine." check_mpi
step "Build" "Library, program, tests and the extension for Python, once for all steps: with the same features." build
step "Python environment" "The packages must be there by now." check_python
step "Page" "Node.js and a browser must be there; the page is built beside the next steps." begin_page
step "Graphics adapter" "The GPU tests fail without one: a test that did not run must not look green." check_adapter
step "Lints" "Clippy on library, program, tests and the extension for Python; a warning is an error." \
    cargo clippy "${packages[@]}" --all-targets -- -D warnings
step "Release workflow" "What publishes a release gives nothing away, and takes the actions of others as they were looked at." \
    "$venv/bin/zizmor" --offline --quiet .github/workflows
step "Features" "The library builds with each set of features, and without them does without their packages." \
    check_features
step "Shaders" "WGSL is valid, fits the limits of WebGPU and agrees with its Rust twins." \
    cargo test "${packages[@]}" --test structure
step "Tests" "Units, stages against their twins, physics, command line, and the examples in the docs." test_rust
step "Python package" "The package of Python: against the engine, the program and its own type stubs, on both engines." \
    test_python
step "Browser" "The page simulates in a real browser what the program simulates, and shows results." check_browser
step "Documentation" "It builds, and every link in it leads somewhere." \
    env RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

printf '\nAll %d steps passed in %d s.\n' "$steps" "$SECONDS"
