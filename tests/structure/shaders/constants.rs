//! Parameters and constants: they are written where the shaders read them, and have the same values.

use super::*;
use encase::UniformBuffer;
use esker::cpu::colouring;
use esker::engine::IMPACT_GAIN;
use esker::gpu::STEEPEST;
use esker::gpu::constants::Planned;
use esker::gpu::layout::Params;
use esker::gpu::step::{Over, Pass};
use esker::law::guard::LARGEST_GAIN;
use esker::model::Form;
use esker::model::meter::SHORTEST;
use esker::settings::{FIRST_STEEPNESS, FLATTER, STEEPER};
use glam::{IVec3, Vec3};
use naga::{Expression, Literal};

/// A field value that can be recognised in the bytes of a struct.
trait Mark {
    /// The value that starts with the word `mark`.
    fn mark(mark: u32) -> Self;
}

impl Mark for u32 {
    fn mark(mark: u32) -> u32 {
        mark
    }
}

impl Mark for i32 {
    fn mark(mark: u32) -> i32 {
        mark as i32
    }
}

impl Mark for f32 {
    fn mark(mark: u32) -> f32 {
        f32::from_bits(mark)
    }
}

impl Mark for IVec3 {
    fn mark(mark: u32) -> IVec3 {
        IVec3::splat(mark as i32)
    }
}

impl Mark for Vec3 {
    fn mark(mark: u32) -> Vec3 {
        Vec3::splat(f32::from_bits(mark))
    }
}

/// A struct with a mark in every field, and the names of the fields: mark `i + 1` is in field `i`.
macro_rules! marked {
    ($name:ident { $($field:ident),* $(,)? }) => {{
        let mut marks = 1..;
        let value = $name { $($field: Mark::mark(marks.next().unwrap_or_default())),* };
        (value, [$(stringify!($field)),*])
    }};
}

/// `Params` goes through encase: its marks must turn up where the shader reads the fields.
#[test]
fn params_are_written_where_the_shader_reads_them() {
    let (params, fields) = marked!(Params {
        gravity,
        h,
        reach,
        skin,
        boundary_skin,
        impact_threshold,
        tolerance,
        warm_start,
        fraction,
        moving,
        normal_law,
        grains,
        boundaries,
        surfaces,
        materials,
        bucket_mask,
        stride_y,
        stride_z,
        contact_capacity,
        model_gain,
        touch_tolerance,
        cohesion_range,
        speed_limit,
        rigid_share,
        rigid_limit,
        sinks,
        cell_size,
        periods,
        vertices,
        overflow_capacity,
        step_time,
        level_radius,
        levels,
        impact_tolerance,
        load_scale,
        torque_scale,
        gain_at_once,
        spheres,
        rigids,
        joints,
        joint_rows,
        machines,
        iterations,
        meters,
        impact_block,
        most_impact_sweeps,
    });
    let mut buffer = UniformBuffer::new(Vec::new());
    buffer.write(&params).expect("a vector takes any number of bytes");
    let bytes = buffer.into_inner();

    let module = reflect("integrate").module;
    let (_, ty) = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some("Params")).expect("Params");
    let TypeInner::Struct { members, span } = &ty.inner else { panic!("Params is a struct") };
    assert_eq!(*span as usize, bytes.len(), "bytes of Params in WGSL and in Rust");
    assert_eq!(members.len(), fields.len(), "fields of Params in WGSL and in Rust");
    for member in members {
        let name = member.name.as_deref().unwrap_or_default();
        let at = member.offset as usize;
        let word = u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let written = fields.get((word as usize).wrapping_sub(1)).copied().unwrap_or("nothing");
        assert_eq!(written, name, "what Rust writes where WGSL reads {name}");
    }
}

/// The literal that a constant of a module stands for.
fn literal(module: &Module, name: &str) -> Option<Literal> {
    let (_, constant) =
        module.constants.iter().find(|(_, constant)| constant.name.as_deref() == Some(name))?;
    match module.global_expressions[constant.init] {
        Expression::Literal(literal) => Some(literal),
        _ => None,
    }
}

