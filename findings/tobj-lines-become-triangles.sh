#!/usr/bin/env bash
# tobj 4.0.5, a reader of Wavefront OBJ files: with `triangulate` on, a polyline (`l 1 2 3`) becomes a triangle of the mesh.
#
# An OBJ file of a machine may hold construction lines beside its faces. The reader keeps lines of two points out of the triangles when asked
# to (`ignore_lines`), but a line of three points comes back as one more face, and a wall appears where none is. Seen: one face and one line
# of three points give two triangles, with `ignore_lines` as well as without.
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
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 5\nv 1 0 5\nv 0 1 5\nf 1 2 3\nl 4 5 6\n";
    for ignore_lines in [false, true] {
        let options = tobj::LoadOptions { triangulate: true, ignore_lines, ..Default::default() };
        let (models, _) = tobj::load_obj_buf(&mut text.as_bytes(), &options, |_| tobj::load_mtl_buf(&mut "".as_bytes())).unwrap();
        let triangles: usize = models.iter().map(|model| model.mesh.indices.len() / 3).sum();
        println!("ignore_lines = {ignore_lines}: {triangles} triangles");
    }
}
RUST
found=$(cargo run --quiet 2> build.log) || { cat build.log; exit 1; }
echo "$found"
expected=$'ignore_lines = false: 2 triangles\nignore_lines = true: 2 triangles'
[ "$found" = "$expected" ] || { echo "the behaviour has changed" >&2; exit 1; }
