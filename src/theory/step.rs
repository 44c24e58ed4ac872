//! Parts of a step: \[E6\] impacts, \[E9\] substeps, periodic axes, and the order of the stages.
//!
//! # E6: Impacts
//!
//! ```text
//! a_n       what gravity and applied forces do to u_n: n·(g_a - g_b), with g = 0 for a body that is not dynamic
//! u_n°      u_n + h a_n/2, at the impact
//! c         u_n + h a_n, at the end of the substep, were there no contact
//!
//! bounces:  u_n < -v_imp and g + h min(0, c) ≤ 0
//! touches:  g ≤ 0
//!
//! while any contact bounces:
//!     solve [E5] from λ = 0 with Σ_n = 0 and
//!         q_n = -e u_n° - h a_n/2    where it bounces, and where it touches and parts (c > 0)
//!         q_n = 0                    where it touches and closes no faster than v_imp
//!         q_n = -∞                   elsewhere: takes no part
//! ```
//!
//! This is Newton's law for all contacts that touch (Moreau 1999): one that parts may come to close when its
//! neighbour is hit, at e times the speed at which it parted. Holding it instead would make energy: three equal
//! grains in a row at 1, 0 and 0.5 m/s with e = 1 would come out with 17/15 of theirs.
//!
//! **At the impact** the bodies are half a substep on from the velocities of \[E1\], and restitution acts on u_n°. So an elastic bounce
//! keeps the ballistic energy. Acting on u_n, it would lose m g² h/2 per second, whatever the height: a ball let go 10 mm above the floor
//! at h = 1 ms would lose a third in a second.
//!
//! A contact bounces in the substep in which it would close, up to h |c| before it is closed. If it had to
//! close first, the row of a pair not yet touching \[E2\] would take away the speed that it must return with.
//! Gaps below 1e-5 of the arm of a ([`TOUCH_TOLERANCE`](crate::law::restitution::TOUCH_TOLERANCE)) count as zero here, so that grains
//! placed in touch touch in single precision too.
//!
//! **Rounds.** A bounce may drive a grain against the next one within the same substep. So when a round is solved the roles of contacts are
//! assigned anew from the velocities that it left, until no contact bounces any more: chains with gaps, grains between a floor and a
//! falling block, gases. Without friction and with e = 1 each round keeps the energy to its tolerance, and so does the stage. A round is
//! solved by plain sweeps until none changes a row by more than 1e-5 of the fastest closing speed
//! ([`IMPACT_TOLERANCE`](crate::law::restitution::IMPACT_TOLERANCE); on a GPU sweeps come in pairs, of which the second is judged).
//!
//! **Number of sweeps.** All rounds together take blocks of [`impact_iterations`](crate::settings::Settings::impact_iterations)
//! sweeps: one block, and where some pair of materials has a restitution above 0.5 more of them, for as long as the stage settles
//! and up to 16 ([`impact_blocks`](crate::settings::Settings::impact_blocks)). It settles where a round ended in the block, or where the
//! block brought the residual of the round down to half of what the block before had left ([`IMPACT_GAIN`](crate::engine::IMPACT_GAIN)).
//! In double precision the sweeps that are left in a block go into the last round. On a GPU the dispatches of a block are recorded
//! before it is known whether another one follows. If one does, the step halts there and goes on in a submission of its own, to the
//! same bits as without the halt, and later submissions hold twice as many. Contacts that still close in the end are stopped by the
//! rows of \[E2\], without a bounce; [`ImpactStages`](crate::engine::ImpactStages) counts the substeps in which that happens.
//!
//! A pair or a gas takes 2 sweeps a round: an elastic gas of solid fraction 0.30 whose grains move by a tenth of a diameter per
//! step takes 25 to 30 sweeps in all, and would lose a sixth of its energy in 100 steps with 20; a block of 5 × 5 × 5 grains in
//! touch takes 100, and would lose a tenth of its energy in the first hit with 20; in a bed in which all grains touch, 20 never
//! settle, and there is one round. Accelerated sweeps \[E12\] are not sound here: a row that overshoots in the last sweep gives a
//! speed that no other row takes back, and the same gas lost a third of its energy in a second.
//!
//! **Slow contacts** do not bounce: one that closes no faster than v_imp is stopped, by the row of a pair not yet touching \[E2\],
//! or in the impact of another contact. That is what brings beds to rest, and in a gas it is a loss. With a speed σ per component
//! and ω collisions per grain and second, closing speeds u at collisions are distributed as u exp(-u²/4σ²)/2σ², and a stopped pair
//! of grains of mass m loses m u²/4. So a gas loses
//!
//! ```text
//! -Ė/E = ω (v_imp/σ)⁴ / 96        ω = 24 φ g σ/(√π d)        g = (1 - φ/2)/(1 - φ)³
//! ```
//!
//! by this alone, however small the step. At φ = 0.30, d = 10 mm and σ = 0.1 m/s these are 6.5 % per second with v_imp = 50 mm/s;
//! 216 spheres lost 5 % in the first second, four fifths of it in the rows of \[E2\] and one fifth in impacts of others, 0.1 % with
//! v_imp = 20 mm/s and 0.01 % with 10 mm/s. Nothing else takes energy from an elastic gas whose impacts settle; where grains go a
//! quarter of their diameter in a step, pairs overlap that were not near to each other before, and their elastic rows give it 2 %.
//!
//! **Impacts take no time**, and all contacts that touch are rigid while they last. The modulus matters for loads that last, not for the
//! time that grains stay together when they meet. So fast flows are those of rigid grains: for pellets of 6 MPa, whose impacts last 3 ms, a
//! drum without rolling resistance stands 2° steeper than with springs (`benches/results/drum-lammps.md`).
//!
//! Friction and rolling rows are active. The impulses of this stage change velocities only: they are no warm
//! start, and no part of the forces that results report. v_imp is
//! [`impact_threshold`](crate::settings::Settings::impact_threshold).
//!
//! **Restitution of bodies that are no spheres.** With coupling between n and t Newton's restitution and friction can
//! together gain energy. With U = |u_n⁻|, K split into a = n·K n, b = P K n and C = P K P, and friction that
//! opposes u_t⁺, one impact changes the energy by at most
//!
//! ```text
//! ΔE ≤ [-(1 - e²) U² - 2 e U s + s²]/(2 a) - λ_t·C λ_t/2        s = b·λ_t
//!    ≤ 0 for all λ_t   if and only if   e² ≤ 1 - b·C⁻¹ b/a = 1/((n·K n)(n·K⁻¹ n))
//! ```
//!
//! as λ_t·C λ_t ≥ s²/(b·C⁻¹ b). So e of such a contact with friction is at most 1/√((n·K n)(n·K⁻¹ n)). For a sphere b = 0
//! and this is 1. Several contacts of a body that hit at once are not covered.
//!
//! # E9: Substeps
//!
//! A step of length n h may be split into n substeps after one contact search. Each substep has gaps,
//! normals and coefficients of its own from the positions it starts at, its own impact stage, warm start and
//! sweeps. Impulses go from substep to substep as they do from step to step \[E7\]. At equal cost many
//! substeps of few sweeps beat one of many: the height of a column of 50 pellets, h = 5 ms, history
//! start, averaged over 3.5 s, is off by 0.7 % with 1 × 10, 0.6 % with 2 × 5 and 0.1 % with 10 × 1 (substeps ×
//! sweeps).
//!
//! # Periodic axes
//!
//! Along a periodic axis of length L all positions count up to whole multiples of L. The vector between two
//! bodies is the shortest one between their images, and with it gap, normal and arms; velocities, impulses and
//! all equations above stay as they are. A period of at least three diameters of the largest grain with its
//! margin keeps the images of a pair apart: no grain meets two images of another, nor itself. The contact
//! search divides the period into a whole number of cells of each size, whose last is a neighbour of the first. After
//! each substep centres of grains are wrapped into the cell. So the centre of mass jumps when a grain crosses a
//! face, and with gravity along the axis the potential energy does. A boundary acts through the image of its
//! body that is nearest to the grain.
//!
//! # Order of one step
//!
//! ```text
//! broadphase    pairs with a gap below the margin
//! matching      which of them were there a step ago, and their impulses             [E7]
//! colouring     an order in which contacts can be solved at the same time           [E5]
//! in each substep:
//!     narrowphase   gaps, normals, arms, coefficients                               [E2]-[E4]
//!     impact        velocities after bounces; the rest as it was                    [E6]
//!     predict       q_n and λ⁰ from these velocities; then v ← v + h M⁻¹ f          [E2], [E7], [E1]
//!     warm_start    v ← v + M⁻¹ Gᵀ λ⁰                                               [E7]
//!     sweep         the joints and bonds, then as many sweeps as told, each with the
//!                   joints and bonds at its end                            [E5], [E11], [E20]
//!     balance       works of the impact stage and of the sweeps                     [E10]
//!     loads         what contacts gave the boundaries, and stresses, impacts included [E17]
//!     integrate     positions move; a body that contacts drove too fast ends the run; [E1]
//!                   then bonds break, sinks and the domain remove grains          [E20]
//! ```
//!
//! This is Algorithm 1 of Wang, Servin & Berglund 2016 with the substeps \[E9\] added. A body is too fast when contacts add so much to its
//! speed in a substep that it would move by ten diameters of the largest grain ([`TRAVEL_LIMIT`](crate::settings::TRAVEL_LIMIT)); a body
//! that only falls may have any speed.
//!
//! A sink is a solid; a grain is removed when its centre is inside, where the signed distance to the surface is negative, or when its
//! path in a substep, which is straight, leads through the sink. Of several sinks on a path the first one takes the grain. The space
//! behind a face of the domain is a solid that takes what no sink takes. Nothing remains of a removed grain but its record: in the
//! substeps left of that step its contacts are rows without effect, and from the next contact search on it has none.
//!
//! An observed region counts the grains that come in by the same straight paths: the centre is outside before the substep, and after it
//! inside, or its path leads through. So between two states the content of a region changes by the grains that came in less those that
//! left, whatever the length of a substep.
