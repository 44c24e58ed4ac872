//! Cost of double precision and colours: a sweep of the CPU engine beside a plain loop in single precision.
//!
//! `cargo bench --bench plain_loop` prints a table in Markdown: nanoseconds per contact and sweep in settled beds. The plain loop is
//! projected Gauss-Seidel as one writes it down: a list of contacts, a list of bodies, one contact after the other in the order of the
//! keys, on one core. Both solve the same contacts from the same start.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench talks to its user and may fail loudly")]

mod common;

use std::hint::black_box;
use std::time::Instant;

use common::Step;
use esker::bench::report::Sample;
use esker::contact::constraint::Constraint;
use esker::contact::joints::Joints;
use esker::contact::problem::ContactProblem;
use esker::contact::solver::{Limits, Solver};
use esker::contact::velocity::Velocity;
use esker::cpu::BYTES_PER_CONTACT_SWEEP;
use esker::cpu::sweep::ProjectedGaussSeidel;
use glam::Vec3;
use rayon::ThreadPool;

const GRAINS: [u32; 2] = [10_000, 100_000];
const SWEEPS: u32 = 20;
const BLOCKS: usize = 9;

fn main() {
    let cores = std::thread::available_parallelism().unwrap().get();
    let plain = size_of::<Contact>() + size_of::<Contact>() + 4 * size_of::<Body>();
    println!("{SWEEPS} sweeps from the same start; medians of {BLOCKS} blocks in turn.");
    println!(
        "A contact-sweep moves {BYTES_PER_CONTACT_SWEEP} bytes in the engine, {plain} in the plain loop.\n"
    );
    println!(
        "| grains | contacts | plain, f32 [ns] | engine, f64, 1 core [ns] | over plain | {cores} cores [ns] | speed-up |"
    );
    println!("|---|---|---|---|---|---|---|");
    for grains in GRAINS {
        let step = Step::of_bed(grains);
        let [plain, one, all] = race(&step, cores);
        println!(
            "| {grains} | {} | {plain:.1} | {one:.1} | {:.2} | {all:.1} | {:.2} |",
            step.keys.len(),
            one / plain,
            one / all
        );
    }
}

/// Nanoseconds per contact-sweep of the plain loop and of the engine on one core and on all.
fn race(step: &Step, cores: usize) -> [f64; 3] {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let pools = [pool(1), pool(cores)];
    let start = Plain::new(step);
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..BLOCKS {
        let mut plain = start.clone();
        times[0].push(timed(step, || (0..SWEEPS).for_each(|_| plain.sweep())));
        black_box(plain);
        for (pool, times) in pools.iter().zip(&mut times[1..]) {
            times.push(engine(step, pool));
        }
    }
    times.map(|times| Sample::of(times).median)
}

fn engine(step: &Step, pool: &ThreadPool) -> f64 {
    let (mut split, mut constraints, mut velocities) =
        (step.split.clone(), step.constraints.clone(), step.velocities.clone());
    let time = pool.install(|| {
        timed(step, || {
            let mut joints = Joints::default();
            let mut problem = ContactProblem::new(
                &step.colouring,
                &mut split,
                &mut constraints,
                &mut velocities,
                &mut joints,
            );
            let limits = Limits::sweeps(SWEEPS);
            ProjectedGaussSeidel::plain(&esker::settings::Settings::default()).solve(
                &mut problem,
                limits,
                None,
            );
        })
    });
    black_box((constraints, velocities));
    time
}

fn timed(step: &Step, sweeps: impl FnOnce()) -> f64 {
    let start = Instant::now();
    sweeps();
    start.elapsed().as_secs_f64() * 1e9 / f64::from(SWEEPS) / step.keys.len() as f64
}

#[derive(Clone)]
struct Plain {
    contacts: Vec<Contact>,
    bodies: Vec<Body>,
}

#[derive(Clone, Copy)]
struct Contact {
    a: u32,
    b: u32,
    normal: Vec3,
    arm_a: Vec3,
    arm_b: Vec3,
    effective_mass: [f32; 3],
    compliance: f32,
    bias: f32,
    friction: f32,
    rolling_arm: f32,
    normal_impulse: f32,
    tangent_impulse: Vec3,
    rolling_impulse: Vec3,
}

