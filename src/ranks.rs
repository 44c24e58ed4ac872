//! Ranks: a scene divided among processes, each of which computes the grains of one region \[E5\].
//!
//! A rank has all boundaries, its own grains, and ghosts: copies of grains of other ranks that touch its own. A contact with a ghost is cut
//! by a border between two ranks. Both ranks list it, with the overflow contacts, and solve it from the same velocities on the same copies
//! of its bodies, so both find the same impulse, to the bit. So one exchange of velocities per sweep is enough:
//!
//! ```text
//!            rank 0                              rank 1
//! colours    contacts of own grains              contacts of own grains
//! exchange   velocities of own grains at the border  ◄───►  become those of the ghosts there
//! overflow   own overflow contacts, cut contacts own overflow contacts, cut contacts
//! ```
//!
//! The number of copies that share the mass of a body comes from its owner, once per search. Impulses on dynamic boundaries are summed over
//! the ranks in each sweep. Contacts between boundaries are solved on rank 0, which tells the others the velocities. At a search grains go
//! to the ranks in whose regions they are, and ghosts are chosen anew. Preclik & Rüde (2015) exchange twice per sweep: corrections of
//! velocities to the owner, and their sums back.

pub mod communicator;
pub mod engine;
mod handover;
#[cfg(feature = "mpi")]
pub mod mpi;
mod newcomers;
pub mod partition;

use std::any::Any;

use glam::{DMat3, DVec3};

use crate::contact::Key;
use crate::contact::carried::Carried;
use crate::contact::coupling::{Coupling, Cut};
use crate::contact::disjoint::BodySet;
use crate::contact::velocity::Velocity;
use crate::engine::share::Link;
use crate::error::Error;
use crate::model::World;

use communicator::{Parcel, Shared};

/// Numbers per body in an exchange: velocity and angular velocity.
const PER_BODY: usize = 6;

/// Links of a rank with the others.
struct Links {
    communicator: Shared,
    /// Bodies whose energies, works and loads this rank counts: its own grains, and on rank 0 the boundaries.
    counted: BodySet,
    /// Own bodies in cut contacts, and ghosts, rank by rank.
    own: Vec<Interface>,
    ghosts: Vec<Interface>,
    /// Room for what is sent and received in an exchange, rank by rank.
    out: Vec<Parcel>,
    into: Vec<Parcel>,
    /// Boundaries that contacts move, and whether some of them touch others.
    dynamic: Vec<u32>,
    touch_each_other: bool,
    /// Diameter of the largest grain of the scene \[m\], as [`World::largest_diameter`].
    largest_diameter: f64,
    /// Contacts that another rank counts; they are the last of the list.
    foreign: usize,
    held: handover::Held,
}

/// Links of the part of a scene.
fn links(coupling: &mut dyn Coupling) -> &mut Links {
    let coupling: &mut dyn Any = coupling;
    coupling.downcast_mut().expect("the engine of a rank has links")
}

/// Bodies that take part in cut contacts with one other rank, ascending.
#[derive(Debug, Clone, Default)]
struct Interface {
    rank: usize,
    bodies: Vec<u32>,
}

/// Size of the part of a scene that a rank computes, and of what it exchanges per sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct RankExtent {
    /// Own grains.
    pub grains: usize,
    /// Ghosts in cut contacts.
    pub ghosts: usize,
    /// All contacts.
    pub contacts: usize,
    /// Cut contacts.
    pub cut: usize,
    /// Messages per sweep, sent and received.
    pub messages: usize,
    /// Bytes per sweep, sent and received.
    pub bytes: usize,
}

impl Coupling for Links {
    fn is_alone(&self) -> bool {
        false
    }

    fn is_first(&self) -> bool {
        self.communicator.rank() == 0
    }

    fn counted_bodies(&self) -> Option<&BodySet> {
        Some(&self.counted)
    }

