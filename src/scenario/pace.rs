//! Estimates of the largest speed in a scenario, and the time step that the smooth method needs.

use std::collections::BTreeSet;

use glam::DVec3;

use crate::law::normal::{HOOKE_OVERLAP, NormalLaw};
use crate::law::pair::{Material, PairLaw};
use crate::model::plane::grain_volume;
use crate::model::{Boundary, Joint, JointKind, MaterialId, Motion, Sphere, World};
use crate::observe::packing::up_against;
use crate::sources::Emitter;

use super::Scenario;

/// Returns the largest speed to be expected \[m/s\], and the name of the grain, boundary or joint that reaches it.
pub fn fastest(scenario: &Scenario) -> (f64, String) {
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
    // Of equal speeds the first wins: a grain.
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

/// Largest speed that a boundary reaches \[m/s\]. In a rotation the speed grows with the distance from the axis: the estimate takes the
/// distance of the farthest corner of the boundary, but no more than that of the farthest grain. Several motions add up.
fn speed_of(body: usize, motion: &Motion, world: &World) -> f64 {
    let reach = |point: DVec3, axis: DVec3| {
        let grains = world.spheres.iter().map(|sphere| &world.bodies.position[sphere.body as usize]);
        let boxes = world.surface_boxes();
        let own = boxes.iter().filter(|around| around.body() == body);
        let farthest = own.map(|around| around.reach_from(world, point, axis)).fold(0.0, f64::max);
        grains.map(|centre| axis.cross(*centre - point).length()).fold(0.0, f64::max).min(farthest)
    };
    match motion {
        Motion::Fixed => 0.0,
        Motion::Belt(velocity) => velocity.length(),
        Motion::Dynamic(body) => body.velocity.length(),
        Motion::Kinematic(parts) => parts.iter().map(|part| part.law.top_speed(reach)).sum(),
    }
}

/// Radius of the smallest grain of the initial state or of an emitter \[m\]; `None` without grains.
pub fn smallest_radius(scenario: &Scenario) -> Option<f64> {
    kinds(&scenario.world, &scenario.emitters).iter().map(|kind| kind.least).min_by(f64::total_cmp)
}

/// Grains of one material.
#[derive(Clone, Copy)]
pub struct GrainKind {
    /// Material.
    pub material: MaterialId,
    /// Smallest radius \[m\].
    pub least: f64,
    /// Largest radius \[m\].
    pub largest: f64,
    /// Smallest density \[kg/m³\].
    pub density: f64,
    /// Whether there is only one, which meets none of its kind.
    pub is_alone: bool,
}

/// Grains of the initial state and of emitters, by material.
pub fn kinds(world: &World, emitters: &[Emitter]) -> Vec<GrainKind> {
    let mut kinds: Vec<Option<GrainKind>> = vec![None; world.materials.list.len()];
    let mut add = |new: GrainKind| {
        let known = &mut kinds[new.material as usize];
        *known = Some(known.map_or(new, |known| GrainKind {
            least: known.least.min(new.least),
            largest: known.largest.max(new.largest),
            density: known.density.min(new.density),
            is_alone: false,
            ..new
        }));
    };
    for (grain, parts) in world.grains.iter().enumerate() {
        let density = world.grain_density(grain);
        for &Sphere { material, radius, .. } in &world.spheres[parts.spheres()] {
            add(GrainKind { material, least: radius, largest: radius, density, is_alone: true });
        }
    }
    for emitter in emitters {
        let [least, largest] = [emitter.smallest_radius(), emitter.largest_radius()];
        let material = emitter.material();
        let density = world.materials.list[material as usize].density;
        add(GrainKind { material, least, largest, density, is_alone: false });
    }
    kinds.into_iter().flatten().collect()
}

/// Time step for the smooth method \[s\]: a fifth of the shortest Rayleigh time of a grain or a fiftieth of the shortest collision of
/// grains and boundaries, whichever is less; `None` without grains.
pub fn smooth_time_step(scenario: &Scenario) -> Option<f64> {
    let World { materials, surfaces, plane, .. } = &scenario.world;
    let kinds = kinds(&scenario.world, &scenario.emitters);
    let of = |kind: &GrainKind| &materials.list[kind.material as usize];
    let mass = |kind: &GrainKind| kind.density * grain_volume(*plane, kind.least);
    let waves =
        kinds.iter().map(|kind| SHARE_OF_RAYLEIGH_TIME * rayleigh_time(of(kind), kind.density, kind.least));

    let speed = fastest(scenario).0;
    let collision = |law: &PairLaw, mass: f64, radius: f64| {
        SHARE_OF_COLLISION * collision_time(scenario.settings.normal_law, law, mass, radius, speed)
    };
    let with_others = kinds.iter().enumerate().flat_map(|(i, a)| {
        let others = kinds[i..].iter().filter(|b| a.material != b.material || !a.is_alone);
        others.map(|b| {
            let [mass, radius] = [(mass(a), mass(b)), (a.least, b.least)].map(|(a, b)| a * b / (a + b));
            collision(materials.law(a.material, b.material), mass, radius)
        })
    });
    let walls: BTreeSet<MaterialId> = surfaces.iter().map(|surface| surface.material).collect();
    let with_walls = kinds
        .iter()
        .flat_map(|a| walls.iter().map(|&wall| collision(materials.law(a.material, wall), mass(a), a.least)));
    waves.chain(with_others).chain(with_walls).chain(bond_steps(&scenario.world)).min_by(f64::total_cmp)
}

/// Per bond the step that resolves its vibrations \[s\].
fn bond_steps(world: &World) -> impl Iterator<Item = f64> + '_ {
    world.bonds.list.iter().map(|bond| {
        let lightest = bond.bodies.map(|body| world.bodies.inverse_mass[body as usize]);
        SHARE_OF_BOND / (world.bonds.stiffness(bond).shift.x * lightest[0].max(lightest[1])).sqrt()
    })
}

