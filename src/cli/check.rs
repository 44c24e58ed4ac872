//! `esker check`: whether a scenario is valid, what it amounts to and whether its step suits it.

use std::path::PathBuf;

use glam::DVec3;

use crate::engine::prudent;
use crate::model::joint::freedom::Freedom;
use crate::model::mesh::Defects;
use crate::model::{
    Boundary, Domain, Joint, JointKind, Material, Mesh, Motion, Outside, Periodic, Sink, World,
};
use crate::observe::packing::up_against;
use crate::scenario::Scenario;
use crate::settings::WIDE_CONE;
use crate::simulation::device::check_for_gpu;
use crate::simulation::steps_until;
use crate::sources::Emitter;

use super::terminal::say;
use super::{Failure, Outcome, memory, short};

/// Share of the Rayleigh time that smooth DEM codes take as their step \[-\].
const SHARE_OF_RAYLEIGH_TIME: f64 = 0.2;

/// Arguments of `esker check`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Scenario file.
    file: PathBuf,
    /// Change a value of the scenario, such as solver.iterations=100; may be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

/// Checks a scenario and prints what it amounts to.
pub(super) fn check(arguments: &Arguments) -> Result<Outcome, Failure> {
    let scenario = Scenario::load(&arguments.file, &arguments.overrides)?;
    say!("{}", scenario.title);
    print_counts(&scenario);
    print_materials(&scenario.world);
    print_time_step(&scenario);
    if prudent(&scenario.settings, &scenario.world) != scenario.settings {
        let cause = format!("a coefficient of friction or rolling resistance is above {WIDE_CONE}");
        say!("warning: {cause}: sweeps are plain, not accelerated");
    }
    in_sinks(&scenario.world).iter().for_each(|warning| say!("warning: {warning}"));
    if let Err(error) = check_for_gpu(&scenario) {
        say!("warning: on a GPU this is refused: {error}");
    }
    Ok(Outcome::Done)
}

fn print_counts(scenario: &Scenario) {
    let (world, most) = (&scenario.world, scenario.max_grains());
    say!("  grains        {} at the start, at most {most}", world.grain_count());
    for clump in &world.clumps {
        let (spheres, radius) = (clump.spheres.len(), short(clump.equivalent_radius()));
        say!("  clump         {}: {spheres} spheres, as much as one of radius {radius} m", clump.name);
    }
    say!("  boundaries    {} with {} surfaces", world.boundaries.len(), world.surface_groups().count());
    world.meshes.list().iter().for_each(|mesh| print_mesh(mesh));
    world.machines_and_freedom().iter().for_each(|machine| print_machine(world, machine));
    say!("  emitters      {}", scenario.emitters.len());
    say!("  sinks         {}", list_of(world.sinks.iter().map(|sink| sink.name.as_str())));
    say!("  regions       {}", list_of(scenario.regions.iter().map(|region| region.name.as_str())));
    say!("  expectations  {}", scenario.expectations.len());
    print_period(&world.periodic);
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
    for defect in mesh.defects.in_words() {
        say!("                {defect}");
    }
    if mesh.defects == Defects::default() {
        say!("                closed, {} m3", short(mesh.solid().volume));
    }
}

/// A machine: its bodies and joints, what it weighs, and what its joints leave free.
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

/// How many there are, and their names: `2 (left, right)`.
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

/// Complaints about sinks that grains start in: they are removed at once.
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
        }
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
    say!("  work          {} sweeps x {} substeps, at most", settings.iterations, settings.substeps);
    say!("  fastest       {:.2} m/s, {}", advice.fastest, advice.of);
    say!("  per step      {:.2e} m; skin {:.2e} m", advice.travel, advice.margin);
    if let Some(step) = advice.smooth_step {
        say!("  smooth DEM    would step {step:.1e} s, 1/{:.0} of this", settings.time_step / step);
    }
    if let Some(message) = advice.message() {
        say!("  advice        {message}");
    }
}

/// How the step compares with the motion to be expected.
#[derive(Debug, Clone, PartialEq)]
struct Advice {
    /// Fastest speed to be expected \[m/s\]: that of a grain, its own at the start or when it is emitted and what it gains
    /// by falling from the highest to the lowest point of the scene, or that of a boundary.
    fastest: f64,
    /// What has it, in words.
    of: String,
    /// What that is per step \[m\].
    travel: f64,
    /// Gap up to which contacts of the smallest grains are solved \[m\].
    margin: f64,
    /// Radius of the smallest grains \[m\].
    radius: f64,
    /// Step that a smooth DEM code would take \[s\].
    smooth_step: Option<f64>,
}

impl Advice {
    fn on(scenario: &Scenario) -> Advice {
        let settings = &scenario.settings;
        let (fastest, of) = fastest(scenario);
        let smallest = smallest_radius(scenario);
        let times = grain_materials(scenario).map(|material| rayleigh_time(material, smallest));
        let shortest = times.fold(f64::INFINITY, f64::min);
        Advice {
            fastest,
            of,
            travel: fastest * settings.time_step,
            margin: settings.reach() * 2.0 * smallest,
            radius: smallest,
            smooth_step: shortest.is_finite().then_some(SHARE_OF_RAYLEIGH_TIME * shortest),
        }
    }

