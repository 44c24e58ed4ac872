//! The shaders on their own, without a device: they are valid, fit the limits that devices
//! grant, and agree with their Rust twins on structs and constants.
#![allow(clippy::expect_used, reason = "a failed expectation fails the test")]

mod constants;

use std::mem::{offset_of, size_of};

use esker::gpu::device::STORAGE_BUFFERS;
use esker::gpu::layout::{
    self, BoundaryState, ConstraintHead, Contact, Entry, Joint, JointDrive, JointRow, Law, Machine, Mark,
    Meter, Overflow, Pose, Rigid, Sink, Sphere, Status, Surface, Totals, Turn, Velocity, Works,
};
use esker::gpu::shader::{Reflection, SOURCES, ShaderSource, Variable, VariableKind};
use esker::gpu::step::{
    AGAIN, Aliases, CHECK, DESCENDING, Kernel, Method, NONSMOOTH, RESIDUAL, RESUME, SMOOTH, Work,
};
use esker::gpu::{LODGERS, room_of};
use naga::{Module, TypeInner};

/// Limits that WebGPU grants everywhere.
const UNIFORM_BUFFERS: usize = 12;
const INVOCATIONS: u32 = 256;
const WORKGROUP_BYTES: u32 = 16 << 10;

fn source(name: &str) -> &'static ShaderSource {
    SOURCES.iter().find(|source| source.name == name).expect("a shader of that name")
}

fn reflect(name: &str) -> Reflection {
    source(name).reflect().unwrap_or_else(|error| panic!("{error}"))
}

fn all() -> Vec<(&'static str, Reflection)> {
    SOURCES.iter().map(|source| (source.name, reflect(source.name))).collect()
}

/// Every kernel of the step list as (shader, entry).
fn kernels_in_use() -> Vec<(&'static str, &'static str)> {
    let mut names = vec![(CHECK.shader, CHECK.entry)];
    let stages = [&NONSMOOTH, &DESCENDING, &SMOOTH].into_iter().flat_map(|method| method.stages());
    for work in stages.chain([&AGAIN, &RESUME, &RESIDUAL]).flat_map(|stage| stage.work) {
        names.extend(work.kernels().into_iter().map(|kernel| (kernel.shader, kernel.entry)));
    }
    names
}

#[test]
fn every_shader_is_valid() {
    for source in &SOURCES {
        let reflection = source.reflect().unwrap_or_else(|error| panic!("{error}"));
        assert!(reflection.kernels().count() > 0, "{} has no kernel", source.name);
    }
}

#[test]
fn every_kernel_of_the_step_exists_and_every_kernel_is_in_the_step() {
    let used = kernels_in_use();
    for (shader, entry) in &used {
        assert!(
            reflect(shader).kernels().any(|kernel| kernel == *entry),
            "{shader}.wgsl has no kernel {entry}"
        );
    }
    // The kernels of the prefix sum belong to `Work::Scan`.
    for (shader, reflection) in all().iter().filter(|(shader, _)| *shader != "scan") {
        for kernel in reflection.kernels() {
            assert!(used.contains(&(shader, kernel)), "{shader}.wgsl: no stage runs {kernel}");
        }
    }
}

/// Numbers of storage and of uniform buffers that a kernel binds.
fn buffer_counts(variables: &[Variable]) -> (usize, usize) {
    let uniforms = variables.iter().filter(|variable| variable.kind == VariableKind::Uniform).count();
    (variables.len() - uniforms, uniforms)
}

fn fits_devices(variables: &[Variable]) -> bool {
    let (storage, uniform) = buffer_counts(variables);
    storage <= STORAGE_BUFFERS as usize && uniform <= UNIFORM_BUFFERS
}

#[test]
fn no_kernel_binds_more_buffers_than_devices_grant() {
    for (shader, reflection) in all() {
        for kernel in reflection.kernels() {
            let variables = reflection.variables(kernel).expect("a kernel of this shader");
            let (storage, uniform) = buffer_counts(&variables);
            assert!(
                fits_devices(&variables),
                "{shader}.{kernel}: {storage} storage and {uniform} uniform buffers"
            );
        }
    }
}

#[test]
fn a_storage_buffer_too_many_is_noticed() {
    let variable = |binding| Variable {
        name: format!("v{binding}"),
        group: 0,
        binding,
        kind: VariableKind::Read,
        element: 4,
    };
    let many: Vec<Variable> = (0..=STORAGE_BUFFERS).map(variable).collect();
    assert!(fits_devices(&many[1..]) && !fits_devices(&many));
}

