//! Shaders for many worlds, written from those for one.
//!
//! Every buffer then holds one part per world. The third index of a workgroup says which of the launched worlds it belongs to; every
//! access to a buffer is shifted to the part of that world, and a workgroup that its own world has not planned returns at once. So a world
//! comes to the same bits as alone.

use std::fmt::Write as _;

/// Bind group of the place of a dispatch in a launch.
pub(super) const LAUNCH_GROUP: u32 = 2;

/// Size of an entry in the buffer of places \[bytes\]; WGSL `Launch`.
pub(super) const PLACE_BYTES: u64 = 8;

/// Declarations of a shader for many worlds; for `launched` see `shaders/launch.wgsl`.
const DECLARATIONS: &str = "
struct Launch { place: u32, bits: u32, }
@group(2) @binding(0) var<uniform> launch: Launch;
@group(2) @binding(1) var<storage, read> launched: array<u32>;
var<private> world: u32;
fn part_of(length: u32) -> u32 { return world * (length >> launch.bits); }
";

/// Variable in a buffer.
struct Buffer<'a> {
    name: &'a str,
    is_array: bool,
}

/// Returns the text of a shader for many worlds.
pub(super) fn for_many_worlds(text: &str) -> String {
    let lines = || text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let buffers: Vec<Buffer<'_>> = lines().filter_map(declaration).map(|(buffer, ..)| buffer).collect();
    let mut shader = DECLARATIONS.to_owned();
    let mut code = String::new();
    for line in lines() {
        match declaration(line) {
            Some((Buffer { name, is_array }, binding, access, kind)) => {
                let kind = if is_array { kind.to_owned() } else { format!("array<{kind}>") };
                let _ = writeln!(shader, "{binding} var<{access}> {name}: {kind};");
            }
            None => {
                code += line;
                code.push('\n');
            }
        }
    }
    shader + &enter_worlds(&shift_accesses(&code, &buffers))
}

/// Splits the declaration of a buffer of a stage: the buffer, its attributes, its access and its type.
fn declaration(line: &str) -> Option<(Buffer<'_>, &str, &'static str, &str)> {
    let (binding, rest) = line.strip_prefix("@group(0)").and_then(|_| line.split_once(" var<"))?;
    let (space, rest) = rest.split_once("> ")?;
    let (name, kind) = rest.split_once(": ")?;
    let kind = kind.split_once(';')?.0;
    let access = if space == "storage, read_write" { "storage, read_write" } else { "storage, read" };
    Some((Buffer { name, is_array: kind.starts_with("array<") }, binding, access, kind))
}

/// Shifts every access to a buffer to the part of the present world.
fn shift_accesses(code: &str, buffers: &[Buffer<'_>]) -> String {
    let mut shifted = String::with_capacity(2 * code.len());
    // Brackets that are open, each with whether it indexes a buffer.
    let mut open = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
        if length == 0 {
            rest = &rest[first.len_utf8()..];
            match first {
                '[' => open.push(false),
                ']' if open.pop() == Some(true) => shifted.push(')'),
                _ => {}
            }
            shifted.push(first);
            continue;
        }
        let (name, after) = rest.split_at(length);
        rest = after;
        let is_member = shifted.ends_with('.');
        let is_declared = after.trim_start().starts_with(':');
        let Some(buffer) = buffers.iter().find(|buffer| buffer.name == name && !is_member && !is_declared)
        else {
            shifted += name;
            continue;
        };
        if shifted.ends_with("arrayLength(&") && after.starts_with(')') {
            let start = shifted.len() - "arrayLength(&".len();
            shifted.truncate(start);
            let _ = write!(shifted, "(arrayLength(&{name}) >> launch.bits)");
            rest = &after[1..];
        } else if let (true, Some(index)) = (buffer.is_array, after.strip_prefix('[')) {
            let _ = write!(shifted, "{name}[part_of(arrayLength(&{name})) + (");
            open.push(true);
            rest = index;
        } else {
            let _ = write!(shifted, "{name}[part_of(arrayLength(&{name}))]");
        }
    }
    shifted
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Lets every kernel begin with the choice of its world.
fn enter_worlds(code: &str) -> String {
    let mut kernels = code.split("@compute");
    let mut entered = kernels.next().unwrap_or_default().to_owned();
    for kernel in kernels {
        let (head, body) = kernel.split_once(") {").unwrap_or((kernel, ""));
        let group = head.split_once("@builtin(workgroup_id) ").and_then(|(_, name)| name.split_once(':'));
        let (comma, group, parameter) = match group {
            Some((name, _)) => ("", name, ""),
            None if head.ends_with('(') => ("", "group_id", "@builtin(workgroup_id) group_id: vec3u"),
            None => (", ", "group_id", "@builtin(workgroup_id) group_id: vec3u"),
        };
        let comma = if head.trim_end().ends_with(',') { "" } else { comma };
        let _ = write!(
            entered,
            "@compute{head}{comma}{parameter}) {{
    if launch.place != NONE && {group}.x + {group}.y * GROUPS_PER_ROW
        >= launched[1u + (1u << launch.bits) + launched[1u + {group}.z] * PLACES + launch.place] {{
        return;
    }}
    world = launched[1u + {group}.z];{body}"
        );
    }
    entered
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]
mod tests {
    use super::*;
    use crate::gpu::shader::SOURCES;

    #[test]
    fn accesses_go_to_the_part_of_the_world() {
        let text = "
@group(0) @binding(0) var<uniform> params: Params; // constants
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read> places: array<u32>;
fn f(counts_of: u32, own: Own) -> u32 { return own.places + atomicLoad(&counts[places[counts_of & 1u]]) + params.h; }
@compute @workgroup_size(64)
fn g(@builtin(local_invocation_index) lane: u32) { if lane < arrayLength(&places) { f(lane); } }
";
        let many = for_many_worlds(text);
        for part in [
            "@group(0) @binding(0) var<storage, read> params: array<Params>;",
            "@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;",
            "own.places + atomicLoad(&counts[part_of(arrayLength(&counts)) + (places[part_of(arrayLength(&places)) + (counts_of & 1u)])])",
            "params[part_of(arrayLength(&params))].h",
            "if lane < (arrayLength(&places) >> launch.bits)",
            "lane: u32, @builtin(workgroup_id) group_id: vec3u) {\n    if launch.place != NONE",
        ] {
            assert!(many.contains(part), "{part} in {many}");
        }
    }

    /// A name that was not shifted, or shifted where it is no buffer, has the wrong type.
    #[test]
    fn every_shader_is_valid_for_many_worlds() {
        for source in &SOURCES {
            let many = for_many_worlds(&source.text());
            let reflection = source.reflect_text(&many).unwrap_or_else(|error| panic!("{error}"));
            let own = source.reflect().unwrap();
            assert!(reflection.kernels().eq(own.kernels()), "{}", source.name);
        }
    }
}
