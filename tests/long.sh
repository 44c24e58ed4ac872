#!/usr/bin/env bash
# The checks that take too long for every change: physics of large scenes on both engines, all cases of `esker validate --long`, and the long
# searches of the fuzzers. To be run before results are committed. It writes the outcome, with the commit, into benches/results/long.md.
#
#     tests/long.sh [SECONDS]    SECONDS: duration of each fuzzer, by default 60
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds="${1:-60}"
report=benches/results/long.md
rows=()
failed=0

# check NAME COMMAND...: runs a check, shows its output, and notes how it went.
check() {
    local name="$1" begun=$SECONDS outcome=passed
    shift
    printf '\n== %s\n' "$name"
    "$@" || outcome=FAILED
    [ "$outcome" = passed ] || failed=1
    rows+=("| $name | $outcome | $((SECONDS - begun)) |")
}

if [ -n "$(git status --porcelain)" ]; then
    echo "there are changes that are not committed: the report would name another program" >&2
    exit 1
fi
cargo build --release --bin esker
cargo test --release --test engines --test program --no-run

check "Long tests of the engines" cargo test --release --test engines -- --ignored --nocapture
check "Validation, all cases, on the CPU" target/release/esker validate --long --device cpu
check "Validation, all cases, on a software adapter" target/release/esker validate --long --device software
# As many scenes as take about that long: a scene takes a software adapter some fifty times as long as the CPU engine.
check "Random scenes that may make energy, on the CPU" env PROPTEST_CASES=$((seconds * 40)) \
    cargo test --release --test engines -- --exact energy::friction_and_rolling_make_no_energy
check "Random scenes that may make energy, on the GPU engine" env PROPTEST_CASES="$seconds" \
    cargo test --release --test engines -- --exact energy::friction_and_rolling_make_no_energy_on_the_gpu
check "Kernels on cards that are not there" cargo bench --bench cards -- --check benches/results/cards.csv
check "Fuzzers of files, ${seconds} s each" env ESKER_FUZZ_SECONDS="$seconds" cargo test --release --test program fuzz

{
    printf '# Long checks\n\n`tests/long.sh %s` on commit %s, %s.\n\n' "$seconds" "$(git rev-parse --short HEAD)" "$(date +%F)"
    printf '| Check | Outcome | Seconds |\n|---|---|---|\n'
    printf '%s\n' "${rows[@]}"
} > "$report"
cat "$report"
exit "$failed"
