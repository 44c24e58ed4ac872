//! \[E11\]: joints between bodies, their drives and ranges, and the machines that they make.
//!
//! # E11: Joints
//!
//! A joint holds some of the motions of its second body against its first, drives one, and limits one. Each is a row: a velocity
//! u = G v between the two bodies that an impulse λ brings to a value,
//!
//! ```text
//! u⁺ + Σ λ - q = 0    for low < λ < high,        ≥ 0 for λ = low,    ≤ 0 for λ = high
//!
//! row            u                                      Σ               q                          low, high
//! held           of a place along an axis of the        4 ε Υ/h²        -4 Υ/h g + Υ u⁻            -∞, ∞
//!                first body, or of a turn about one
//! drive          of the position p of the joint
//!   force F                                             0               -                          h F, h F
//!   motor                                               0               v_d(t)                     ∓ h F_max
//!   servo                                               0               ṗ_d + (p_d - p)/T          ∓ h F_max
//! range          of the position                        0               -room/h, beyond the end    0, ∞ at the lower end
//!                                                                       4 Υ/h g, rebound -e u⁻     -∞, 0 at the upper one
//!
//! g    how far the place or turn is from where it belongs, as the substep begins [m, rad]
//! ε    compliance [m/N, rad/(N m)], 0 by default      τ    damping time [s], 2 h by default, h/2 at least if ε = 0
//! Υ    1/(1 + 4 τ/h)                                  u⁻   before the external forces of the substep
//! e    restitution of the ends of the range [-]
//! ```
//!
//! Held rows are those of Lacoursière 2007, as the contacts of \[E2\] are. With ε = 0 a deviation vanishes within a few substeps, and the
//! deviation that a substep leaves is of second order: about (9/8) h² times the acceleration of the joint. Its energy is of first order, as
//! that of the whole step; in a machine that nothing else touches it is of second order \[E1\]. A row that holds a place acts at the place
//! on the second body, on both bodies alike: so joints conserve the angular momentum whatever their deviation. Held rows and ends of ranges
//! have a compliance of 10⁻⁶ of G M⁻¹ Gᵀ
//! ([`JOINT_SOFTNESS`](crate::settings::JOINT_SOFTNESS)), so that rows which follow from others, as in a linkage of hinges in a plane, have
//! a solution: the one of least impulses. Rows to which neither body gives way, as their axes are locked, are left out.
//!
//! | Joint | Held | Position |
//! |---|---|---|
//! | hinge | 3 places, 2 turns | angle of the second body about the axis, 0 at the start; it goes on beyond a whole turn |
//! | slider | 2 places, 3 turns | shift along the axis, 0 at the start |
//! | cylindrical | 2 places, 2 turns | shift along the axis, 0 at the start |
//! | universal | 3 places, the turn about a × b with the axes a and b on the two bodies; g = -a·b | - |
//! | ball | 3 places | - |
//! | lock | 3 places, 3 turns | - |
//! | distance | the distance of two places | - |
//! | actuator | nothing | the distance of two places |
//!
//! # Forces
//!
//! The force of a joint that results report is the sum of its impulses over h, a mean over the substep. In a machine that nothing else
//! touches, and whose joints are rigid, it is the force at the instant: with κ the rate at which G v changes in torque-free motion, which
//! is measured over h/8,
//!
//! ```text
//! G M⁻¹ Gᵀ λ = -κ - G M⁻¹ f
//! ```
//!
//! As no square of h divides a deviation there, such forces are smooth in single precision, too.
//!
//! # Ends of ranges
//!
//! An end is a row that only pushes. The joint may come as far as the end, u ≥ -room/h at the lower one, and at the end the row takes out
//! the speed: u ≥ 0. Beyond the end by g the row corrects the position with 4 Υ/h g like a held row, but without the part Υ u⁻, which would
//! let the joint go on with Υ of its speed and throw it back by its correction, 1/27 of the speed at any step. A distance beyond the end
//! that is rounding (four times that of the numbers that the position is made of) is left: its correction would be a speed of rounding/h.
//!
//! With a restitution e > 0 a joint that would pass the end within the substep at its speed u⁻ leaves it at once with u = -e u⁻, from
//! where it is, at most h u⁻ before the end, and does not pass the other end by it. What rests at an end does not close to it, so it stays.
//! Of the two ends the row is that which is met first, 2 u⁻ < u_low + u_high for the lower one, with the speeds u_low and u_high that
//! lead to the ends: so a joint stays in a range that is narrower than its travel in a substep.
//! A motor or servo without a force limit stops at the end, whatever e is. An end takes out (1 - e²)/2 of D⁻¹ u⁻², which counts as
//! `boundary_work`, as all work of joints does; its compliance of 10⁻⁶ counts for the change of its impulse in a solve only, so that the
//! second solve of a substep leaves 10⁻¹² of u⁻, and the smooth method, which has one, 10⁻⁶.
//!
//! # Tension over light parts
//!
//! Directions of rows are those at the start of a substep. The forces of the joints therefore act as explicit ones on what turns their
//! directions: a force f at arm a holds the rotation of its body with the stiffness (a·f) 1 - a fᵀ, a rod under a tension T over a length l
//! its places across its line with T/l (geometric stiffness: Tournier et al. 2015). A swing of frequency ω under them grows where h ω > 2,
//! as in any symplectic step. For a link of mass m, length l and moment J under a weight W it is ω² = W l/J at most, 12 W/(m l) for a
//! thin rod. Eight links of 0.2 kg and 0.2 m under 2 000 kg hold at 0.75 ms and gain energy at 0.77 ms, the bound being 0.759 ms.
//! [`World::fastest_swing`](crate::model::World::fastest_swing) finds ω for a machine at rest, as the largest eigenvalue of the stiffness
//! within the motions that the joints leave free; `esker check` and the error of a machine that explodes compare it with the step.
//!
//! # Machines
//!
//! Bodies that hang together by joints are a machine. All its rows are one system S λ = b with S = G M⁻¹ Gᵀ + Σ and bounds on some of its
//! unknowns, which is solved directly (block pivoting: Júdice & Pires 1994). In double precision S is factored as LDLᵀ within its envelope,
//! in the order of Cuthill and McKee, so a chain of n links takes a time in proportion to n. The GPU inverts the part of the free rows in
//! place by pivots, one workgroup to a machine, for up to 256 rows; there a pivot below 10⁻⁴ of its diagonal, which is rounding, is raised
//! by 10⁻² of it: so the impulses of a row that follows from others are left to the others.
//!
//! Machines and contacts take turns (the split solver of Wang et al. 2016, section 5): before the first sweep, and after every sweep, the
//! joints are solved with all contacts held fixed,
//!
//! ```text
//! S Δλ ∋ q - Σ λ - G v        v ← v + M⁻¹ Gᵀ Δλ
//! ```
//!
//! and contacts are solved with the own masses of the bodies, not with the effective masses that their joints leave. For n contacts of a
//! part of mass M with grains of mass m that makes steps shorter by 1 + n m/M at most. In the trench of `scenarios/excavator.toml` the mean
//! force of the digging cylinder with 25 accelerated sweeps is within 1.4 % of that with 100, so it is left at that. At the end of a
//! substep joints are exact and contacts are solved as far as the sweeps go. Impulses of joints start from zero in every substep: a direct
//! solution needs no start. In accelerated sweeps they are extrapolated like the velocities \[E12\]. With a tolerance, |u + Σ λ - q| before
//! the joints are solved counts as the change of a row between its bounds.
//!
//! While contacts bounce \[E6\] held rows keep the velocity that they had before, with their compliance; drives and ranges have no effect,
//! as impacts take no time. A motor without a force limit stops at the end of its range. The work of a row is λ ū with the mean of u before
//! and after, as far as its bodies give way to it; it counts as that of boundaries \[E10\], so `boundary_work` holds the work of motors,
//! the losses of joints to their damping, and the energy that ends of ranges take out.
//!
//! Bodies of one machine do not touch each other.
//!
//! # Rails
//!
//! A wall on a rail (motion `slider` of a boundary) is a body with all axes locked but one of the world's, and a slider to the ground along
//! it: no row is left to be held, and the position is exact. A pressure p pushes it with h p A, where A is given or the product of two
//! distances of walls, at the positions that the substep starts from. Tables are read at the middle of the substep.
