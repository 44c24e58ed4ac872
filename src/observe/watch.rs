//! Watch over a run: warnings about what went wrong without ending it, judged from the states at the outputs.
//!
//! A run that ends with exit code 0 may still be wrong: a grain pressed through a wall, a contact that makes energy, grains that fell out
//! of the scene. [`Signs`] are the numbers of one state that tell, the same on both engines and on ranks; [`Watch`] keeps the worst of them
//! over a run and puts them into words. Whatever passes a limit becomes a [`Warning`] with its size, place, time and advice.

mod told;
mod warning;

use glam::DVec3;

use crate::contact::ContactState;
use crate::engine::blame::too_long_for_joints;
use crate::engine::{EnergyBalance, ImpactStages, Snapshot};
use crate::model::World;
use crate::model::nested::CommonSpace;

use super::energy::{self, Balance};
use super::{contacts, grains};

use told::Told;

pub use warning::{Concern, Warning, grains_lost, no_room};

/// Overlap over the radius of the smaller partner above which a run warns \[-\]. Hard grains overlap by a few thousandths; at this depth
/// the contact forces of neighbours no longer act at points, and a grain is on its way through.
pub const DEEP_OVERLAP: f64 = 0.3;
/// Ways that the fastest body goes in a substep within which a deep overlap is that of an impact \[-\]: a contact is closed when its bodies
/// overlap \[E1\], and two of them may meet head on.
const OF_AN_IMPACT: f64 = 2.0;
/// Energy made by normal impulses or bounces, over the energy turned over, above which a run warns \[-\]. An overlap that an impact left
/// pushes back, which makes a few per cent where grains are poured with long steps \[E10\].
const ENERGY_MADE: f64 = 0.1;
/// The same for friction and rolling, which give back no more than their springs hold, so that any gain is an error \[-\].
const ENERGY_MADE_BY_FRICTION: f64 = 1e-3;
/// Energy below which what was made is no warning whatever its share, over the energy Σ m g d that lifts each body by its own size \[-\]:
/// where a bed only settles into its overlaps, next to nothing is turned over.
const WORTH_TELLING: f64 = 0.05;
/// Mean residual of the normal rows, over the velocity g h that gravity adds in a substep, above which forces are no longer those of the
/// contact problem \[-\].
const LARGE_RESIDUAL: f64 = 0.3;
/// Number of outputs with a large residual, and their share of all outputs \[-\], above which a run warns.
const OFTEN: u32 = 4;
const MOST_OF_THEM: f64 = 0.5;

/// Body of a contact: a grain by its id, or a boundary by its index.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
enum Partner {
    Grain(u32),
    Boundary(u32),
}

impl Partner {
    fn of(world: &World, shape: u32) -> Partner {
        match world.grain_of_shape(shape) {
            Some(grain) => Partner::Grain(world.ids[grain]),
            None => Partner::Boundary(world.shape_body(shape)),
        }
    }

    /// A number for each partner, in which ranks exchange them.
    fn number(self) -> f64 {
        match self {
            Partner::Grain(id) => f64::from(id),
            Partner::Boundary(body) => -1.0 - f64::from(body),
        }
    }

    fn of_number(number: f64) -> Partner {
        if number < 0.0 { Partner::Boundary((-1.0 - number) as u32) } else { Partner::Grain(number as u32) }
    }

    fn name(self, world: &World) -> String {
        match self {
            Partner::Grain(id) => format!("grain {id}"),
            Partner::Boundary(body) => match world.boundaries.get(body as usize) {
                Some(boundary) => format!("boundary \"{}\"", boundary.name),
                None => format!("boundary {body}"),
            },
        }
    }
}

/// Deepest overlap of a state.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Deepest {
    /// Depth over the radius of the smaller partner \[-\].
    pub overlap: f64,
    /// Depth \[m\].
    pub depth: f64,
    /// Middle of the overlap \[m\].
    pub place: DVec3,
    /// Volume that two grains have in common, over that of the smaller one \[-\].
    pub common: Option<f64>,
    partners: [Partner; 2],
}

