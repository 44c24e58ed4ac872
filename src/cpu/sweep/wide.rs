//! Sweep of four contacts at a time, on x86-64 processors with AVX: most of them.
//!
//! The operations on each contact are those of [`super::solve_contact`], in the same order, so that the result has the same bits as on
//! other processors. Four contacts that follow each other are solved at once if they share no body that is written, which holds within a
//! colour. What does not fit is left to the scalar twin: bodies with locked axes, and impulses that are bounded by a box.

use std::mem::offset_of;

use crate::contact::Impulse;
use crate::contact::constraint::Constraint;
use crate::contact::disjoint::Disjoint;
use crate::contact::velocity::Velocity;
use crate::law::cone::Cone;
use crate::model::Axes;

use super::super::lanes::{Lanes, Vectors, WIDTH};
use super::Solve;

// Constraints and velocities are read as rows of four numbers: which is where is told here, and relied on below.
const _: () = {
    assert!(offset_of!(Constraint, normal) == 8);
    assert!(offset_of!(Constraint, effective_mass) == 32);
    assert!(offset_of!(Constraint, compliance) == 56);
    assert!(offset_of!(Constraint, arm_a) == 64);
    assert!(offset_of!(Constraint, arm_b) == 88);
    assert!(offset_of!(Constraint, friction) == 112);
    assert!(offset_of!(Constraint, rolling_arm) == 120);
    assert!(offset_of!(Constraint, bias) == 128);
    assert!(offset_of!(Constraint, cohesion) == 136);
    assert!(offset_of!(Constraint, impulse) == 144);
    assert!(offset_of!(Constraint, last_impulse) == 200);
    assert!(offset_of!(Impulse, normal) == 0 && offset_of!(Impulse, tangent) == 8);
    assert!(offset_of!(Impulse, rolling) == 32 && size_of::<Constraint>() == 256);
    assert!(offset_of!(Velocity, linear) == 0 && offset_of!(Velocity, inverse_mass) == 24);
    assert!(offset_of!(Velocity, angular) == 32 && offset_of!(Velocity, inverse_inertia) == 56);
};

/// All lanes, as bits.
const ALL: u32 = (1 << WIDTH) - 1;

/// An impulse of each contact.
#[derive(Clone, Copy)]
struct Impulses {
    normal: Lanes,
    tangent: Vectors,
    rolling: Vectors,
}

/// Velocity of one body of each contact.
#[derive(Clone, Copy)]
struct Velocities {
    linear: Vectors,
    angular: Vectors,
    inverse_mass: Lanes,
    inverse_inertia: Lanes,
}

impl<const COMPARED: bool> Solve<COMPARED> {
    /// Whether contacts can be solved four at a time.
    #[inline(always)]
    pub(super) fn is_wide(&self) -> bool {
        self.cone == Cone::Disc && is_x86_feature_detected!("avx")
    }

    /// Solves contacts one after the other, four at once where it makes no difference. Returns the largest change.
    ///
    /// # Safety
    /// As [`Disjoint::visit`]; and [`Solve::is_wide`].
    #[target_feature(enable = "avx")]
    pub(super) unsafe fn solve_wide(&self, constraints: &mut [Constraint], bodies: &Disjoint<'_>) -> f64 {
        let (groups, rest) = constraints.as_chunks_mut();
        let mut largest = Lanes::all(0.0);
        let mut largest_of_others = 0.0f64;
        for group in groups {
            // SAFETY: by the caller's promise; and those that are solved at once are apart.
            unsafe {
                if are_apart(group, bodies) {
                    largest = self.solve_four(group, bodies).max(largest);
                } else {
                    largest_of_others = largest_of_others.max(bodies.visit_each(group, self));
                }
            }
        }
        // SAFETY: by the caller's promise.
        largest_of_others.max(unsafe { bodies.visit_each(rest, self) }).max(largest.largest())
    }