    /// What to change, if the fastest grain outruns the contact search.
    fn message(&self) -> Option<String> {
        let per_step = |length: f64| format!("{:.1e}", length / self.fastest);
        if self.travel > self.radius {
            let step = per_step(self.radius);
            Some(format!(
                "that is more than the radius of a grain per step, so one may enter or pass what it meets; \
                 with solver.time_step below {step} s it cannot"
            ))
        } else if self.travel > self.margin {
            let step = per_step(self.margin);
            Some(format!(
                "that crosses the margin within a step, so what meets overlaps when it is first seen; \
                 with solver.time_step below {step} s it does not"
            ))
        } else {
            None
        }
    }
}

/// The fastest speed to be expected \[m/s\], and of what.
fn fastest(scenario: &Scenario) -> (f64, String) {
    let world = &scenario.world;
    let gained = 2.0 * world.gravity.length() * fall(scenario);
    let falls = if gained > 0.0 { "if it falls from the top to the bottom" } else { "as it starts" };
    let own = (0..world.grain_count()).map(|i| world.bodies.velocity[world.grain_body(i)].length());
    let grains =
        own.max_by(f64::total_cmp).map(|speed| (speed.hypot(gained.sqrt()), format!("of a grain, {falls}")));
    let emitted = scenario.emitters.iter().map(|emitter| {
        let speed = emitter.velocity().length().hypot(gained.sqrt());
        (speed, format!("of a grain from `{}`, {falls}", emitter.name()))
    });
    let boundary = |(body, boundary): (usize, &Boundary)| {
        (speed_of(body, &boundary.motion, world), format!("of boundary `{}`", boundary.name))
    };
    let joint = |joint: &Joint| {
        let speed = joint.drives.iter().map(|(_, drive)| drive.top_speed()).fold(0.0, f64::max);
        (if joint.kind == JointKind::Hinge { 0.0 } else { speed }, format!("of joint `{}`", joint.name))
    };
    let boundaries = world.boundaries.iter().enumerate().map(boundary).chain(world.joints.iter().map(joint));
    let all = grains.into_iter().chain(emitted).chain(boundaries);
    // Of equal ones the first, which is a grain.
    all.reduce(|best, next| if next.0 > best.0 { next } else { best }).unwrap_or_default()
}

/// Height from the highest grain or emitter to the lowest grain or boundary \[m\].
fn fall(scenario: &Scenario) -> f64 {
    let world = &scenario.world;
    let up = up_against(world.gravity);
    let position = |body: u32| world.bodies.position[body as usize];
    let grains = world.spheres.iter().map(|sphere| position(sphere.body).dot(up));
    let regions = scenario.emitters.iter().map(Emitter::bounds);
    let corners = regions.flat_map(|(min, max)| [min.dot(up), max.dot(up)]);
    let surfaces = world.surfaces.iter().map(|surface| (position(surface.body) + surface.position).dot(up));
    let highest = grains.clone().chain(corners.clone()).fold(f64::NEG_INFINITY, f64::max);
    let lowest = grains.chain(corners).chain(surfaces).fold(f64::INFINITY, f64::min);
    (highest - lowest).max(0.0)
}

/// Speed that a boundary reaches \[m/s\]. In a rotation it grows with the distance from the axis: up to that of the farthest corner of the
/// boundary, and no farther than the farthest grain.
fn speed_of(body: usize, motion: &Motion, world: &World) -> f64 {
    match motion {
        Motion::Fixed => 0.0,
        Motion::Velocity(velocity) | Motion::Belt(velocity) => velocity.length(),
        Motion::Dynamic(body) => body.velocity.length(),
        Motion::Rotation { point, rate, .. } => {
            let speed = |centre: &DVec3| rate.cross(*centre - *point).length();
            let grains = world.spheres.iter().map(|sphere| &world.bodies.position[sphere.body as usize]);
            let axis = rate.normalize_or_zero();
            let boxes = world.surface_boxes();
            let own = boxes.iter().filter(|around| around.body() == body);
            let reach = own.map(|around| around.reach_from(world, *point, axis)).fold(0.0, f64::max);
            grains.map(speed).fold(0.0, f64::max).min(rate.length() * reach)
        }
        Motion::Oscillation { amplitude, frequency, .. } => {
            std::f64::consts::TAU * frequency * amplitude.length()
        }
        Motion::Table { times, displacements } => {
            let legs = times.windows(2).zip(displacements.windows(2));
            legs.map(|(t, x)| x[0].distance(x[1]) / (t[1] - t[0])).fold(0.0, f64::max)
        }
    }
}