#[test]
fn workgroups_fit_the_limits_of_webgpu() {
    for (shader, Reflection { module, .. }) in &all() {
        for entry in &module.entry_points {
            let invocations: u32 = entry.workgroup_size.iter().product();
            assert!((1..=INVOCATIONS).contains(&invocations), "{shader}.{}: {invocations}", entry.name);
        }
        let bytes = workgroup_bytes(module);
        assert!(bytes <= WORKGROUP_BYTES, "{shader}: {bytes} bytes of workgroup memory");
    }
}

/// Workgroup memory of all variables of a module together \[bytes\]: a bound for each of its kernels.
fn workgroup_bytes(module: &Module) -> u32 {
    let variables = module.global_variables.iter().map(|(_, variable)| variable);
    variables
        .filter(|variable| variable.space == naga::AddressSpace::WorkGroup)
        .map(|variable| module.types[variable.ty].inner.size(module.to_ctx()))
        .sum()
}

#[test]
fn too_much_workgroup_memory_is_noticed() {
    let text =
        "var<workgroup> much: array<vec4f, 1025>; @compute @workgroup_size(64) fn f() { much[0].x = 1.0; }";
    let module = naga::front::wgsl::parse_str(text).expect("valid WGSL");
    assert_eq!(workgroup_bytes(&module), WORKGROUP_BYTES + 16);
}

/// A Rust struct as its shader must see it: bytes, and the offset of every field in order.
struct Twin {
    name: &'static str,
    size: usize,
    fields: Vec<(&'static str, usize)>,
}

/// The twin of a struct; the compiler refuses a list that leaves a field out.
macro_rules! twin {
    ($name:ident { $($field:ident),* $(,)? }) => {{
        let _ = |$name { $($field: _),* }: $name| ();
        Twin {
            name: stringify!($name),
            size: size_of::<$name>(),
            fields: vec![$((stringify!($field), offset_of!($name, $field))),*],
        }
    }};
}

/// How a struct of a module differs from its Rust twin.
fn difference(module: &Module, twin: &Twin) -> Option<String> {
    let named = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(twin.name));
    let Some((TypeInner::Struct { members, span }, name)) = named.map(|(_, ty)| (&ty.inner, twin.name))
    else {
        return Some(format!("there is no struct {}", twin.name));
    };
    let of_shader: Vec<(&str, usize)> = members
        .iter()
        .map(|member| (member.name.as_deref().unwrap_or_default(), member.offset as usize))
        .collect();
    if let Some((rust, wgsl)) = twin.fields.iter().zip(&of_shader).find(|(rust, wgsl)| rust != wgsl) {
        return Some(format!("{name}: {} at {} in Rust, {} at {} in WGSL", rust.0, rust.1, wgsl.0, wgsl.1));
    }
    if twin.fields.len() != of_shader.len() {
        return Some(format!("{name}: {} fields in Rust, {} in WGSL", twin.fields.len(), of_shader.len()));
    }
    let span = *span as usize;
    (span != twin.size).then(|| format!("{name}: {} bytes in Rust, {span} in WGSL", twin.size))
}

fn twins() -> Vec<Twin> {
    vec![
        twin!(Status {
            halted,
            step,
            substep,
            remembered,
            contacts,
            impacts,
            change,
            sweeps,
            bad_grain,
            colours,
            overflow,
            converged,
            bad_boundary,
            search,
            listed,
            sides,
            searches,
            calm,
            bounces,
            fastest,
            rounds,
            noise,
            impact_sweeps,
            impact_residual,
            careful,
            steepness,
            theta,
            share,
            goes_on,
            wanted,
            tiles,
            tiled,
            coloured,
            unsettled,
            unsettled_residual,
            unsettled_fraction,
            impact_end,
            block_residual,
            most_sweeps,
        }),
        twin!(Pose { cell, machine, offset, free_speed, orientation }),
        twin!(Velocity { linear, inverse_mass, angular, inverse_inertia }),
        twin!(Sphere { radius, material, body, tag }),
        twin!(Rigid {
            diagonal,
            flags,
            off_diagonal,
            is_ahead,
            moments,
            spare,
            momentum,
            spare_too,
            spin,
            spare_also,
            force,
            spare_then,
            torque,
            spare_last
        }),
        twin!(Overflow { slots, copies, response, tangent_d }),
        twin!(Meter {
            pose,
            size,
            form,
            material,
            layers,
            first,
            axis,
            thickness,
            period,
            spare_x,
            spare_y,
            spare_z
        }),
        twin!(Sink { pose, size, form, tag, ends_run, is_face }),
        twin!(Surface { position, body, orientation, size, form, material, flags, head }),
        twin!(Law {
            friction,
            rolling_resistance,
            restitution,
            upsilon,
            sigma_factor,
            target_factor,
            stiffness,
            tangential_stiffness,
            damping,
            pull_off,
            adhesion,
            spare
        }),
        twin!(Contact { a, b, previous, place }),
        twin!(ConstraintHead { normal, bias_velocity, bodies, compliance, friction }),
        twin!(BoundaryState { pose, linear, path, angular, ahead, reach, spare_x, spare_y, spare_z }),
    ]
}