    /// Solves four contacts, and returns their changes. Twin: [`super::solve_contact`].
    ///
    /// # Safety
    /// As [`Solve::solve_wide`], and the contacts are apart.
    #[inline(always)]
    unsafe fn solve_four(&self, group: &mut [Constraint; WIDTH], bodies: &Disjoint<'_>) -> Lanes {
        let [_, n_x, n_y, n_z] = read::<0>(group);
        let [mass_along, mass_across, mass_about, compliance] = read::<1>(group);
        let [a_x, a_y, a_z, b_x] = read::<2>(group);
        let [b_y, b_z, friction, rolling_arm] = read::<3>(group);
        let [bias, cohesion, along, t_x] = read::<4>(group);
        let [t_y, t_z, r_x, r_y] = read::<5>(group);
        let [r_z, last_along, last_t_x, last_t_y] = read::<6>(group);
        let [last_t_z, last_r_x, last_r_y, last_r_z] = read::<7>(group);
        let normal = Vectors::new([n_x, n_y, n_z]);
        let (arm_a, arm_b) = (Vectors::new([a_x, a_y, a_z]), Vectors::new([b_x, b_y, b_z]));
        let before = Impulses::new(along, [t_x, t_y, t_z], [r_x, r_y, r_z]);
        let last = Impulses::new(last_along, [last_t_x, last_t_y, last_t_z], [last_r_x, last_r_y, last_r_z]);
        let (old, last, is_same) = self.extrapolated(before, last);
        // SAFETY: by the caller's promise.
        let (mut a, mut b) = unsafe { (Velocities::of(group, 0, bodies), Velocities::of(group, 1, bodies)) };
        let relaxation = Lanes::all(self.relaxation);

        let velocity = a.linear + a.angular.cross(arm_a) - b.linear - b.angular.cross(arm_b);
        let closing = velocity.dot(normal);
        let step = (closing + compliance * old.normal - bias) * (relaxation * mass_along);
        let pressed = (old.normal - step).max(Lanes::all(0.0));
        // Contacts that carry nothing and go on so are left as they are, in memory as well.
        let is_idle = pressed.is_zero().and(old.is_zero());
        let written = ALL & !is_idle.and(is_same).bits();
        if written == 0 {
            return Lanes::all(0.0);
        }
        let slip = velocity - normal * closing;
        let tangent = within(old.tangent - slip * (relaxation * mass_across), friction * pressed);
        let linear = normal * (pressed - old.normal) + (tangent - old.tangent);
        a.push(linear, arm_a, is_idle);
        b.push(-linear, arm_b, is_idle);
        let mut new = Impulses { normal: pressed, tangent, rolling: old.rolling };
        let slides_only = is_idle.or(rolling_arm.is_zero());
        if slides_only.bits() != ALL {
            let spin = a.angular - b.angular;
            let rolling = within(old.rolling - spin * (relaxation * mass_about), rolling_arm * pressed);
            a.twist(rolling - old.rolling, slides_only);
            b.twist(old.rolling - rolling, slides_only);
            new.rolling = old.rolling.only_if(slides_only, rolling);
        }
        let new = old.only_if(is_idle, new);

        // SAFETY: by the caller's promise.
        unsafe {
            a.store(group, 0, bodies, written);
            b.store(group, 1, bodies, written);
        }
        write::<4>(group, written, [bias, cohesion, new.normal, new.tangent.x]);
        write::<5>(group, written, [new.tangent.y, new.tangent.z, new.rolling.x, new.rolling.y]);
        write::<6>(group, written, [new.rolling.z, last.normal, last.tangent.x, last.tangent.y]);
        if self.share.is_some() {
            write::<7>(group, written, [last.tangent.z, last.rolling.x, last.rolling.y, last.rolling.z]);
        }
        if !COMPARED {
            return Lanes::all(0.0);
        }
        let of_normal = times_d((new.normal - old.normal).abs(), mass_along);
        let of_tangent = times_d((new.tangent - old.tangent).length(), mass_across);
        of_normal.max(of_tangent)
    }