/// Share of √(m/k) of a bond, of the lighter grain and along the beam, that a step may take \[-\]: a grain may have a dozen bonds.
const SHARE_OF_BOND: f64 = 0.3;

/// Share of the Rayleigh time that smooth DEM codes take as their time step \[-\].
const SHARE_OF_RAYLEIGH_TIME: f64 = 0.2;
/// Largest share of a collision time that a step may take \[-\]: restitutions are then right within a percent.
const SHARE_OF_COLLISION: f64 = 0.02;

/// Contact time of two bodies of the effective mass m* \[kg\] and radius R* \[m\] that collide at `speed` \[m/s\], in seconds: under
/// Hertz's law 2.943 (15 m*/(16 √R* E*))^(2/5) v^(-1/5), without damping; under Hooke's law π √(m*/k_n).
fn collision_time(normal_law: NormalLaw, pair: &PairLaw, mass: f64, radius: f64, speed: f64) -> f64 {
    let modulus = pair.effective_modulus;
    match normal_law {
        NormalLaw::Hertz => {
            let scale = 15.0 * mass / (16.0 * radius.sqrt() * modulus);
            2.943 * scale.powf(0.4) * speed.powf(-0.2)
        }
        NormalLaw::Hooke | NormalLaw::Rigid => {
            let stiffness = 4.0 / 3.0 * modulus * radius * HOOKE_OVERLAP.sqrt();
            std::f64::consts::PI * (mass / stiffness).sqrt()
        }
    }
}

/// Rayleigh time \[s\]: time that a Rayleigh wave takes around a grain of this density ρ \[kg/m³\] and radius r \[m\], π r √(ρ/G) / (0.1631
/// ν + 0.8766) with the shear modulus G = E / (2 (1 + ν)).
fn rayleigh_time(material: &Material, density: f64, radius: f64) -> f64 {
    let shear_modulus = material.youngs_modulus / (2.0 * (1.0 + material.poisson_ratio));
    let slowness = (density / shear_modulus).sqrt();
    std::f64::consts::PI * radius * slowness / (0.1631 * material.poisson_ratio + 0.8766)
}

#[cfg(all(test, feature = "scenario"))]
mod tests {
    use super::*;
    use crate::law::bond::BondLaw;
    use crate::model::MotionLaw;
    use crate::model::{Grain, Materials, sphere_volume};

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
    fn the_rayleigh_time_of_glass_is_that_of_the_textbook() {
        // G = 2e9 Pa: π · 0.01 · √(2600 / 2e9) / (0.1631 · 0.25 + 0.8766) = 39.05 µs
        let scenario = scenario_with(1e-3, &[]);
        let time = rayleigh_time(&scenario.world.materials.list[0], 2600.0, 0.01);
        let expected = std::f64::consts::PI * 0.01 * 1.3e-6f64.sqrt() / 0.917_375;
        approx::assert_relative_eq!(time, expected, max_relative = 1e-12);
        approx::assert_relative_eq!(time, 3.905e-5, max_relative = 1e-3);
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
        let table = Motion::of(MotionLaw::Table {
            times: vec![0.0, 1.0, 1.5],
            displacements: vec![DVec3::ZERO, DVec3::X, DVec3::X + 2.0 * DVec3::Z],
            point: DVec3::ZERO,
            rotations: Vec::new(),
        });
        assert_eq!(speed_of(0, &table, &world), 4.0);
        let law = MotionLaw::Oscillation { amplitude: 0.5 * DVec3::Z, frequency: 2.0, phase: 0.0 };
        let shaker = Motion::of(law);
        approx::assert_relative_eq!(
            speed_of(0, &shaker, &world),
            std::f64::consts::TAU,
            max_relative = 1e-12
        );
    }