#[derive(Clone, Copy)]
struct Body {
    linear: Vec3,
    inverse_mass: f32,
    angular: Vec3,
    inverse_inertia: f32,
}

impl Plain {
    fn new(step: &Step) -> Plain {
        let mut contacts: Vec<(u32, Contact)> = step
            .colouring
            .order
            .iter()
            .zip(&step.constraints)
            .map(|(&contact, constraint)| (contact, Contact::new(constraint)))
            .collect();
        contacts.sort_unstable_by_key(|&(contact, _)| contact);
        Plain {
            contacts: contacts.into_iter().map(|(_, contact)| contact).collect(),
            bodies: step.velocities.iter().map(Body::new).collect(),
        }
    }

    fn sweep(&mut self) {
        for contact in &mut self.contacts {
            let (mut a, mut b) = (self.bodies[contact.a as usize], self.bodies[contact.b as usize]);
            contact.solve(&mut a, &mut b);
            self.bodies[contact.a as usize] = a;
            self.bodies[contact.b as usize] = b;
        }
    }
}

impl Contact {
    fn new(constraint: &Constraint) -> Contact {
        Contact {
            a: constraint.bodies[0],
            b: constraint.bodies[1],
            normal: constraint.normal.as_vec3(),
            arm_a: constraint.arm_a.as_vec3(),
            arm_b: constraint.arm_b.as_vec3(),
            effective_mass: constraint.effective_mass.map(|d| d as f32),
            compliance: constraint.compliance as f32,
            bias: constraint.bias as f32,
            friction: constraint.friction as f32,
            rolling_arm: constraint.rolling_arm as f32,
            normal_impulse: constraint.impulse.normal as f32,
            tangent_impulse: constraint.impulse.tangent.as_vec3(),
            rolling_impulse: constraint.impulse.rolling.as_vec3(),
        }
    }

    fn solve(&mut self, a: &mut Body, b: &mut Body) {
        let velocity = a.at(self.arm_a) - b.at(self.arm_b);
        let closing = velocity.dot(self.normal);
        let step = (closing + self.compliance * self.normal_impulse - self.bias) * self.effective_mass[0];
        let normal = (self.normal_impulse - step).max(0.0);
        if normal == 0.0 && self.normal_impulse == 0.0 {
            return;
        }
        let slip = velocity - closing * self.normal;
        let tangent = project(self.tangent_impulse - slip * self.effective_mass[1], self.friction * normal);
        let linear = (normal - self.normal_impulse) * self.normal + (tangent - self.tangent_impulse);
        a.push(linear, self.arm_a);
        b.push(-linear, self.arm_b);
        (self.normal_impulse, self.tangent_impulse) = (normal, tangent);
        if self.rolling_arm == 0.0 {
            return;
        }
        let spin = a.angular - b.angular;
        let rolling =
            project(self.rolling_impulse - spin * self.effective_mass[2], self.rolling_arm * normal);
        a.angular += a.inverse_inertia * (rolling - self.rolling_impulse);
        b.angular -= b.inverse_inertia * (rolling - self.rolling_impulse);
        self.rolling_impulse = rolling;
    }
}

impl Body {
    fn new(velocity: &Velocity) -> Body {
        Body {
            linear: velocity.linear.as_vec3(),
            inverse_mass: velocity.inverse_mass as f32,
            angular: velocity.angular.as_vec3(),
            inverse_inertia: velocity.inverse_inertia as f32,
        }
    }

    fn at(&self, arm: Vec3) -> Vec3 {
        self.linear + self.angular.cross(arm)
    }

    fn push(&mut self, impulse: Vec3, arm: Vec3) {
        self.linear += self.inverse_mass * impulse;
        self.angular += self.inverse_inertia * arm.cross(impulse);
    }
}

fn project(vector: Vec3, bound: f32) -> Vec3 {
    let length_squared = vector.length_squared();
    if length_squared <= bound * bound { vector } else { vector * (bound / length_squared.sqrt()) }
}