    /// Extrapolated impulses, those to be kept as the last ones, and whether both are as they were. Twin: [`Solve::extrapolate`].
    #[inline(always)]
    fn extrapolated(&self, impulses: Impulses, last: Impulses) -> (Impulses, Impulses, Lanes) {
        let Some(share) = self.share else { return (impulses, last, Lanes::all(0.0).is_zero()) };
        let is_same = impulses.equals(last);
        let beyond = if share > 0.0 { impulses.beyond(last, Lanes::all(share)) } else { impulses };
        (impulses.only_if(is_same, beyond), last.only_if(is_same, impulses), is_same)
    }
}

/// Whether no two of the contacts share a body that is written, and none of their bodies has locked axes.
///
/// # Safety
/// The bodies are there, and nobody writes them meanwhile.
#[inline(always)]
unsafe fn are_apart(group: &[Constraint; WIDTH], bodies: &Disjoint<'_>) -> bool {
    // SAFETY: by the caller's promise.
    let body = |body: u32| unsafe { bodies.get(body) };
    let of = |side: usize| {
        let at = |lane: usize| group[lane].bodies[side];
        [at(0), at(1), at(2), at(3)]
    };
    let locked = |all: [u32; WIDTH]| {
        let at = |lane: usize| body(all[lane]).locked;
        at(0).and(at(1)).and(at(2)).and(at(3))
    };
    let (a, b) = (of(0), of(1));
    if locked(a).and(locked(b)) != Axes::NONE {
        return false;
    }
    let meet = |one: [u32; WIDTH], other: [u32; WIDTH], turned: usize| {
        let at = |lane: usize| one[lane] == other[(lane + turned) % WIDTH];
        at(0) | at(1) | at(2) | at(3)
    };
    let is_none_shared = !(meet(a, a, 1) | meet(a, a, 2) | meet(b, b, 1) | meet(b, b, 2))
        && !(meet(a, b, 1) | meet(a, b, 2) | meet(a, b, 3));
    // Bodies that are not free, as most boundaries, may be shared.
    is_none_shared || {
        let all = [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]];
        (1..all.len()).all(|i| !all[..i].contains(&all[i]) || !body(all[i]).is_free())
    }
}

/// Rows of four numbers of a constraint.
const ROWS: usize = size_of::<Constraint>() / size_of::<[f64; 4]>();

/// A row of four numbers of each constraint.
#[inline(always)]
fn read<const ROW: usize>(group: &[Constraint; WIDTH]) -> [Lanes; 4] {
    const { assert!(ROW < ROWS) };
    let at = |lane: usize| std::ptr::from_ref(&group[lane]).cast::<f64>().wrapping_add(4 * ROW);
    // SAFETY: the row is part of the constraint.
    unsafe { Lanes::read([at(0), at(1), at(2), at(3)]) }
}

/// Writes a row of four numbers of each constraint whose bit is set in `lanes`.
#[inline(always)]
fn write<const ROW: usize>(group: &mut [Constraint; WIDTH], lanes: u32, values: [Lanes; 4]) {
    const { assert!(ROW < ROWS) };
    let mut at = |lane: usize| std::ptr::from_mut(&mut group[lane]).cast::<f64>().wrapping_add(4 * ROW);
    // SAFETY: the row is part of the constraint.
    unsafe { Lanes::write(values, [at(0), at(1), at(2), at(3)], lanes) }
}

/// Nearest vector within a bound. Twin: [`Cone::project`].
#[inline(always)]
fn within(vector: Vectors, bound: Lanes) -> Vectors {
    vector * (bound / vector.length()).min(Lanes::all(1.0))
}

/// Twin of [`times_d`](super::times_d).
#[inline(always)]
fn times_d(change: Lanes, effective_mass: Lanes) -> Lanes {
    (change / effective_mass).and(effective_mass.is_positive())
}

impl Impulses {
    #[inline(always)]
    fn new(normal: Lanes, tangent: [Lanes; 3], rolling: [Lanes; 3]) -> Impulses {
        Impulses { normal, tangent: Vectors::new(tangent), rolling: Vectors::new(rolling) }
    }

    #[inline(always)]
    fn equals(self, other: Impulses) -> Lanes {
        let parts = self.tangent.equals(other.tangent).and(self.rolling.equals(other.rolling));
        self.normal.equals(other.normal).and(parts)
    }

