#!/usr/bin/env bash
# urdf-rs 0.10.0, a reader of robots in URDF: a joint of type `continuous`, which has no limits, comes back with limits from 0 to 0.
#
# The format asks for `<limit>` of `revolute` and `prismatic` joints alone, and a wheel is `continuous`. The reader fills in a `<limit>` that is
# not there, with 0 for both ends, and keeps no sign that it was missing. A program that stops joints at their limits without a look at the
# type holds every wheel at 0. Seen: a wheel without `<limit>` and one with `effort` and `velocity` alone both have limits of [0, 0].
set -euo pipefail
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
cd "$here"
cat > Cargo.toml <<'TOML'
[package]
name = "finding"
version = "0.0.0"
edition = "2021"
[dependencies]
urdf-rs = "=0.10.0"
TOML
mkdir src
cat > src/main.rs <<'RUST'
fn main() {
    let limits = ["", "<limit effort=\"5\" velocity=\"10\"/>"];
    for limit in limits {
        let text = format!(
            "<robot name=\"cart\"><link name=\"body\"/><link name=\"wheel\"/><joint name=\"axle\" type=\"continuous\">\
             <parent link=\"body\"/><child link=\"wheel\"/><axis xyz=\"0 1 0\"/>{limit}</joint></robot>"
        );
        let robot = urdf_rs::read_from_string(&text).unwrap();
        let limit = &robot.joints[0].limit;
        println!("{:?}: from {} to {}", robot.joints[0].joint_type, limit.lower, limit.upper);
    }
}
RUST
found=$(cargo run --quiet 2> build.log) || { cat build.log; exit 1; }
echo "$found"
expected=$'Continuous: from 0 to 0\nContinuous: from 0 to 0'
[ "$found" = "$expected" ] || { echo "the behaviour has changed" >&2; exit 1; }