/// Radius of the smallest grain of the initial state, else of the largest an emitter makes \[m\].
fn smallest_radius(scenario: &Scenario) -> f64 {
    let smallest = scenario.world.spheres.iter().map(|sphere| sphere.radius).fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { smallest } else { scenario.largest_radius() }
}

fn grain_materials(scenario: &Scenario) -> impl Iterator<Item = &Material> {
    let world = &scenario.world;
    let mut used: Vec<usize> = world.spheres.iter().map(|sphere| sphere.material as usize).collect();
    used.extend(scenario.emitters.iter().map(|emitter| emitter.material() as usize));
    used.sort_unstable();
    used.dedup();
    used.into_iter().map(|material| &world.materials.list[material])
}

/// Time that a Rayleigh wave takes around a grain, π r √(ρ/G) / (0.1631 ν + 0.8766) with the shear modulus
/// G = E / (2 (1 + ν)) \[s\].
fn rayleigh_time(material: &Material, radius: f64) -> f64 {
    let shear_modulus = material.youngs_modulus / (2.0 * (1.0 + material.poisson_ratio));
    let slowness = (material.density / shear_modulus).sqrt();
    std::f64::consts::PI * radius * slowness / (0.1631 * material.poisson_ratio + 0.8766)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Form;
    use glam::DQuat;

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
    fn a_grain_that_an_emitter_throws_can_be_the_fastest() {
        let thrown = |velocity: &str| {
            let text = format!(
                "emitters=[{{ name = \"jet\", material = \"glass\", radius = {{ kind = \"constant\", value = 0.01 }}, \
                 region = {{ kind = \"sphere\", centre = [0, 0, 1], radius = 0.1 }}, total = 1, velocity = {velocity} }}]"
            );
            fastest(&scenario_with(1e-3, &[text]))
        };
        let (speed, of) = thrown("[12, 0, 0]");
        // It may fall from 1.25 m, where a grain starts, as well: √(12² + 5²).
        approx::assert_relative_eq!(speed, 13.0, max_relative = 1e-12);
        assert!(of.contains("`jet`"), "{of}");
        assert!(thrown("[0, 0, 0]").1.starts_with("of a grain, if it falls"));
    }

    #[test]
    fn advice_is_given_when_the_fall_outruns_the_margin_and_more_when_it_outruns_the_grain() {
        let message = |time_step| Advice::on(&scenario(time_step)).message().unwrap_or_default();
        assert_eq!(message(3e-4), "");
        assert!(message(1e-3).contains("crosses the margin") && message(1e-3).contains("below 4.0e-4 s"));
        assert!(message(3e-3).contains("more than the radius") && message(3e-3).contains("below 2.0e-3 s"));
    }

    #[test]
    fn the_rayleigh_time_of_glass_is_that_of_the_textbook() {
        // G = 2e9 Pa: π · 0.01 · √(2600 / 2e9) / (0.1631 · 0.25 + 0.8766) = 39.05 µs
        let scenario = scenario(1e-3);
        let time = rayleigh_time(&scenario.world.materials.list[0], 0.01);
        let expected = std::f64::consts::PI * 0.01 * 1.3e-6f64.sqrt() / 0.917_375;
        approx::assert_relative_eq!(time, expected, max_relative = 1e-12);
        approx::assert_relative_eq!(time, 3.905e-5, max_relative = 1e-3);
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

    #[test]
    fn a_roller_is_as_fast_as_its_surface_and_a_turning_plane_as_the_farthest_grain() {
        let speed = |shape: &str| {
            let text = format!(
                "boundaries=[{{ name = \"roller\", material = \"glass\", shape = {shape}, \
                 motion = {{ kind = \"rotation\", point = [0, 0, 0], axis = [1, 0, 0], rate = 10 }} }}]"
            );
            let world = scenario_with(1e-3, &[text]).world;
            speed_of(0, &world.boundaries[0].motion, &world)
        };
        let roller =
            speed("{ kind = \"cylinder\", base = [0, 0, 0], axis = [1, 0, 0], length = 0.1, radius = 0.02 }");
        // A corner of the box around it is √2 times as far away.
        approx::assert_relative_eq!(roller, 10.0 * 0.02 * 2.0f64.sqrt(), max_relative = 1e-12);
        assert!(speed("{ kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }") > 2.0 * roller);
    }

    #[test]
    fn a_driven_boundary_can_be_the_fastest() {
        let world = World::default();
        let table = Motion::Table {
            times: vec![0.0, 1.0, 1.5],
            displacements: vec![DVec3::ZERO, DVec3::X, DVec3::X + 2.0 * DVec3::Z],
        };
        assert_eq!(speed_of(0, &table, &world), 4.0);
        let shaker = Motion::Oscillation { amplitude: 0.5 * DVec3::Z, frequency: 2.0, phase: 0.0 };
        approx::assert_relative_eq!(
            speed_of(0, &shaker, &world),
            std::f64::consts::TAU,
            max_relative = 1e-12
        );
    }
}
