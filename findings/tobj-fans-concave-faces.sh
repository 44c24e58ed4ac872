#!/usr/bin/env bash
# tobj 4.0.5, a reader of Wavefront OBJ files: with `triangulate` on, a concave face is cut into a fan about its first vertex, which covers
# ground outside of the face.
#
# OBJ allows faces of any number of vertices, and drawing programs write the floor of a hopper or the side of a bucket as one concave face.
# A fan of such a face lies partly where the face is not: its triangles have more area than the face and cover its notch, which then stops
# grains. Seen: an L of 3 units of area gives triangles of 4 units in all (absolute areas).
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
tobj = { version = "=4.0.5", default-features = false }
TOML
mkdir src
cat > src/main.rs <<'RUST'
fn main() {
    // An L: a square of 2 x 2 without the square of 1 x 1 in its upper right corner. The fan begins at a vertex beside the notch.
    let text = "v 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 0\nf 1 2 3 4 5 6\n";
    let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
    let (models, _) = tobj::load_obj_buf(&mut text.as_bytes(), &options, |_| tobj::load_mtl_buf(&mut "".as_bytes())).unwrap();
    let mesh = &models[0].mesh;
    let at = |i: u32| [mesh.positions[3 * i as usize], mesh.positions[3 * i as usize + 1]];
    let area = |corners: &[u32]| {
        let [a, b, c] = [at(corners[0]), at(corners[1]), at(corners[2])];
        0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
    };
    let areas: Vec<f32> = mesh.indices.chunks(3).map(area).collect();
    println!("signed {} absolute {}", areas.iter().sum::<f32>(), areas.iter().map(|area| area.abs()).sum::<f32>());
}
RUST
found=$(cargo run --quiet 2> build.log) || { cat build.log; exit 1; }
echo "$found"
[ "$found" = "signed 3 absolute 4" ] || { echo "the behaviour has changed" >&2; exit 1; }