impl Deepest {
    /// Finds the contact with the deepest overlap; `None` where nothing overlaps.
    pub fn of(snapshot: &Snapshot) -> Option<Deepest> {
        let overlap = |contact: &&ContactState| -contact.gap / contacts::smaller_radius(snapshot, contact);
        let overlapping = snapshot.counted_contacts().filter(|contact| contact.gap < 0.0);
        let own = overlapping.map(|contact| (overlap(&contact), contact)).max_by(|a, b| a.0.total_cmp(&b.0));
        let most = snapshot.share.largest(own.map_or(0.0, |(overlap, _)| overlap));
        let mut numbers = match own {
            Some((overlap, contact)) if overlap == most => {
                let [a, b] = [contact.key.a, contact.key.b].map(|shape| Partner::of(&snapshot.world, shape));
                let DVec3 { x, y, z } = contact.point;
                let common = contacts::common_share(snapshot, contact).unwrap_or(f64::NAN);
                [-contact.gap, x, y, z, a.number(), b.number(), common]
            }
            _ => [f64::NAN; 7],
        };
        snapshot.share.largest_each(&mut numbers);
        let [depth, x, y, z, a, b, common] = numbers;
        let partners = [a, b].map(Partner::of_number);
        let (place, common) = (DVec3::new(x, y, z), (!common.is_nan()).then_some(common));
        (most > 0.0).then_some(Deepest { overlap: most, depth, place, common, partners })
    }

    /// Names of the two bodies.
    pub fn bodies(&self, world: &World) -> [String; 2] {
        self.partners.map(|partner| partner.name(world))
    }
}

/// Energies that contacts gave to the motion since the start, by kind of row \[J\], and the energy turned over \[J\].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
struct Given {
    by_row: [f64; ROWS.len()],
    /// Energy that each kind of row holds in overlaps and springs, and may give back \[J\].
    held: [f64; ROWS.len()],
    turnover: f64,
    /// Energy that lifts each body by its own size, Σ m g d \[J\].
    lift: f64,
}

/// Kinds of rows, in words, and the share of the turnover above which energy that they made is told.
const ROWS: [(&str, f64); 3] = [
    ("normal impulses", ENERGY_MADE),
    ("friction and rolling resistance", ENERGY_MADE_BY_FRICTION),
    ("bounces", ENERGY_MADE),
];

impl Given {
    fn of(snapshot: &Snapshot, opened: &Balance) -> Option<Given> {
        let balance: &EnergyBalance = snapshot.balance.as_ref()?;
        let springs: f64 = energy::in_springs(snapshot).iter().sum();
        let of_impacts = balance.impact_friction_work + balance.impact_rolling_work;
        let friction = balance.friction_work + balance.rolling_work - of_impacts;
        Some(Given {
            by_row: [balance.normal_work, friction, balance.impact_work + of_impacts],
            held: [opened.elastic(snapshot) - springs, springs, 0.0],
            turnover: balance.turnover(),
            lift: lift(snapshot),
        })
    }
}

/// Energy that lifts each grain by its diameter, and each dynamic boundary by twice its largest radius of gyration \[J\].
fn lift(snapshot: &Snapshot) -> f64 {
    let world = &snapshot.world;
    let of_grains = grains(snapshot).map(|grain| 2.0 * grain.mass * grain.radius);
    // A body that never turns has infinite moments, and no size that they could tell.
    let of_boundaries = world
        .dynamic_boundaries()
        .map(|(_, body)| 2.0 * (body.mass * body.moments.max_element()).sqrt())
        .filter(|size| size.is_finite());
    world.gravity.length() * (snapshot.share.sum(of_grains.sum::<f64>()) + of_boundaries.sum::<f64>())
}

/// Numbers of one state that tell whether a run goes wrong.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Signs {
    time: f64,
    deepest: Option<Deepest>,
    /// Way of the fastest body in a substep \[m\].
    way: f64,
    /// Mean residual of the normal rows over g h \[-\]; `None` without gravity.
    residual: Option<f64>,
    given: Option<Given>,
    /// Impact stages since the start, and the largest restitution of any pair of materials.
    impacts: ImpactStages,
    restitution: f64,
    /// Largest solid space that a dynamic boundary has in common with another boundary.
    common: Option<CommonSpace>,
    /// Part of a machine that swings too fast for the substep, in words.
    swing: Option<String>,
}

