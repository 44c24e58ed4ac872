//! A row of dominoes: the speed of its wave against a model of its mechanics.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::Engine;
use esker::law::normal::NormalLaw;
use esker::law::pair::PairLaw;
use esker::model::{Boundary, Form, Materials, Motion, Solid, Surface, World};
use esker::settings::Settings;
use glam::{DQuat, DVec3};

const GRAVITY: f64 = 9.81;
const COUNT: usize = 18;

/// A domino of this height and thickness, and the gap between two of them \[m\].
struct Row {
    height: f64,
    thickness: f64,
    gap: f64,
}

const ROW: Row = Row { height: 0.24, thickness: 0.045, gap: 0.1 };

/// Fallen dominoes that lean on each other without friction and turn about their front edges, which do not slip: one degree of freedom, the
/// angle of the first upright one, until that meets the next without a bounce (J. M. J. van Leeuwen, Am. J. Phys. 78, 721 (2010)).
impl Row {
    /// Angles \[rad\] of the first of the falling ones, turned by `angle`, and of those behind it, with their rates over that of the first.
    fn leaning(&self, angle: f64, count: usize) -> Vec<(f64, f64)> {
        let pitch = self.gap + self.thickness;
        // Its top is on the back of the one before: h sin(θ - θ') = p cos θ' - d.
        let behind = |&(before, rate): &(f64, f64)| {
            let sine = (pitch * f64::cos(before) - self.thickness) / self.height;
            let slope = 1.0 - pitch * before.sin() / (self.height * (1.0 - sine * sine).sqrt());
            Some((before + sine.asin(), rate * slope))
        };
        std::iter::successors(Some((angle, 1.0)), behind).take(count).collect()
    }

    /// Moment of inertia over the mass, seen from the first one, and potential energy over the mass.
    fn inertia_and_potential(&self, leaning: &[(f64, f64)]) -> (f64, f64) {
        let (h, d) = (self.height, self.thickness);
        let about_edge = (h * h + d * d) / 3.0;
        let of = |&(angle, rate): &(f64, f64)| {
            (about_edge * rate * rate, 0.5 * GRAVITY * (h * angle.cos() + d * angle.sin()))
        };
        leaning.iter().map(of).fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Speed of the wave far from the start of the row \[m/s\].
    fn speed(&self) -> f64 {
        const ANGLES: u32 = 400;
        let meeting = (self.gap / self.height).asin();
        let (mut spin, mut speed) = (2.0, 0.0);
        for count in 1..30 {
            let count = count.min(25);
            let (inertia, potential) = self.inertia_and_potential(&self.leaning(0.0, count));
            let energy = 0.5 * inertia * spin * spin + potential;
            let spin_at = |angle: f64| {
                let (inertia, potential) = self.inertia_and_potential(&self.leaning(angle, count));
                (2.0 * (energy - potential) / inertia).sqrt()
            };
            let part = meeting / f64::from(ANGLES);
            let duration: f64 = (0..ANGLES).map(|i| part / spin_at(part * (f64::from(i) + 0.5))).sum();
            speed = (self.gap + self.thickness) / duration;
            // Momentum along the motion that is left once the next one is met.
            let (before, after) = (self.leaning(meeting, count), self.leaning(0.0, count + 1));
            let kept: f64 = before.iter().zip(&after[1..]).map(|(before, after)| before.1 * after.1).sum();
            spin = spin_at(meeting) * kept / after.iter().map(|(_, rate)| rate * rate).sum::<f64>();
        }
        speed
    }
}

/// The row on a floor that holds its feet, the first domino turning, with this friction from domino to domino.
fn row(friction: f64) -> World {
    let mut materials = stone(friction, 0.0).list;
    materials[0].youngs_modulus = 1e10;
    materials.push(materials[0].clone());
    let mut materials = Materials::new(materials);
    let of_feet = PairLaw { friction: 10.0, ..*materials.law(0, 1) };
    materials.set_law(0, 1, of_feet);
    let mut world = World::new(-GRAVITY * DVec3::Z, materials);
    world.add_boundary(fixed("floor"), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 1)]);
    let form = Form::Box { half: 0.5 * DVec3::new(ROW.thickness, 0.1, ROW.height) };
    for i in 0..COUNT {
        let position = DVec3::new((ROW.gap + ROW.thickness) * i as f64, 0.0, 0.5 * ROW.height);
        let motion = Motion::Dynamic(Solid::of(form).unwrap().body(2500.0).0);
        let boundary =
            Boundary { name: format!("domino {i}"), position, orientation: DQuat::IDENTITY, motion };
        world.add_boundary(boundary, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0)]);
    }
    // About its front edge.
    let spin = 2.0 * DVec3::Y;
    world.bodies.angular_velocity[1] = spin;
    world.bodies.velocity[1] = spin.cross(DVec3::new(-0.5 * ROW.thickness, 0.0, 0.5 * ROW.height));
    world
}

/// Speed of the wave from one domino to another on an engine \[m/s\].
fn speed_on(engine: &mut dyn Engine, time_step: f64, [from, to]: [usize; 2]) -> f64 {
    const LOOK: u64 = 5;
    let has_begun = |world: &World, domino: usize| {
        let start = (ROW.gap + ROW.thickness) * domino as f64;
        world.bodies.position[1 + domino].x - start > 1e-3 * ROW.height
    };
    let (mut left, mut steps) = (None, 0);
    while steps < 40_000 {
        engine.advance(LOOK).unwrap();
        steps += LOOK;
        let world = engine.snapshot().unwrap().world;
        if left.is_none() && has_begun(&world, from) {
            left = Some(steps);
        }
        if let Some(left) = left.filter(|_| has_begun(&world, to)) {
            let duration = (steps - left) as f64 * time_step;
            return (to - from) as f64 * (ROW.gap + ROW.thickness) / duration;
        }
    }
    panic!("the wave ends before domino {to}");
}

fn settings() -> Settings {
    Settings { time_step: 5e-4, iterations: 100, normal_law: NormalLaw::Rigid, ..Settings::default() }
}

/// A step of 0.5 ms is a hundredth of the time from one domino to the next; looks are 2.5 ms apart, 0.6 % of the time over eight of them.
#[test]
fn the_wave_of_dominoes_has_the_speed_of_the_model() {
    let expected = ROW.speed();
    // 1.723 √(g h); as a check of the model itself.
    assert!((expected / (GRAVITY * ROW.height).sqrt() - 1.7233).abs() < 1e-3, "{expected} m/s");
    let found = speed_on(&mut cpu(&row(0.0), &settings()), settings().time_step, [8, 16]);
    assert!((found / expected - 1.0).abs() < 0.03, "{found} m/s and {expected} m/s");
    // Counter-check: friction from domino to domino slows the wave down.
    let rough = speed_on(&mut cpu(&row(0.4), &settings()), settings().time_step, [8, 16]);
    assert!(rough / expected < 0.92, "{rough} m/s with friction, {expected} m/s without");
}

#[test]
#[ignore = "long; in short: dominoes::the_wave_of_dominoes_has_the_speed_of_the_model, masonry::a_cube_balances_on_its_edge_and_falls_as_an_inverted_pendulum"]
fn the_wave_of_dominoes_has_the_speed_of_the_model_on_the_gpu() {
    let found = speed_on(&mut gpu(&row(0.0), &settings()), settings().time_step, [8, 16]);
    let expected = ROW.speed();
    assert!((found / expected - 1.0).abs() < 0.03, "{found} m/s and {expected} m/s");
}