    /// Duration of an impact under Hertz's law \[s\]: 2.87 (m*² / (R* E*² v))^(1/5).
    fn hertz(mass: f64, radius: f64, modulus: f64, speed: f64) -> f64 {
        2.87 * (mass * mass / (radius * modulus * modulus * speed)).powf(0.2)
    }

    /// Glass as above, E* = 5e9/(2 (1 - 0.25²)) Pa, meets the floor at 5 m/s with m* = 10.9 g and R* = 10 mm for 42.5 µs, of which a
    /// fiftieth is 0.85 µs; a fifth of the Rayleigh time is 7.8 µs. Two grains meet for 37.0 µs.
    #[test]
    fn the_smooth_step_is_the_least_of_wave_and_collision() {
        let mut scenario = scenario_with(1e-3, &[]);
        let [mass, modulus] = [2600.0 * sphere_volume(0.01), 5e9 / (2.0 * 0.9375)];
        let step = smooth_time_step(&scenario).expect("grains");
        approx::assert_relative_eq!(step, 0.02 * hertz(mass, 0.01, modulus, 5.0), max_relative = 1e-3);
        scenario.world.add_grains([Grain::at(DVec3::new(1.0, 0.0, 1.25), 0.01, 0)]);
        let step = smooth_time_step(&scenario).expect("grains");
        approx::assert_relative_eq!(step, 0.02 * hertz(0.5 * mass, 0.005, modulus, 5.0), max_relative = 1e-3);
        let slow = scenario_with(1e-3, &["gravity=[0, 0, -1e-9]".into()]);
        let wave = 0.2 * rayleigh_time(&slow.world.materials.list[0], 2600.0, 0.01);
        approx::assert_relative_eq!(smooth_time_step(&slow).expect("grains"), wave, max_relative = 1e-12);
    }

    /// The shortest collision of a grain of glass and a single steel ball ten times as large is that of the two. Steel grains as small as
    /// the glass, which are not there, would ask for less than half of the step.
    #[test]
    fn the_smooth_step_is_that_of_grains_that_are_there_and_meet() {
        let mut scenario = scenario_with(1e-3, &[]);
        let glass = scenario.world.materials.list[0].clone();
        let steel = Material {
            name: "steel".into(),
            density: 7800.0,
            youngs_modulus: 210e9,
            poisson_ratio: 0.3,
            ..glass.clone()
        };
        let modulus = |a, b| PairLaw::mixed(a, b).effective_modulus;
        let (of_steel, of_both) = (modulus(&steel, &steel), modulus(&glass, &steel));
        scenario.world.materials = Materials::new(vec![glass, steel]);
        scenario.world.add_grains([Grain::at(DVec3::new(1.0, 0.0, 0.5), 0.1, 1)]);
        let speed = fastest(&scenario).0;
        let [grain, ball] = [2600.0 * sphere_volume(0.01), 7800.0 * sphere_volume(0.1)];
        let together = hertz(grain * ball / (grain + ball), 0.1 / 11.0, of_both, speed);
        let step = smooth_time_step(&scenario).expect("grains");
        approx::assert_relative_eq!(step, 0.02 * together, max_relative = 1e-3);
        let small_steel = hertz(0.5 * 7800.0 * sphere_volume(0.01), 0.005, of_steel, speed);
        assert!(small_steel < 0.5 * together, "{small_steel} s of {together} s");
    }
    /// Two grains of 10.9 g with a bond of 1e12 N/m: 0.3 √(m/k) = 31 ns.
    #[test]
    fn the_smooth_step_resolves_bonds() {
        let mut scenario = scenario_with(1e-3, &[]);
        let world = &mut scenario.world;
        world.add_grains([Grain::at(DVec3::new(1.0, 0.0, 1.25), 0.01, 0)]);
        world.bonds.laws.push(BondLaw {
            youngs_modulus: 1e12 * 0.02 / (std::f64::consts::PI * 1e-4),
            poisson_ratio: 0.25,
            radius_factor: 1.0,
            tensile_strength: f64::INFINITY,
            cohesion: f64::INFINITY,
            friction: 0.0,
            damping_ratio: 0.0,
        });
        let bodies = [0, 1].map(|grain: usize| world.grain_body(grain) as u32);
        let bond = world.bond_between(0, bodies, [DVec3::ZERO, 0.02 * DVec3::X], 0.01);
        world.add_bond(bond);
        let expected = 0.3 * (2600.0 * sphere_volume(0.01) / 1e12).sqrt();
        let step = smooth_time_step(&scenario).expect("grains");
        approx::assert_relative_eq!(step, expected, max_relative = 1e-9);
    }
}