impl Signs {
    /// Reads the signs of a state; `opened` is the energy balance at the start of the run, where one is kept.
    pub fn of(snapshot: &Snapshot, opened: Option<&Balance>) -> Signs {
        let (world, h) = (&snapshot.world, snapshot.substep);
        let bodies =
            (0..world.boundaries.len()).chain(snapshot.present_grains().map(|grain| world.grain_body(grain)));
        let fastest = bodies.map(|body| world.bodies.velocity[body].length()).fold(0.0, f64::max);
        let gravity = world.gravity.length();
        Signs {
            time: snapshot.report.time,
            deepest: Deepest::of(snapshot),
            way: h * snapshot.share.largest(fastest),
            residual: (gravity > 0.0).then(|| snapshot.report.residuals.normal.mean / (gravity * h)),
            impacts: snapshot.report.impact_stages,
            restitution: world.materials.laws().iter().map(|law| law.restitution).fold(0.0, f64::max),
            common: largest(world.common_spaces(DEEP_OVERLAP).into_iter()),
            swing: too_long_for_joints(world, h),
            given: opened.and_then(|opened| Given::of(snapshot, opened)),
        }
    }
}

/// Energy that one kind of row made: what it gave since an output, less what it held then, at the most.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
struct Made {
    /// Least sum of the energy given since the start and the energy held, over the outputs so far \[J\].
    least: f64,
    /// Largest share of the turnover that was made \[-\], that energy \[J\], and the time of that output \[s\].
    share: f64,
    energy: f64,
    time: f64,
}

impl Default for Made {
    fn default() -> Made {
        Made { least: f64::INFINITY, share: 0.0, energy: 0.0, time: 0.0 }
    }
}

impl Made {
    fn note(&mut self, given: f64, held: f64, [turnover, lift]: [f64; 2], time: f64) {
        self.least = self.least.min(given + held);
        let energy = given - self.least;
        let share = if turnover > 0.0 { energy / turnover } else { 0.0 };
        if share > self.share && energy > WORTH_TELLING * lift {
            (self.share, self.energy, self.time) = (share, energy, time);
        }
    }
}

/// Residuals of the normal rows over the outputs so far.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
struct Unsolved {
    outputs: u32,
    /// Number of outputs with a residual above the limit.
    large: u32,
    /// Largest residual \[-\], and its time \[s\].
    largest: f64,
    time: f64,
}

/// Worst signs of a run so far.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Watch {
    deepest: Option<(f64, Deepest)>,
    /// Deepest overlap that is deeper than an impact makes it.
    too_deep: Option<(f64, Deepest)>,
    /// Way of the fastest body in a substep at the output before \[m\].
    way_before: f64,
    common: Option<(f64, CommonSpace)>,
    /// First swing of a machine that the substep is too long for.
    swing: Option<(f64, String)>,
    made: [Made; ROWS.len()],
    unsolved: Unsolved,
    /// Time of the last state \[s\], its impact stages, and the largest restitution.
    time: f64,
    impacts: ImpactStages,
    restitution: f64,
}

impl Watch {
    /// Notes the signs of the next state.
    pub fn note(&mut self, signs: &Signs) {
        (self.time, self.impacts, self.restitution) = (signs.time, signs.impacts, signs.restitution);
        let way = signs.way.max(self.way_before);
        self.way_before = signs.way;
        if let Some(deepest) = signs.deepest {
            keep_deepest(&mut self.deepest, signs.time, deepest);
            if deepest.depth > OF_AN_IMPACT * way {
                keep_deepest(&mut self.too_deep, signs.time, deepest);
            }
        }
        if let Some(common) = signs.common
            && self.common.is_none_or(|(_, before)| common.fraction > before.fraction)
        {
            self.common = Some((signs.time, common));
        }
        if self.swing.is_none() {
            self.swing = signs.swing.clone().map(|words| (signs.time, words));
        }
        if let Some(Given { by_row, held, turnover, lift }) = signs.given {
            let rows = self.made.iter_mut().zip(by_row).zip(held);
            rows.for_each(|((made, given), held)| made.note(given, held, [turnover, lift], signs.time));
        }
        let Unsolved { outputs, large, largest, time } = &mut self.unsolved;
        *outputs += 1;
        if let Some(residual) = signs.residual {
            *large += u32::from(residual > LARGE_RESIDUAL);
            if residual > *largest {
                (*largest, *time) = (residual, signs.time);
            }
        }
    }

