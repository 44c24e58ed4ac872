#!/usr/bin/env bash
# Builds the page that simulates in a browser: a folder web/dist that any static server can serve.
#
#     web/build.sh && python3 -m http.server --directory web/dist --bind 127.0.0.1 8000
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target=wasm32-unknown-unknown
if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ]; then
    if ! command -v rustup > /dev/null; then
        echo "The Rust target $target is missing and there is no rustup to install it: add it to your Rust toolchain." >&2
        exit 1
    fi
    rustup target add "$target"
fi

# Where cargo builds: CARGO_TARGET_DIR and its configuration can say another place than ./target.
built=$(cargo metadata --quiet --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
cargo build --quiet --package esker-web --profile web --target "$target"
rm -rf web/dist
mkdir -p web/dist/examples
cargo run --quiet --package esker-web-bindgen --profile tool -- "$built/$target/web/esker_web.wasm" web/dist
cp web/page/* web/dist/
cp web/examples.json web/dist/examples/
grep -o '[a-z_0-9]*\.toml' web/examples.json | while read -r file; do
    cp "scenarios/$file" web/dist/examples/
done
printf 'web/dist: %s\n' "$(du -sh web/dist | cut -f 1)"