/// Structs of the joints.
fn joint_twins() -> Vec<Twin> {
    vec![
        twin!(Joint {
            place_a,
            body_a,
            place_b,
            body_b,
            turn_a,
            turn_b,
            cell,
            kind,
            walls,
            wall_axes,
            first_row,
            rows,
            low,
            high,
            position,
            length,
            compliance,
            angular_compliance,
            upsilon,
            is_limited,
            restitution,
            slack,
            spare,
            spare_too
        }),
        twin!(JointDrive { kind, value, aim, rate, limit, spare, spare_too, spare_also }),
        twin!(JointRow {
            direction,
            role,
            lever_a,
            place,
            lever_b,
            softness,
            linear_a,
            impulse,
            linear_b,
            last,
            angular_a,
            low,
            angular_b,
            high,
            body_a,
            body_b,
            aim,
            follow,
            bias,
            strike,
            held,
            diagonal,
            most,
            spare,
            spare_too,
            spare_also
        }),
        twin!(Machine { first_row, rows, matrix, first_body, bodies, spare, spare_too, spare_also }),
    ]
}

#[test]
fn structs_have_the_layout_of_their_twins() {
    // `integrate` has them all: the shared types and the state of a boundary.
    let module = reflect("integrate").module;
    let differences: Vec<String> = twins().iter().filter_map(|twin| difference(&module, twin)).collect();
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
    let module = reflect("joints").module;
    let differences: Vec<String> =
        joint_twins().iter().filter_map(|twin| difference(&module, twin)).collect();
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
    assert_eq!(difference(&reflect("balance").module, &works()), None);
    assert_eq!(difference(&reflect("balance").module, &totals()), None);
    assert_eq!(
        difference(&reflect("sweep").module, &twin!(Turn { index, relaxation, share, follows })),
        None
    );
    assert_eq!(difference(&reflect("broadphase").module, &entry()), None);
    assert_eq!(difference(&reflect("tiles").module, &mark()), None);
}

fn mark() -> Twin {
    twin!(Mark { used, tiles, best })
}

fn entry() -> Twin {
    twin!(Entry { cell, sphere, offset, radius })
}

fn works() -> Twin {
    twin!(Works {
        gravity,
        boundary,
        normal,
        friction,
        rolling,
        impact,
        impact_friction,
        impact_rolling,
        kinetic
    })
}

fn totals() -> Twin {
    twin!(Totals { works, initial_kinetic })
}

#[test]
fn every_struct_in_a_buffer_has_a_twin() {
    let mut known: Vec<&str> = twins().iter().chain(&joint_twins()).map(|twin| twin.name).collect();
    known.extend(["Params", works().name, totals().name, entry().name, mark().name]);
    for (shader, Reflection { module, .. }) in &all() {
        for (_, variable) in module.global_variables.iter().filter(|(_, variable)| variable.binding.is_some())
        {
            let inner = match &module.types[variable.ty].inner {
                TypeInner::Array { base, .. } => &module.types[*base],
                _ => &module.types[variable.ty],
            };
            let name = inner.name.as_deref().unwrap_or_default();
            let is_struct = matches!(inner.inner, TypeInner::Struct { .. });
            let is_index = variable.binding.is_some_and(|binding| binding.group == 1);
            assert!(
                !is_struct || is_index || known.contains(&name),
                "{shader}.wgsl: {name} has no Rust twin"
            );
        }
    }
}

#[test]
fn a_swapped_a_missing_and_a_wider_field_are_noticed() {
    let found = |fields: &str| {
        let module =
            naga::front::wgsl::parse_str(&format!("struct Contact {{ {fields} }}")).expect("valid WGSL");
        difference(&module, &twin!(Contact { a, b, previous, place })).unwrap_or_default()
    };
    assert_eq!(found("a: u32, b: u32, previous: u32, place: u32"), "");
    assert!(found("b: u32, a: u32, previous: u32, place: u32").contains("a at 0 in Rust"));
    assert!(found("a: u32, b: u32, previous: u32").contains("4 fields in Rust, 3 in WGSL"));
    assert!(found("a: u32, b: vec2u, previous: u32, place: u32").contains("b at 4 in Rust"));
    assert!(found("a: u32, b: u32, previous: u32, place: vec2u").contains("place at 12 in Rust"));
    assert!(found("a: u32, b: u32, previous: u32, place: array<u32, 2>").contains("20 in WGSL"));
}

