//! `esker check`: whether a scenario is valid, what it contains and whether its time step suits it.

use std::path::PathBuf;

use crate::engine::blame::too_long_for_joints;
use crate::engine::{has_wide_cones, prudent};
use crate::law::guard::WIDE_CONE;
use crate::law::pair::PairLaw;
use crate::model::joint::freedom::Freedom;
use crate::model::plane::grain_volume;
use crate::model::{Domain, Mesh, Outside, Periodic, Sink, World};
use crate::scenario::Scenario;
use crate::scenario::pace::{fastest, smallest_radius, smooth_time_step};
use crate::settings::Method;
use crate::simulation::device::check_for_gpu;
use crate::simulation::steps_until;

use super::terminal::say;
use super::{ExitOutcome, Failure, memory, short};

/// Arguments of `esker check`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Scenario file.
    file: PathBuf,
    /// Change a value of the scenario, such as solver.iterations=100; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

/// Checks a scenario and prints a summary of its content.
pub(super) fn check(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    let scenario = Scenario::load(&arguments.file, &arguments.overrides)?;
    say!("{}", scenario.title);
    print_counts(&scenario);
    print_materials(&scenario.world);
    print_liquid(&scenario.world);
    print_friction(&scenario.friction_factors);
    print_time_step(&scenario);
    if prudent(&scenario.settings, &scenario.world) != scenario.settings {
        let cause = if has_wide_cones(&scenario.settings, &scenario.world) {
            let rolling = "rolling resistance times its arm in effective radii";
            format!("a coefficient of friction, or {rolling}, is above {WIDE_CONE}")
        } else {
            "solids may stand on each other".to_owned()
        };
        say!("warning: {cause}: sweeps are plain, not accelerated");
    }
    in_sinks(&scenario.world).iter().for_each(|warning| say!("warning: {warning}"));
    if let Err(error) = check_for_gpu(&scenario) {
        say!("warning: on a GPU this is refused: {error}");
    }
    Ok(ExitOutcome::Done)
}

/// Most clumps that are listed: the bodies of a file may have a thousand shapes.
const SHOWN_CLUMPS: usize = 8;

fn print_counts(scenario: &Scenario) {
    let (world, most) = (&scenario.world, scenario.max_grains());
    say!("  grains        {} at the start, at most {most}", world.grain_count());
    for clump in world.clumps.iter().take(SHOWN_CLUMPS) {
        let radius = short(clump.equivalent_radius());
        let (kind, parts) = match &clump.hull {
            Some(hull) => ("shape", format!("{} corners and {} faces", hull.corners.len(), hull.faces.len())),
            None => ("clump", format!("{} spheres", clump.spheres.len())),
        };
        say!("  {kind}         {}: {parts}, as much as a sphere of radius {radius} m", clump.name);
    }
    if let Some(more @ 1..) = world.clumps.len().checked_sub(SHOWN_CLUMPS) {
        say!("                and {more} more of them");
    }
    say!("  boundaries    {} with {} surfaces", world.boundaries.len(), world.surface_groups().count());
    world.meshes.list().iter().for_each(|mesh| print_mesh(mesh));
    world.machines_and_freedom().iter().for_each(|machine| print_machine(world, machine));
    if !world.bonds.is_empty() {
        say!("  bonds         {}", world.bonds.list.len());
    }
    say!("  emitters      {}", scenario.emitters.len());
    say!("  sinks         {}", list_of(world.sinks.iter().map(|sink| sink.name.as_str())));
    say!("  regions       {}", list_of(scenario.regions.iter().map(|region| region.name.as_str())));
    say!("  gates         {}", list_of(world.gates.iter().map(|gate| gate.name.as_str())));
    say!("  expectations  {}", scenario.expectations.len());
    scenario.notes.iter().for_each(|told| say!("  note          {told}"));
    print_period(&world.periodic);
    if let Some(deformation) = &world.deformation {
        let starts = deformation.stages.iter().map(|stage| format!("{}", stage.from));
        say!("  cell          deforms, in stages from {} s", starts.collect::<Vec<_>>().join(", "));
    }
    print_domain(world.domain.as_ref());
    memory::print_plan(scenario);
}