    #[inline(always)]
    fn is_zero(self) -> Lanes {
        let Impulses { normal, tangent, rolling } = self;
        let parts = tangent.x.or(tangent.y).or(tangent.z).or(rolling.x).or(rolling.y).or(rolling.z);
        normal.or(parts).is_zero()
    }

    /// Twin of [`Impulse::beyond`].
    #[inline(always)]
    fn beyond(self, before: Impulses, share: Lanes) -> Impulses {
        Impulses {
            normal: self.normal + share * (self.normal - before.normal),
            tangent: self.tangent + (self.tangent - before.tangent) * share,
            rolling: self.rolling + (self.rolling - before.rolling) * share,
        }
    }

    /// This impulse where a truth holds, otherwise `other`.
    #[inline(always)]
    fn only_if(self, holds: Lanes, other: Impulses) -> Impulses {
        Impulses {
            normal: self.normal.only_if(holds, other.normal),
            tangent: self.tangent.only_if(holds, other.tangent),
            rolling: self.rolling.only_if(holds, other.rolling),
        }
    }
}

impl Velocities {
    /// Velocities of bodies a, or bodies b, of the contacts.
    ///
    /// # Safety
    /// The bodies are there, and nobody writes them meanwhile.
    #[inline(always)]
    unsafe fn of(group: &[Constraint; WIDTH], side: usize, bodies: &Disjoint<'_>) -> Velocities {
        let at = |lane: usize| bodies.place(group[lane].bodies[side]).cast_const().cast::<f64>();
        let rows = [at(0), at(1), at(2), at(3)];
        // SAFETY: by the caller's promise; a velocity begins with two rows of four numbers.
        let ([x, y, z, inverse_mass], [turn_x, turn_y, turn_z, inverse_inertia]) =
            unsafe { (Lanes::read(rows), Lanes::read(rows.map(|row| row.wrapping_add(4)))) };
        Velocities {
            linear: Vectors::new([x, y, z]),
            angular: Vectors::new([turn_x, turn_y, turn_z]),
            inverse_mass,
            inverse_inertia,
        }
    }

    /// Changes the velocities of bodies without locked axes by impulses, except of idle contacts. Twin: [`Velocity::push`].
    #[inline(always)]
    fn push(&mut self, impulse: Vectors, arm: Vectors, is_idle: Lanes) {
        self.linear = self.linear.only_if(is_idle, self.linear + impulse * self.inverse_mass);
        self.twist(arm.cross(impulse), is_idle);
    }

    /// Likewise by angular impulses. Twin: [`Velocity::twist`].
    #[inline(always)]
    fn twist(&mut self, impulse: Vectors, is_idle: Lanes) {
        self.angular = self.angular.only_if(is_idle, self.angular + impulse * self.inverse_inertia);
    }

