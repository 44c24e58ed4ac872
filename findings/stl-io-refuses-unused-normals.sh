#!/usr/bin/env bash
# stl_io 0.11.0, a reader of STL files: refuses a text file in which a facet has `nan` normals, though the normals follow from the corners.
#
# Programs that write STL compute normals of slivers as 0/0 and write `nan`; others read such files, as the order of the corners says which
# side is outside. Seen: the same triangle is read with the normal `0 0 1` and refused with `nan nan nan`.
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
stl_io = "=0.11.0"
TOML
mkdir src
cat > src/main.rs <<'RUST'
fn main() {
    for normal in ["0 0 1", "nan nan nan"] {
        let text = format!(
            "solid a\nfacet normal {normal}\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n"
        );
        let read = stl_io::read_stl(&mut std::io::Cursor::new(text));
        println!("normal {normal}: {}", read.map_or("refused".to_owned(), |mesh| format!("{} triangle", mesh.faces.len())));
    }
}
RUST
found=$(cargo run --quiet 2> build.log) || { cat build.log; exit 1; }
echo "$found"
expected=$'normal 0 0 1: 1 triangle\nnormal nan nan nan: refused'
[ "$found" = "$expected" ] || { echo "the behaviour has changed" >&2; exit 1; }