fn print_mesh(mesh: &Mesh) {
    let size = mesh.bounds().map(|corner| corner.to_array());
    let [x, y, z] = [0, 1, 2].map(|axis| short(size[1][axis] - size[0][axis]));
    let (triangles, patches) = (mesh.triangles.len(), mesh.patches.len());
    say!(
        "  mesh          {}: {triangles} triangles in {patches} smooth patches, {x} x {y} x {z} m",
        mesh.name
    );
    if mesh.defects.divided > 0 {
        say!("                {} edges divided at vertices of other triangles", mesh.defects.divided);
    }
    for defect in mesh.defects.in_words() {
        say!("                {defect}");
    }
    if mesh.defects.turned_around > 0 {
        say!("                {} triangles faced inwards and are turned around", mesh.defects.turned_around);
    }
    if mesh.defects.is_closed() {
        let role = if mesh.is_solid {
            "a solid that pushes outwards"
        } else {
            "a sheet that grains touch from both sides"
        };
        say!("                closed, {} m3: {role}", short(mesh.solid().volume));
    }
}

/// Prints a machine: its bodies and joints, its mass \[kg\], its degrees of freedom, drives and redundant constraints.
fn print_machine(world: &World, machine: &Freedom) {
    let bodies = machine.bodies.iter().map(|&body| world.boundaries[body as usize].name.as_str());
    let mass: f64 = machine.bodies.iter().map(|&body| 1.0 / world.bodies.inverse_mass[body as usize]).sum();
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let joints = count(machine.joints.len(), "joint");
    say!("  machine       {}, {joints}, {} kg", list_of(bodies), short(mass));
    let drives = machine.joints.iter().filter(|&&joint| !world.joints[joint].drives.is_empty()).count();
    say!(
        "                moves in {}, {}, {} that follow from others",
        count(machine.ways, "way"),
        count(drives, "drive"),
        count(machine.redundant, "row")
    );
}

/// Number of names, and the names: `2 (left, right)`.
fn list_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() { "0".to_owned() } else { format!("{} ({})", names.len(), names.join(", ")) }
}

fn print_period(periodic: &Periodic) {
    let lengths = ["x", "y", "z"].into_iter().zip(periodic.length.to_array());
    let periods: Vec<String> = lengths
        .filter(|(_, length)| *length > 0.0)
        .map(|(axis, length)| format!("{} m along {axis}", short(length)))
        .collect();
    if !periods.is_empty() {
        say!("  periodic      {}", periods.join(", "));
    }
}

fn print_domain(domain: Option<&Domain>) {
    let Some(Domain { min, max, outside }) = domain else { return };
    let [min, max] = [min, max].map(|corner| corner.to_array().map(short).join(", "));
    let fate = match outside {
        Outside::Keep => "are counted",
        Outside::Remove => "are removed",
        Outside::Stop => "end the run",
    };
    say!("  domain        ({min}) to ({max}) m; grains outside {fate}");
}

/// Warnings about sinks in which grains start: such grains are removed at once.
fn in_sinks(world: &World) -> Vec<String> {
    let count = world.grain_count();
    let is_in = |sink: &Sink, grain: usize| {
        let centre = world.bodies.position[world.grain_body(grain)];
        sink.contains(world.periodic.image(centre, sink.position))
    };
    let warning = |sink: &Sink| {
        let inside = (0..count).filter(|&grain| is_in(sink, grain)).count();
        (inside > 0).then(|| format!("{inside} of {count} grains start in sink `{}`", sink.name))
    };
    world.sinks.iter().filter_map(warning).collect()
}

fn print_materials(world: &World) {
    let list = &world.materials.list;
    say!("materials");
    for material in list {
        say!(
            "  {:<14} density {} kg/m3, E {:.3e} Pa, nu {}",
            material.name,
            material.density,
            material.youngs_modulus,
            material.poisson_ratio
        );
    }
    say!("pairs");
    for (i, a) in list.iter().enumerate() {
        for (j, b) in list.iter().enumerate().skip(i) {
            let law = world.materials.law(i as u32, j as u32);
            say!(
                "  {:<30} E* {:.3e} Pa, restitution {}, friction {}, rolling {}, damping {} s",
                format!("{} - {}", a.name, b.name),
                law.effective_modulus,
                law.restitution,
                law.friction,
                law.rolling_resistance,
                law.damping
            );
            if law.is_cohesive() && i == j {
                print_cohesion(world, i, law);
            }
        }
    }
}

/// Prints the pull-off force of two equal grains of one material \[N\], for its smallest grains at the start.
fn print_cohesion(world: &World, material: usize, law: &PairLaw) {
    let own = world.spheres.iter().filter(|sphere| sphere.material as usize == material);
    let radius = own.map(|sphere| sphere.radius).fold(f64::INFINITY, f64::min);
    if radius.is_finite() {
        let density = world.materials.list[material].density;
        let weight = density * grain_volume(world.plane, radius) * world.gravity.length();
        let force = law.pull_off(0.5 * radius);
        let in_weights =
            if weight > 0.0 { format!(", {:.3} of their weight", force / weight) } else { String::new() };
        say!("    holds grains of {radius:.3e} m together with {force:.3e} N{in_weights}");
    }
}