    /// Deepest overlap so far, and its time \[s\].
    pub fn deepest(&self) -> Option<(f64, &Deepest)> {
        self.deepest.as_ref().map(|(time, deepest)| (*time, deepest))
    }

    /// What passed a limit so far.
    fn told(&self) -> impl Iterator<Item = Told<'_>> {
        let deep = self.too_deep.as_ref().filter(|(_, deepest)| deepest.overlap > DEEP_OVERLAP);
        let made = self.made.iter().zip(ROWS).filter(|(made, (_, limit))| made.share > *limit);
        let Unsolved { outputs, large, .. } = self.unsolved;
        let is_often = large >= OFTEN && f64::from(large) > MOST_OF_THEM * f64::from(outputs);
        let impacts = Warning::runs_out(&self.impacts, self.restitution);
        let bodies = deep
            .map(Told::Deep)
            .into_iter()
            .chain(self.common.as_ref().map(Told::Common))
            .chain(self.swing.as_ref().map(Told::Swing));
        bodies
            .chain(made.map(|(made, row)| Told::Made(made, row)))
            .chain(is_often.then_some(Told::Unsolved(&self.unsolved)))
            .chain(impacts.then_some(Told::Impacts(&self.impacts, self.time)))
    }

    /// Number of warnings so far.
    pub fn count(&self) -> usize {
        self.told().count()
    }

    /// Warnings about the signs so far.
    pub fn warnings(&self, world: &World) -> Vec<Warning> {
        self.told().map(|told| told.in_words(world)).collect()
    }
}

fn keep_deepest(kept: &mut Option<(f64, Deepest)>, time: f64, deepest: Deepest) {
    if kept.as_ref().is_none_or(|(_, before)| deepest.overlap > before.overlap) {
        *kept = Some((time, deepest));
    }
}