    fn counted(&self, contacts: usize) -> usize {
        contacts - self.foreign
    }

    fn cut(&self, bodies: [usize; 2], boundaries: usize) -> Cut {
        let own = |body: usize| self.counted.holds(body as u32);
        match bodies {
            [a, b] if a.min(b) < boundaries || own(a) == own(b) => Cut::Within,
            [a, _] if own(a) => Cut::Counted,
            _ => Cut::Foreign,
        }
    }

    fn shared(&self, world: &World) -> usize {
        world.boundaries.len()
    }

    fn largest_diameter(&self, _: &World) -> f64 {
        self.largest_diameter
    }

    fn exchange(&mut self, velocities: &mut [Velocity]) {
        for (side, parcel) in self.own.iter().zip(&mut self.out) {
            for (&body, numbers) in side.bodies.iter().zip(parcel.numbers.chunks_exact_mut(PER_BODY)) {
                numbers.copy_from_slice(&numbers_of(&velocities[body as usize]));
            }
        }
        self.communicator.swap(&self.out, &mut self.into);
        for (side, parcel) in self.ghosts.iter().zip(&self.into) {
            set_velocities(velocities, &side.bodies, &parcel.numbers);
        }
        self.share_boundaries(velocities);
    }

    /// Ghosts take the number of their owner, and dynamic boundaries the sum over the ranks.
    fn agree_on_copies(&mut self, copies: &mut [u32]) {
        let of = |side: &Interface, copies: &[u32]| Parcel {
            rank: side.rank,
            numbers: side.bodies.iter().map(|&body| f64::from(copies[body as usize])).collect(),
        };
        let out: Vec<Parcel> = self.own.iter().map(|side| of(side, copies)).collect();
        let mut into: Vec<Parcel> = self.ghosts.iter().map(|side| of(side, copies)).collect();
        self.communicator.swap(&out, &mut into);
        for (side, parcel) in self.ghosts.iter().zip(&into) {
            side.bodies
                .iter()
                .zip(&parcel.numbers)
                .for_each(|(&body, &count)| copies[body as usize] = count as u32);
        }
        let mut sums: Vec<f64> = self.dynamic.iter().map(|&body| f64::from(copies[body as usize])).collect();
        self.sum(&mut sums);
        self.dynamic.iter().zip(sums).for_each(|(&body, sum)| copies[body as usize] = sum as u32);
    }

    fn sum_impulses(&mut self, of: &dyn Fn(u32) -> [DVec3; 2]) -> Vec<(u32, [DVec3; 2])> {
        let mut sums: Vec<f64> =
            self.dynamic.iter().flat_map(|&body| of(body)).flat_map(|part| part.to_array()).collect();
        self.sum(&mut sums);
        let sums = sums.chunks_exact(PER_BODY);
        let sums = sums.map(|sum| [DVec3::from_slice(sum), DVec3::from_slice(&sum[3..])]);
        self.dynamic.iter().copied().zip(sums).collect()
    }

    fn gather(&mut self, own: &[f64]) -> Vec<f64> {
        self.communicator.gather(own)
    }

    fn sum(&mut self, numbers: &mut [f64]) {
        self.communicator.sum_each(numbers);
    }

    /// # Panics
    /// When the error is none of those with which a step may fail.
    fn first_error(&mut self, own: Option<&Error>, world: &World) -> Option<Error> {
        let all = self.communicator.gather(&fault::numbers_of(own, world));
        all.chunks_exact(fault::NUMBERS).find_map(|numbers| fault::error_of(numbers, world))
    }

    fn choose(&mut self, world: &mut World, keys: &mut Vec<Key>) {
        self.choose_contacts(world, keys);
    }

    fn hand_over(
        &mut self,
        world: &mut World,
        reach: f64,
        carried: &[Carried],
        stresses: &mut Vec<DMat3>,
    ) -> Option<Vec<Carried>> {
        Some(self.move_grains(world, reach, carried, stresses))
    }
}