/// Prints the force and the reach of the liquid bridges between two of the smallest wet grains at the start.
fn print_liquid(world: &World) {
    let Some(liquid) = &world.liquid else { return };
    let wet = world.spheres.iter().filter(|sphere| liquid.wets[sphere.material as usize]);
    let Some(sphere) = wet.min_by(|one, other| one.radius.total_cmp(&other.radius)) else { return };
    let bridge = liquid.law.meniscus(0.5 * sphere.radius, liquid.volume.at(sphere.radius));
    let density = world.materials.list[sphere.material as usize].density;
    let weight = density * grain_volume(world.plane, sphere.radius) * world.gravity.length();
    let in_weights = match weight > 0.0 {
        true => format!(", {:.3} of their weight", bridge.force(0.0) / weight),
        false => String::new(),
    };
    say!(
        "liquid\n  bridges of {:.3e} m3 hold grains of {:.3e} m together with {:.3e} N{in_weights}, and break at {:.3e} m",
        bridge.volume(),
        sphere.radius,
        bridge.force(0.0),
        bridge.rupture()
    );
}

/// Prints the values of `friction_factor`, if there are any.
fn print_friction(factors: &[(f64, f64)]) {
    for (start, factor) in factors {
        say!("  from {start} s on friction and rolling resistance are {factor} times as much");
    }
}

fn print_time_step(scenario: &Scenario) {
    let settings = &scenario.settings;
    let advice = Advice::on(scenario);
    say!("time step");
    say!(
        "  steps         {} of {} s",
        steps_until(scenario.duration, settings.time_step),
        settings.time_step
    );
    match settings.method {
        Method::Nonsmooth => {
            say!("  work          {} sweeps x {} substeps, at most", settings.iterations, settings.substeps);
        }
        Method::Smooth => say!("  work          forces x {} substeps", settings.substeps),
    }
    say!("  fastest       {:.2} m/s, {}", advice.fastest, advice.of);
    let skin =
        if advice.margin.is_finite() { format!("; skin {:.2e} m", advice.margin) } else { String::new() };
    say!("  per step      {:.2e} m{skin}", advice.travel);
    if let (Some(step), Method::Smooth) = (advice.smooth_step, settings.method) {
        let bonds =
            if scenario.world.bonds.is_empty() { "" } else { " and 0.3 sqrt(m/k) of the stiffest bond" };
        say!(
            "  stable        {step:.1e} s: the least of 1/5 of the Rayleigh time, 1/50 of a collision{bonds}"
        );
        if settings.substep() > step * (1.0 + 1e-9) {
            say!("warning: solver.time_step is longer than that: what is stiff may gain energy");
        }
    } else if let Some(step) = advice.smooth_step {
        say!("  smooth DEM    would step {step:.1e} s, 1/{:.0} of this", settings.time_step / step);
    }
    if let Some(swing) = scenario.world.fastest_swing() {
        let (joint, body) =
            (&scenario.world.joints[swing.joint].name, &scenario.world.boundaries[swing.body as usize].name);
        say!("  joints        hold below {:.1e} s: `{joint}` pulls at `{body}`", swing.longest_substep());
        let cause = too_long_for_joints(&scenario.world, settings.substep());
        cause.iter().for_each(|cause| say!("warning: {cause}"));
    }
    if let Some(message) = advice.message() {
        say!("  advice        {message}");
    }
}

/// Comparison of the time step with the expected motion.
#[derive(Debug, Clone, PartialEq)]
struct Advice {
    /// Largest expected speed \[m/s\]: of a grain (its speed at the start or when emitted, and the gain of a fall from the
    /// highest to the lowest point of the scene), or of a boundary.
    fastest: f64,
    /// Name of the fastest object.
    of: String,
    /// Distance at this speed in a time step \[m\].
    travel: f64,
    /// Gap up to which contacts of the smallest grains are solved \[m\]; infinite without grains.
    margin: f64,
    /// Radius of the smallest grains \[m\]; infinite without grains.
    radius: f64,
    /// Time step that a smooth DEM code would take \[s\].
    smooth_step: Option<f64>,
}