    /// Writes the velocities of those bodies that are free and whose bit is set in `lanes`.
    ///
    /// # Safety
    /// The bodies are there, and nobody else reads or writes those that are free meanwhile.
    #[inline(always)]
    unsafe fn store(self, group: &[Constraint; WIDTH], side: usize, bodies: &Disjoint<'_>, lanes: u32) {
        let Velocities { linear, angular, inverse_mass, inverse_inertia } = self;
        let free = lanes & inverse_mass.is_positive().bits();
        let at = |lane: usize| bodies.place(group[lane].bodies[side]).cast::<f64>();
        let rows = [at(0), at(1), at(2), at(3)];
        // SAFETY: by the caller's promise; a velocity begins with two rows of four numbers.
        unsafe {
            Lanes::write([linear.x, linear.y, linear.z, inverse_mass], rows, free);
            let rows = rows.map(|row| row.wrapping_add(4));
            Lanes::write([angular.x, angular.y, angular.z, inverse_inertia], rows, free);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Walls, then grains.
    const BODIES: u32 = 60;
    const WALLS: u32 = 3;

    fn vector(random: &mut Pcg64Mcg) -> DVec3 {
        DVec3::from_array(std::array::from_fn(|_| random.random_range(-1.0..1.0)))
    }

    fn velocity(body: u32, random: &mut Pcg64Mcg) -> Velocity {
        let is_wall = body < WALLS;
        let inverse = |value: f64| if is_wall { 0.0 } else { value };
        Velocity {
            linear: vector(random),
            inverse_mass: inverse(random.random_range(0.5..2.0)),
            angular: vector(random),
            inverse_inertia: inverse(random.random_range(0.5..2.0)),
            locked: if body + 1 == BODIES { Axes::TRANSLATION[1] } else { Axes::NONE },
        }
    }

    fn impulse(random: &mut Pcg64Mcg) -> Impulse {
        match random.random_range(0..3) {
            0 => Impulse::default(),
            _ => Impulse {
                normal: random.random_range(0.0..1.0),
                tangent: vector(random),
                rolling: 0.1 * vector(random),
            },
        }
    }

    fn constraint(random: &mut Pcg64Mcg) -> Constraint {
        let a = random.random_range(WALLS..BODIES);
        let b = (a + random.random_range(1..BODIES)) % BODIES;
        let before = impulse(random);
        Constraint {
            bodies: [a, b],
            normal: vector(random).normalize(),
            effective_mass: std::array::from_fn(|_| random.random_range(0.1..0.5)),
            compliance: random.random_range(0.0..0.1),
            arm_a: vector(random),
            arm_b: vector(random),
            friction: random.random_range(0.0..1.0),
            rolling_arm: if random.random_bool(0.5) { 0.1 } else { 0.0 },
            bias: random.random_range(-1.0..1.0),
            cohesion: 0.5,
            impulse: before,
            last_impulse: if random.random_bool(0.5) { before } else { impulse(random) },
        }
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// Bits of all that a sweep writes.
    fn outcome(constraints: &[Constraint], velocities: &[Velocity]) -> Vec<Vec<u64>> {
        let of_impulse = |&Impulse { normal, tangent: t, rolling: r }: &Impulse| {
            bits(&[normal, t.x, t.y, t.z, r.x, r.y, r.z])
        };
        let of_contacts =
            constraints.iter().flat_map(|c| [of_impulse(&c.impulse), of_impulse(&c.last_impulse)]);
        let of_bodies =
            velocities.iter().map(|v| bits(&[v.linear.to_array(), v.angular.to_array()].concat()));
        of_contacts.chain(of_bodies).collect()
    }

    /// Many contacts follow one that shares a body with it or with a wall, and some bodies have locked axes.
    #[test]
    fn four_contacts_at_a_time_come_to_the_bits_of_one_after_the_other() {
        let random = &mut Pcg64Mcg::seed_from_u64(1);
        let mut at_once = 0;
        for share in [None, Some(0.0), Some(0.4)] {
            let mut constraints: Vec<Constraint> = (0..403).map(|_| constraint(random)).collect();
            let mut velocities: Vec<Velocity> = (0..BODIES).map(|body| velocity(body, random)).collect();
            let at_start = outcome(&constraints, &velocities);
            let (mut same, mut same_velocities) = (constraints.clone(), velocities.clone());
            let solve = Solve::<true> { relaxation: 1.25, share, cone: Cone::Disc };
            assert!(solve.is_wide(), "needs a processor with AVX");
            for _ in 0..3 {
                let (bodies, others) = (Disjoint::new(&mut velocities), Disjoint::new(&mut same_velocities));
                at_once += constraints
                    .as_chunks()
                    .0
                    .iter()
                    .filter(|group| unsafe { are_apart(group, &bodies) })
                    .count();
                // SAFETY: this is the only thread, all bodies are there, and none is rigid.
                let [wide, one_by_one] = unsafe {
                    [solve.solve_wide(&mut constraints, &bodies), others.visit_each(&mut same, &solve)]
                };
                assert_eq!(wide.to_bits(), one_by_one.to_bits(), "{share:?}: largest change");
                assert_eq!(outcome(&constraints, &velocities), outcome(&same, &same_velocities), "{share:?}");
            }
            assert_ne!(outcome(&constraints, &velocities), at_start);
        }
        assert!((200..800).contains(&at_once), "{at_once} of 900 groups were solved at once");
    }
}