/// Value of a constant of a module, if it is a `u32`.
fn constant(module: &Module, name: &str) -> Option<u32> {
    match literal(module, name) {
        Some(Literal::U32(value)) => Some(value),
        _ => None,
    }
}

/// Value of a constant of a module, if it is an `f32`.
fn fraction(module: &Module, name: &str) -> Option<f32> {
    match literal(module, name) {
        Some(Literal::F32(value)) => Some(value),
        _ => None,
    }
}

#[test]
fn constants_have_the_values_of_their_twins() {
    let module = reflect("narrowphase").module;
    let expected = [
        ("COLOURS", colouring::COLOURS as u32),
        ("NONE", layout::NONE),
        ("HALT_GAIN", layout::HALT_GAIN),
        ("FORM_SPHERE", layout::form(Form::Sphere { radius: 1.0 }).0),
    ];
    for (name, value) in expected {
        assert_eq!(constant(&module, name), Some(value), "{name} in WGSL and in Rust");
    }
    assert_eq!(fraction(&reflect("balance").module, "LARGEST_GAIN"), Some(LARGEST_GAIN as f32));
    assert_eq!(fraction(&reflect("impact").module, "IMPACT_GAIN"), Some(IMPACT_GAIN as f32));
    let gradient = reflect("gradient").module;
    for (name, value) in [
        ("FIRST_STEEPNESS", FIRST_STEEPNESS),
        ("STEEPER", STEEPER),
        ("FLATTER", FLATTER),
        ("STEEPEST", STEEPEST),
    ] {
        assert_eq!(fraction(&gradient, name), Some(value as f32), "{name} in WGSL and in Rust");
    }
    assert_eq!(fraction(&reflect("integrate").module, "FAREST"), Some(layout::FAREST as f32));
    assert_eq!(fraction(&reflect("stress").module, "SHORTEST"), Some(SHORTEST as f32));
    assert_eq!(constant(&module, "HALT_BY_SURPRISE"), None, "a constant that is not there is noticed");
}

/// A kernel that runs over many items has workgroups of the size by which it is planned: 64. The kernels over tiles, which are planned by
/// workgroup, have the size that the device decides.
#[test]
fn kernels_over_many_have_workgroups_of_the_size_that_is_dispatched() {
    let module = reflect("sweep").module;
    let group = constant(&module, "GROUP").expect("a constant");
    for work in DESCENDING.stages().chain(NONSMOOTH.stages()).flat_map(|stage| stage.work) {
        let passes: Vec<&Pass> = match work {
            Work::Visit(pass) | Work::Sweeps(pass) | Work::Descend { give: pass, .. } => vec![pass],
            Work::Impacts(passes, _) => passes.iter().collect(),
            _ => Vec::new(),
        };
        let of_tiles: Vec<&Kernel> = passes.iter().map(|pass| &pass.contacts).collect();
        for kernel @ Kernel { shader, entry, over, .. } in work.kernels() {
            let module = reflect(shader).module;
            let point = module.entry_points.iter().find(|point| point.name == *entry).expect("a kernel");
            let is_of_tiles =
                matches!(over, Over::At(Planned::Tiles | Planned::Gather | Planned::ImpactGather))
                    || of_tiles.iter().any(|of_tiles| std::ptr::eq(*of_tiles, kernel));
            let is_of_pass = passes.iter().any(|pass| pass.kernels().any(|own| std::ptr::eq(own, kernel)));
            let expected = match over {
                _ if is_of_tiles => {
                    assert!(point.workgroup_size_overrides.is_some(), "{shader}.{entry}");
                    continue;
                }
                Over::Once | Over::Machines | Over::At(Planned::Search) if !is_of_pass => continue,
                Over::Machines => continue,
                Over::At(Planned::Parts | Planned::ImpactParts) => 1,
                _ => group,
            };
            assert_eq!(point.workgroup_size, [expected, 1, 1], "{shader}.{entry}");
        }
    }
}