/// Common space with the largest share of the smaller solid.
fn largest(found: impl Iterator<Item = CommonSpace>) -> Option<CommonSpace> {
    found.max_by(|a, b| a.fraction.total_cmp(&b.fraction))
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::super::test_worlds::{beside, stack};
    use super::*;
    use crate::law::pair::Material;
    use crate::model::{Boundary, Form, Materials, Motion, RigidBody, Surface};

    /// The stack with the floor raised so that it overlaps the lower grain, of radius 0.5 m, by this share of its radius.
    fn pressed(overlap: f64) -> Snapshot {
        let mut snapshot = stack();
        snapshot.contacts[0].gap = -0.5 * overlap;
        snapshot
    }

    fn warnings(states: &[Snapshot]) -> Vec<Warning> {
        let mut watch = Watch::default();
        states.iter().for_each(|state| watch.note(&Signs::of(state, None)));
        watch.warnings(&states[0].world)
    }

    #[test]
    fn a_deep_overlap_is_told_with_bodies_place_and_time_and_stays_told() {
        let deep = pressed(0.31);
        let found = warnings(&[pressed(0.2), deep.clone(), pressed(0.1)]);
        assert_eq!(found.len(), 1, "{found:?}");
        let warning = &found[0];
        assert_eq!((warning.kind, warning.time), (Concern::Overlap, 0.25));
        assert!((warning.value - 0.31).abs() < 1e-12, "{warning:?}");
        assert_eq!(warning.place, Some(deep.contacts[0].point.to_array()));
        assert_eq!(warning.bodies, ["grain 0", "boundary \"floor\""]);
        assert!(warning.to_string().contains("0.31 of a radius"), "{warning}");
    }

    #[test]
    fn an_overlap_at_the_limit_is_no_warning_and_a_gap_is_no_overlap() {
        assert!(warnings(&[pressed(DEEP_OVERLAP - 1e-9)]).is_empty());
        assert_eq!(Deepest::of(&beside()), None);
    }

    /// A large grain that a small one has sunk into: the radius of the small one counts.
    #[test]
    fn overlaps_are_compared_with_the_smaller_partner() {
        let mut snapshot = stack();
        snapshot.contacts[1].gap = -0.25;
        let deepest = Deepest::of(&snapshot).expect("an overlap");
        approx::assert_relative_eq!(deepest.overlap, 0.25 / 0.5, max_relative = 1e-12);
        assert_eq!(deepest.bodies(&snapshot.world), ["grain 0", "grain 1"]);
        // The lens of two spheres, over the volume of the smaller one.
        let [r, other, depth] = [0.5, snapshot.world.grain_radius(1), 0.25];
        let distance = r + other - depth;
        let squares = distance * distance + 2.0 * distance * (r + other) - 3.0 * (r - other).powi(2);
        let lens = std::f64::consts::PI * depth * depth * squares / (12.0 * distance);
        let common = deepest.common.expect("two grains");
        approx::assert_relative_eq!(
            common,
            lens / (4.0 / 3.0 * std::f64::consts::PI * r.powi(3)),
            max_relative = 1e-12
        );
        assert_eq!(Deepest::of(&pressed(0.25)).expect("an overlap").common, None, "a floor has no volume");
    }

    /// A row takes 5 J out, of which it holds 1 J, gives 4 J back and takes 4 J again: 3 J were made, though it never gave more than it
    /// took.
    #[test]
    fn energy_is_made_where_a_row_gives_more_than_it_held() {
        let mut made = Made::default();
        made.note(0.0, 0.0, [1.0, 1.0], 0.0);
        made.note(-5.0, 1.0, [10.0, 1.0], 0.1);
        made.note(-1.0, 0.0, [12.0, 1.0], 0.2);
        made.note(-5.0, 0.0, [20.0, 1.0], 0.3);
        assert_eq!(made, Made { least: -5.0, share: 0.25, energy: 3.0, time: 0.2 });
        let mut elastic = Made::default();
        (0..9).for_each(|i| {
            elastic.note(f64::from(i % 2 - 1), f64::from((i + 1) % 2), [10.0, 1.0], f64::from(i))
        });
        assert_eq!(elastic.share, 0.0, "what it stored");
        let mut little = Made::default();
        little.note(0.0, 0.0, [1.0, 1.0], 0.0);
        little.note(0.04, 0.0, [0.1, 1.0], 0.1);
        assert_eq!(little.share, 0.0, "less than a twentieth of what lifts the bodies by their size");
    }

    /// In a substep of 5 ms a body at 20 m/s goes 0.1 m: two of them overlap by 0.2 m, 0.4 of the radius, after an impact.
    #[test]
    fn an_overlap_as_deep_as_an_impact_makes_it_is_no_warning() {
        let with_speed = |speed: f64| {
            let mut snapshot = pressed(0.39);
            snapshot.world.bodies.velocity[1] = speed * DVec3::X;
            snapshot
        };
        assert!(warnings(&[with_speed(20.0)]).is_empty());
        assert!(
            warnings(&[with_speed(20.0), with_speed(0.0)]).is_empty(),
            "it was that fast at the output before"
        );
        assert_eq!(warnings(&[with_speed(20.0), with_speed(0.0), with_speed(0.0)]).len(), 1);
        assert_eq!(warnings(&[with_speed(19.0)]).len(), 1);
    }

    #[test]
    fn a_residual_that_stays_large_is_told() {
        // g h = 0.05 m/s
        let with_residual = |residual: f64| {
            let mut snapshot = beside();
            snapshot.report.residuals.normal.mean = 0.05 * residual;
            snapshot
        };
        let states = |large: usize, small: usize| {
            let large = std::iter::repeat_n(with_residual(0.4), large);
            large.chain(std::iter::repeat_n(with_residual(0.2), small)).collect::<Vec<_>>()
        };
        assert_eq!(warnings(&states(4, 3))[0].kind, Concern::Residual);
        assert!(warnings(&states(4, 4)).is_empty(), "half of them");
        assert!(warnings(&states(3, 0)).is_empty(), "three of three");
    }

    #[test]
    fn contacts_that_give_more_than_they_were_given_are_told_by_their_row() {
        let booked = |normal_work: f64, friction_work: f64| {
            let balance = EnergyBalance {
                gravity_work: 1000.0,
                normal_work,
                friction_work,
                ..EnergyBalance::default()
            };
            Snapshot { balance: Some(balance), ..beside() }
        };
        let kinds = |normal_work, friction_work| {
            let opened = Balance::opened_at(&beside(), crate::law::normal::NormalLaw::Hertz);
            let mut watch = Watch::default();
            let states = [booked(0.0, 0.0), booked(normal_work, friction_work)];
            states.iter().for_each(|state| watch.note(&Signs::of(state, Some(&opened))));
            watch.warnings(&beside().world).into_iter().map(|warning| warning.message).collect::<Vec<_>>()
        };
        assert!(kinds(-400.0, -100.0).is_empty());
        let [normal, friction] = [kinds(400.0, -100.0), kinds(-400.0, 100.0)];
        assert!(normal.len() == 1 && normal[0].starts_with("normal impulses made 4.00e2 J"), "{normal:?}");
        assert!(friction.len() == 1 && friction[0].starts_with("friction and rolling"), "{friction:?}");
    }

    /// A dynamic cube of 2 m that has sunk into a fixed one by this depth \[m\].
    fn sunk(depth: f64) -> Snapshot {
        let mut snapshot = beside();
        let boundary = |name: &str, position: DVec3, motion: Motion| Boundary {
            name: name.into(),
            position,
            orientation: DQuat::IDENTITY,
            motion,
        };
        let cube = || [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Box { half: DVec3::ONE }, 0)];
        let dynamic = Motion::Dynamic(RigidBody::at_rest(1.0, DVec3::ONE));
        let mut world = World::new(DVec3::NEG_Z, snapshot.world.materials.clone());
        world.add_boundary(boundary("base", DVec3::ZERO, Motion::Fixed), cube());
        world.add_boundary(boundary("body", (2.0 - depth) * DVec3::Z, dynamic), cube());
        snapshot.world = world;
        snapshot.contacts.clear();
        snapshot
    }

    /// Two cubes of 2 m overlap by a depth d: a ball of radius d/2 fits into both, and one of 1 m into each.
    #[test]
    fn a_body_inside_another_is_told_though_no_contact_knows_of_it() {
        assert!(warnings(&[sunk(0.0)]).is_empty(), "a cube on another");
        assert!(warnings(&[sunk(0.58)]).is_empty());
        let found = warnings(&[sunk(0.7)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].kind, &found[0].bodies[0][..]), (Concern::SolidsOverlap, "boundary \"body\""));
        assert!((found[0].value - 0.35).abs() < 1e-3, "{:?}", found[0]);
        approx::assert_relative_eq!(warnings(&[sunk(2.0)])[0].value, 1.0, max_relative = 1e-3);
    }

    /// Twelve of a thousand substeps with bounces ran out of sweeps.
    #[test]
    fn impacts_that_run_out_of_sweeps_are_told_where_bounces_keep_energy() {
        let with_impacts = |unsettled: u64, restitution: f64| {
            let mut snapshot = beside();
            let impacts = ImpactStages { bounced: 1000, unsettled, residual: 0.1, fraction: 0.5 };
            snapshot.report.impact_stages = impacts;
            let stone = snapshot.world.materials.list[0].clone();
            snapshot.world.materials = Materials::new(vec![Material { restitution, ..stone }]);
            warnings(&[snapshot])
        };
        let found = with_impacts(12, 0.9);
        assert_eq!((found.len(), found[0].kind, found[0].value), (1, Concern::Impacts, 0.012));
        assert!(with_impacts(10, 0.9).is_empty() && with_impacts(12, 0.5).is_empty());
    }
}