impl Advice {
    fn on(scenario: &Scenario) -> Advice {
        let settings = &scenario.settings;
        let (fastest, of) = fastest(scenario);
        let smallest = smallest_radius(scenario).unwrap_or(f64::INFINITY);
        Advice {
            fastest,
            of,
            travel: fastest * settings.time_step,
            margin: settings.reach() * 2.0 * smallest,
            radius: smallest,
            smooth_step: smooth_time_step(scenario),
        }
    }

    /// Advice, if the fastest grain outruns the contact search.
    fn message(&self) -> Option<String> {
        let per_step = |length: f64| format!("{:.1e}", length / self.fastest);
        if self.travel > self.radius {
            let step = per_step(self.radius);
            Some(format!(
                "the fastest grain goes farther than the smallest radius in a step, so it may enter or pass what it meets; \
                 with solver.time_step below {step} s it cannot"
            ))
        } else if self.travel > self.margin {
            let step = per_step(self.margin);
            Some(format!(
                "the fastest grain goes farther than the skin of the neighbour list in a step, so what it meets overlaps \
                 when it is first seen; with solver.time_step below {step} s it does not"
            ))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Form;
    use glam::{DQuat, DVec3};

    fn scenario(time_step: f64) -> Scenario {
        scenario_with(time_step, &[])
    }

    fn scenario_with(time_step: f64, overrides: &[String]) -> Scenario {
        let text = format!(
            r#"
            duration = 1.0
            gravity = [0, 0, -10]
            [solver]
            time_step = {time_step}
            [materials.glass]
            density = 2600.0
            youngs_modulus = 5e9
            poisson_ratio = 0.25
            restitution = 0.5
            friction = 0.5
            [[boundaries]]
            material = "glass"
            shape = {{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }}
            [[grains]]
            material = "glass"
            radius = {{ kind = "constant", value = 0.01 }}
            packing = {{ kind = "list", positions = [[0, 0, 1.25]] }}
            "#
        );
        Scenario::parse("fall", &text, std::path::Path::new(""), overrides).expect("a valid scenario")
    }

    #[test]
    fn a_fall_to_the_floor_gives_the_fastest_speed() {
        // √(2 · 10 · 1.25) = 5 m/s, over 1 ms 5 mm; margin 0.1 of 20 mm.
        let advice = Advice::on(&scenario(1e-3));
        approx::assert_relative_eq!(advice.fastest, 5.0, max_relative = 1e-12);
        approx::assert_relative_eq!(advice.travel, 5e-3, max_relative = 1e-12);
        approx::assert_relative_eq!(advice.margin, 2e-3, max_relative = 1e-12);
    }

    #[test]
    fn advice_is_given_when_the_fall_outruns_the_margin_and_more_when_it_outruns_the_grain() {
        let message = |time_step| Advice::on(&scenario(time_step)).message().unwrap_or_default();
        assert_eq!(message(3e-4), "");
        assert!(
            message(1e-3).contains("skin of the neighbour list") && message(1e-3).contains("below 4.0e-4 s")
        );
        assert!(
            message(3e-3).contains("farther than the smallest radius")
                && message(3e-3).contains("below 2.0e-3 s")
        );
    }

    #[test]
    fn advice_is_for_the_smallest_grains_of_the_start_and_of_emitters_and_for_none_without_grains() {
        let small = r#"emitters=[{ name = "jet", material = "glass", radius = { kind = "constant", value = 0.001 },
            region = { kind = "sphere", centre = [0, 0, 1], radius = 0.1 }, total = 1 }]"#;
        let with_small = Advice::on(&scenario_with(1e-3, &[small.into()]));
        approx::assert_relative_eq!(with_small.radius, 1e-3, max_relative = 1e-12);
        approx::assert_relative_eq!(with_small.margin, 2e-4, max_relative = 1e-12);
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/validation/free_rotation.toml");
        let body = Scenario::load(std::path::Path::new(file), &[]).expect("a valid scenario");
        let without = Advice::on(&body);
        assert!(without.fastest > 0.0 && without.message().is_none(), "{without:?}");
    }

    #[test]
    fn grains_that_start_in_a_sink_are_counted() {
        let sink = |name: &str, height: f64| Sink {
            name: name.into(),
            bins: Vec::new(),
            form: Form::Plane,
            position: height * DVec3::Z,
            orientation: DQuat::IDENTITY,
        };
        let mut world = scenario(1e-3).world;
        world.sinks = vec![sink("spill", -1.0), sink("outlet", 2.0)];
        assert_eq!(in_sinks(&world), ["1 of 1 grains start in sink `outlet`"]);
    }
}