/// A use of a buffer: the buffer, and the name under which it is used.
type Use = (String, String);

/// Use of a buffer by a variable of a kernel: the buffer that the variable stands for, and the kernel's name for its content.
fn use_of(variable: &Variable, aliases: Aliases) -> Use {
    match aliases.iter().find(|(name, _)| *name == variable.name) {
        Some((name, buffer)) if room_of(buffer) == *buffer => {
            ((*buffer).to_owned(), format!("{name} of another kind"))
        }
        Some((_, lodger)) => (room_of(lodger).to_owned(), (*lodger).to_owned()),
        None => (room_of(&variable.name).to_owned(), variable.name.clone()),
    }
}

/// Uses of buffers by the kernels of the step list, in the order in which they run: under their own name or another.
fn uses_of_buffers(works: &[&Work]) -> Vec<Use> {
    let mut uses = Vec::new();
    for work in works {
        if let Work::Scan(_, aliases) = work {
            uses.extend(aliases.iter().map(|(_, buffer)| (room_of(buffer).to_owned(), (*buffer).to_owned())));
        }
        for Kernel { shader, entry, aliases, .. } in work.kernels() {
            let variables = reflect(shader).variables(entry).expect("a kernel of this shader");
            let of_stage = variables.iter().filter(|variable| variable.group == 0);
            uses.extend(of_stage.map(|variable| use_of(variable, aliases)));
        }
    }
    uses
}

/// Buffers that are used under a name, then under another, and then under the first again, within one step.
fn interleaved(uses: &[Use]) -> Vec<String> {
    let mut buffers: Vec<&String> = uses.iter().map(|(buffer, _)| buffer).collect();
    buffers.sort_unstable();
    buffers.dedup();
    let is_interleaved = |buffer: &&String| {
        let mut names: Vec<&String> =
            uses.iter().filter(|(other, _)| other == *buffer).map(|(_, name)| name).collect();
        names.dedup();
        // The end of a step is before the start of the next.
        if names.len() > 1 && names.first() == names.last() {
            names.pop();
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        names.len() < count
    };
    buffers.into_iter().filter(is_interleaved).cloned().collect()
}

#[test]
fn what_shares_a_room_does_not_need_it_at_the_same_time() {
    let works_of = |method: &Method| -> Vec<&'static Work> {
        method.stages().chain([&RESIDUAL]).flat_map(|stage| stage.work).collect()
    };
    let [works, descending] = [&NONSMOOTH, &DESCENDING].map(works_of);
    let [uses, of_descent] = [&works, &descending].map(|works| uses_of_buffers(works));
    for (lodger, buffer) in LODGERS {
        let is_used = |uses: &[Use]| uses.iter().any(|(room, name)| room == buffer && name == lodger);
        assert!(is_used(&uses) || is_used(&of_descent), "nothing uses {lodger} in {buffer}");
    }
    assert_eq!(interleaved(&uses), Vec::<String>::new());
    assert_eq!(interleaved(&of_descent), Vec::<String>::new());
    // Wrong on purpose: the pairs found are stored after the constraints, when their room is in use.
    let mut wrong = works.clone();
    let at = wrong.iter().position(|work| {
        work.kernels().iter().any(|kernel| (kernel.shader, kernel.entry) == ("narrowphase", "apply_laws"))
    });
    let moved =
        wrong.iter().position(|work| work.kernels().iter().any(|kernel| kernel.entry == "store_pairs"));
    let store = wrong[moved.expect("a kernel that stores pairs")];
    wrong.insert(1 + at.expect("a kernel of the laws"), store);
    assert!(interleaved(&uses_of_buffers(&wrong)).contains(&"constraint_arms".to_owned()));
}

#[test]
fn no_kernel_uses_a_buffer_under_two_names() {
    for work in NONSMOOTH.stages().chain(DESCENDING.stages()).flat_map(|stage| stage.work) {
        for kernel in work.kernels() {
            let variables = reflect(kernel.shader).variables(kernel.entry).expect("a kernel of this shader");
            let room = |variable: &Variable| use_of(variable, kernel.aliases).0;
            let mut rooms: Vec<String> = variables.iter().map(room).collect();
            let count = rooms.len();
            rooms.sort_unstable();
            rooms.dedup();
            assert_eq!(rooms.len(), count, "{}.{}", kernel.shader, kernel.entry);
        }
    }
}