impl Links {
    /// Gives dynamic boundaries the velocities that they have on rank 0, which alone lists the contacts between boundaries.
    fn share_boundaries(&mut self, velocities: &mut [Velocity]) {
        if !self.touch_each_other {
            return;
        }
        let own: Vec<f64> =
            self.dynamic.iter().flat_map(|&body| numbers_of(&velocities[body as usize])).collect();
        let all = self.communicator.gather(&own);
        set_velocities(velocities, &self.dynamic, &all);
    }

    /// Size of the part of this rank, which lists this many contacts.
    fn extent(&self, world: &World, contacts: usize) -> RankExtent {
        let bodies = |sides: &[Interface]| sides.iter().map(|side| side.bodies.len()).sum::<usize>();
        let ghosts = bodies(&self.ghosts);
        let own = self.held.own(self.communicator.rank());
        RankExtent {
            grains: own.filter(|&grain| world.is_present(grain)).count(),
            ghosts,
            contacts,
            cut: self.held.cut,
            messages: self.own.len() + self.ghosts.len(),
            bytes: (bodies(&self.own) + ghosts) * PER_BODY * size_of::<f64>(),
        }
    }
}

/// Velocity and angular velocity of a body, as they are exchanged.
fn numbers_of(velocity: &Velocity) -> [f64; PER_BODY] {
    let ([u, v, w], [p, q, r]) = (velocity.linear.to_array(), velocity.angular.to_array());
    [u, v, w, p, q, r]
}

/// Sets the velocities of these bodies to the first of `numbers`.
fn set_velocities(velocities: &mut [Velocity], bodies: &[u32], numbers: &[f64]) {
    for (&body, numbers) in bodies.iter().zip(numbers.chunks_exact(PER_BODY)) {
        let velocity = &mut velocities[body as usize];
        velocity.linear = DVec3::from_slice(numbers);
        velocity.angular = DVec3::from_slice(&numbers[3..]);
    }
}

/// Errors of a step as numbers, which go from rank to rank.
mod fault {
    use crate::error::Error;
    use crate::model::World;

    /// Numbers of an error: its kind, and its fields.
    pub const NUMBERS: usize = 6;

    pub fn numbers_of(error: Option<&Error>, world: &World) -> [f64; NUMBERS] {
        let index = |name: &String| world.boundaries.iter().position(|boundary| boundary.name == *name);
        let boundary = |name: &String| index(name).unwrap_or_default() as f64;
        match error {
            None => [0.0; NUMBERS],
            Some(Error::Exploded { grain, time, speed, diameters, time_step }) => {
                [1.0, f64::from(*grain), *time, *speed, *diameters, *time_step]
            }
            Some(Error::NotANumber { grain, time, time_step }) => {
                [2.0, f64::from(*grain), *time, *time_step, 0.0, 0.0]
            }
            Some(Error::LeftDomain { grain, time, x, y, z }) => [3.0, f64::from(*grain), *time, *x, *y, *z],
            Some(Error::BoundaryExploded { name, time, speed, diameters, time_step }) => {
                [4.0, boundary(name), *time, *speed, *diameters, *time_step]
            }
            Some(Error::BoundaryNotANumber { name, time, time_step }) => {
                [5.0, boundary(name), *time, *time_step, 0.0, 0.0]
            }
            Some(other) => unreachable!("no step fails with: {other}"),
        }
    }

    pub fn error_of(numbers: &[f64], world: &World) -> Option<Error> {
        let [kind, of, time, a, b, c] = *numbers else { return None };
        let grain = of as u32;
        let name = || world.boundaries[of as usize].name.clone();
        match kind as u32 {
            1 => Some(Error::Exploded { grain, time, speed: a, diameters: b, time_step: c }),
            2 => Some(Error::NotANumber { grain, time, time_step: a }),
            3 => Some(Error::LeftDomain { grain, time, x: a, y: b, z: c }),
            4 => Some(Error::BoundaryExploded { name: name(), time, speed: a, diameters: b, time_step: c }),
            5 => Some(Error::BoundaryNotANumber { name: name(), time, time_step: a }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::communicator::threads;
    use super::engine::{Ranked, RankedEngine, open};
    use crate::contact::Key;
    use crate::cpu::CpuEngine;
    use crate::engine::{Engine, Snapshot};
    use crate::law::pair::Material;
    use crate::model::random::{Random, Stream};
    use crate::model::{Gate, Grain, Materials, Periodic, Region, Residence, World};
    use crate::settings::Settings;
    use glam::DVec3;

    /// Does `work` with the engine of three ranks, which are threads, each with a pool of its own to wait in.
    fn on_three_ranks(world: &World, work: impl FnOnce(&mut RankedEngine) + Send) {
        let pool = || rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let ranked =
            |communicator| open(Box::new(communicator), world.clone(), settings(), |_, _| Ok(Vec::new()));
        thread::scope(|scope| {
            let mut communicators = threads(3).into_iter();
            let first = communicators.next().expect("the first");
            for communicator in communicators {
                scope.spawn(move || {
                    pool().install(|| match ranked(communicator) {
                        Ok(Ranked::Worker(worker)) => worker.serve(),
                        _ => panic!("the first rank is the root"),
                    });
                });
            }
            pool().install(|| match ranked(first) {
                Ok(Ranked::Root(mut engine)) => work(&mut engine),
                _ => panic!("the first rank is the root"),
            });
        });
    }

    fn settings() -> Settings {
        Settings { time_step: 0.01, ..Settings::default() }
    }

    /// Grains that fly about a periodic cell without ever meeting, through a plane, and through a ball that ranks share.
    fn counting() -> World {
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass()]));
        world.periodic = Periodic { min: DVec3::splat(-0.5), length: DVec3::ONE, ..Periodic::NONE };
        let mut random = Random::new(5, Stream::Grains(0));
        let mut grain =
            || Grain { velocity: 4.0 * random.in_cube(1.0), ..Grain::at(random.in_cube(0.5), 1e-6, 0) };
        world.add_grains((0..200).map(|_| grain()));
        let point = DVec3::ZERO;
        world.gates = vec![Gate { name: "g".into(), point, normal: DVec3::X, radius: None, material: None }];
        let region = Region::Sphere { centre: DVec3::new(0.1, 0.0, 0.0), radius: 0.3 };
        world.residences = vec![Residence { name: "r".into(), region, material: None, bounds: vec![0.1] }];
        world.prepare_counts();
        world
    }

    fn after(engine: &mut dyn Engine, steps: u64) -> Snapshot {
        engine.advance(steps).expect("steps");
        engine.snapshot().expect("a state")
    }

    #[test]
    fn grains_are_counted_and_timed_across_ranks_as_on_one_engine() {
        let world = counting();
        let mut alone = CpuEngine::new(world.clone(), settings());
        let expected = [40, 40].map(|steps| after(&mut alone, steps).world);
        assert!(expected[0].passed(0).grains[0] > 50.0 && expected[0].left(0).grains > 50.0);
        on_three_ranks(&world, |engine| {
            for expected in &expected {
                let found = after(engine, 40).world;
                assert_eq!(found.passed(0).grains, expected.passed(0).grains);
                let (left, other) = (found.left(0), expected.left(0));
                assert_eq!((left.grains, left.classes), (other.grains, other.classes));
                assert!(
                    (left.time - other.time).abs() < 1e-9 * other.time,
                    "{} for {} s",
                    left.time,
                    other.time
                );
                assert_eq!(found.arrivals, expected.arrivals);
                // The scene is divided anew, with the counts so far.
                engine.seed(&[] as &[(Key, _)]).expect("no impulses");
            }
        });
    }
}
