//! How the contact problem of a substep is solved: \[E5\] projected Gauss-Seidel, \[E7\] warm start, \[E8\] residual, \[E12\] accelerated
//! sweeps.
//!
//! # E5: Projected Gauss-Seidel
//!
//! Contact by contact, with all others held fixed:
//!
//! ```text
//! r = G v + Σ λ - q
//! λ ← proj(λ - D⁻¹ r)              D: diagonal of G M⁻¹ Gᵀ + Σ
//! v ← v + M⁻¹ Gᵀ Δλ                Δλ: what λ changed by
//!
//! D_n = 1/m_a + 1/m_b + |d_a × n|²/I_a + |d_b × n|²/I_b + Σ_n
//! D_t = 1/m_a + 1/m_b + |d_a|²/I_a     + |d_b|²/I_b
//! D_r =                 1/I_a          + 1/I_b
//! ```
//!
//! The order inside a contact is normal, friction, rolling. Normal and friction are computed from the same
//! u; for spheres the arms are parallel to n, so the normal impulse leaves u_t as it was and this is the
//! sequential step. D_t bounds the friction block by a multiple of the identity, which is exact for spheres
//! whose axes are all free; a locked axis makes D_n smaller (the row cannot push along it), D_t and D_r stay
//! upper bounds. A contact with λ_n = 0 before and after is left alone.
//!
//! A contact with a rigid body that is no sphere is solved with the mobility K, the change of u by an impulse at the contact:
//!
//! ```text
//! K = Σ_(a, b) 1/m - [d]× I⁻¹ [d]×
//! D_n = n·K n + Σ_n    D_t = largest eigenvalue of P K P, P = 1 - n nᵀ    D_r: largest of each I⁻¹, summed
//! ```
//!
//! Its arms are not parallel to n, so a normal impulse changes u_t: friction is computed from the velocities
//! after it, which makes the three rows sequential.
//!
//! A sweep visits every contact once. Contacts of one of 8 colours share no free body and are solved at the same time; colours follow each
//! other, and contacts that find no colour are overflow contacts, solved last by mass splitting. A boundary that is not free is never
//! written, so any number of contacts of one colour may share it. A contact of two grains takes the lowest colour that is free, one with a
//! boundary the highest: boundaries are solved late, so that a sweep ends with grains that keep out of the walls. The CPU engine can also
//! solve contacts in the order of their keys, one after the other.
//!
//! Contacts of bodies in the same tile, some hundred bodies that lie close together, are solved first: tiles share no body, so all tiles
//! are solved at the same time, and within a tile the contacts follow each other in the order of their colours. On the GPU one workgroup
//! solves a tile, and there are two tilings, one shifted against the other, each with 8 colours: a sweep solves contacts within tiles of
//! the first, then those that the first cuts and the second does not; what both cut are overflow contacts. The CPU engine has tiles with
//! many grains, and colours for the contacts across them. All these are orders of the same sweeps.
//!
//! **Mass splitting** (Tonge, Benevolenski & Voroshilov 2012). Overflow contacts are solved at the same time,
//! though they share bodies: the contacts of grains that have more than 8 or so, or on the GPU those that both tilings cut, 4 to 8 % of
//! those in a bed of equal spheres, and all contacts of grains with the surfaces of dynamic boundaries, which may be thousands (the few
//! vertices of a box take colours, and so do clumps). Each of the n contacts that a body has among them works on a copy of it:
//!
//! ```text
//! copies:  n/m and n I⁻¹ in place of 1/m and I⁻¹, all with the velocity after the colours
//! then:    v ← mean of the copies = v + M⁻¹ Σ Gᵀ Δλ
//! ```
//!
//! The mean conserves momentum and cannot gain energy, as no copy does. Where nothing changes any more all copies have the velocity of the
//! body, so the sweeps converge to the answer of sweeps one contact at a time, though more slowly the larger n is. For n = 1 nothing is
//! split. The residual \[E8\] uses D with n = 1.
//!
//! Sweeps end after [`iterations`](crate::settings::Settings::iterations), or when in one sweep no normal or
//! friction row changed by as much as [`tolerance`](crate::settings::Settings::tolerance), measured as
//! D |Δλ| in m/s. Rolling rows do not enter that measure.
//!
//! **Automatic iterations** sweep until the tolerance a |gravity| h is met, h the substep, a = 0.03
//! ([`AUTO_TOLERANCE`](crate::settings::AUTO_TOLERANCE)), at most 200 times. |gravity| h is what a contact must stop
//! in every substep, so the rule has no length or depth in it. The mean height error of columns follows a alone,
//! at h = 5 ms, whatever the number of grains (bound of 1 000 sweeps; mean sweeps in brackets, adaptive ones over the whole run):
//!
//! ```text
//!             a = 0.3            0.1                0.03               0.01               20 sweeps
//! history  10  0.35 % (8)       0.11 %  (17)       0.033 %  (34)      0.011 %  (53)      0.09 %
//!          50  0.30 % (37)      0.10 %  (77)       0.028 % (140)      0.009 % (209)      0.99 %
//!         100  0.29 % (67)      0.09 % (132)       0.026 % (226)      0.008 % (321)      2.47 %
//! adaptive 10  0.27 %  (6)      0.10 %   (5)       0.030 %   (6)      0.009 %   (6)      0.00 %
//!          50  0.75 % (20)      0.25 %  (22)       0.078 %  (25)      0.026 %  (28)      1.05 %
//!         100  0.61 % (29)      0.17 %  (35)       0.053 %  (44)      0.019 %  (57)      0.50 %
//! ```
//!
//! The change per sweep is no bound of the error, which is the larger the slower the sweeps converge: deep stacks
//! from a cold start need a smaller tolerance and more sweeps than 200.
//!
//! # E7: Warm start
//!
//! ```text
//! cold        λ⁰ = 0
//! history     λ⁰ = β λ            λ: what the contact of the same key ended the substep before with,
//!                                 0 for a new contact; β = 0.85
//! adaptive    λ⁰ = β_c λ          β_c = 1 - (1 - β) min(1, |u| / (κ |gravity| h)),  κ = 0.2
//! model       λ_n⁰ = h k_n δ^(2 e_H - 1)    λ_t⁰ = -(h/γ) u_t    λ_r⁰ = -(h/γ) w,  γ = 1e-6
//!
//! then        λ⁰ ← proj(λ⁰)       on today's tangent plane and within today's bounds [E3], [E4]
//!             v  ← v + M⁻¹ Gᵀ λ⁰  at once, before the first sweep
//! ```
//!
//! The u and w here are those after the impact stage and before the external forces. Without the last line a warm start is worse than a
//! cold one. The model gives no impulse for rigid contacts: they start cold. Its friction goes to the bound of any cone; where some cone is
//! wide \[E12\] friction and rolling start from zero.
//!
//! **Adaptive** is the default. A plain history loses 15 % of every impulse in every substep, and the sweeps
//! must rebuild it: a pile at rest melts unless there are many. So a contact at rest keeps its whole
//! impulse, and one that moves at κ |gravity| h or faster loses the share 1 - β. Without gravity any motion
//! at all counts as moving.
//!
//! **For studies** there are two parts of a history start, as Wang et al. 2016 have them:
//!
//! ```text
//! normals_only         λ_n⁰ = β λ_n,  λ_t⁰ = 0,  λ_r⁰ = 0
//! no_velocity_update   λ⁰ = β λ, and v stays as it is
//! ```
//!
//! The second solves for impulses that are not those that act: the part λ⁰ was never applied, so contacts come out softer by Σ_n λ⁰, the
//! cones are too wide, the forces in results too large, and the balance \[E10\] does not close. A pyramid of 8 layers, 7.73 cm high, has
//! after 2 s with 20 sweeps: 6.99 cm without the update, 7.09 cold, 7.40 with normals only, 7.62 with history, 7.69 adaptive.
//!
//! With no warm start are few sweeps enough for every scene. A column of 50 pellets at h = 5 ms hops with 10 sweeps, by 5 % of its height
//! under history and by up to a third under adaptive; with 20 by 2 % under either; it stands still with 50, or with two substeps of 10, and
//! then adaptive has the exact height where history is 0.2 % short.
//!
//! **Impulses carried over when the normal turns.** The CPU engine keeps λ_n as a number and projects λ_t on today's tangent plane. The GPU
//! keeps the world vector λ_n n + λ_t and takes it apart on today's normal. The two agree for a normal that did not turn, and differ in
//! proportion to the angle otherwise. Both are guesses that the sweeps then correct.
//!
//! The time step is constant during a run, so impulses need no scaling from step to step.
//!
//! **The error that sweeps leave** acts like an elasticity (Unger, Brendel, Wolf & Kertész 2002): in a column of rigid grains a pulse of
//! pressure moves by √N diameters in a step of N plain sweeps, 1.1 √N from history starts and 0.45 √N from cold ones. With accelerated
//! sweeps it moves faster, by a power between 0.7 and 1 of N: twice as far with 32.
//!
//! # E8: Residual
//!
//! The natural map of the projected problem (Alart & Curnier 1991), in units of velocity:
//!
//! ```text
//! ρ = D |λ - proj(λ - D⁻¹ r)|      normal, friction [m/s]; rolling [rad/s]
//! ```
//!
//! It is zero exactly at a solution, sticking or sliding. Each kind of row is measured on its own, with the bounds of friction and rolling
//! taken from the present λ_n, on the velocities at the end of the last substep. Mean and maximum are over all contacts within the margin,
//! those that carry nothing included. Overlaps are no part of it: they are measured at the committed positions. The GPU engine measures
//! after the bodies have moved: contacts of a box that tumbles show the turn of its spin meanwhile, h |dω/dt| times the arm, whatever the
//! sweeps.
//!
//! **Inside a step** ([`convergence`](crate::cpu::convergence)) the problem of a substep is solved once more on the
//! side, from any start, and the residuals are measured after every sweep, with the error of the normal impulses:
//!
//! ```text
//! impulse_error         |λ_n - λ_ref| / |λ_ref|, Euclidean norms over all contacts
//! impulse_error_mean    mean of |λ_n - λ_ref| / λ_ref over the contacts with λ_ref ≥ 0.01 of the mean
//! ```
//!
//! The residual of the normal rows is reported in two forms: as above, and without Σ_n λ_n in r, as the second form of Eq. 6 of Wang et al.
//! 2016 prints it. The second form equals Σ_n λ_n at the solution, the velocity by which elastic contacts give way, not zero.
//!
//! The second error is Eq. 13 of Wang et al. 2016, which leaves open how contacts that carry nothing count. λ_ref is the result of the same
//! solve after many more sweeps. With friction a packing has many solutions, and the start decides which of them the sweeps reach: in a
//! pile of 3 363 grains those from a cold and from a history start differ by 0.8 % after 20 000 sweeps. A solution common to all starts
//! would put a floor of that height under every error but one. With a λ_ref of 500 sweeps, as in the paper, the errors after 100 come out
//! 34 to 44 % too small, with 2 000 sweeps 11 to 15 %.
//!
//! # E12: Accelerated sweeps
//!
//! With [`acceleration = "nesterov"`](crate::settings::Acceleration) sweep k + 1 does not begin from the result of sweep k, but from a
//! point beyond it (Nesterov 1983; for contact problems Mazhar, Heyn, Negrut & Tasora 2015, who accelerate projected gradient steps; esker
//! accelerates Gauss-Seidel sweeps), and its rows overshoot:
//!
//! ```text
//! λ ← λ_k + m_k (λ_k - λ_(k-1))
//! v ← v_k + m_k (v_k - v_(k-1))     as v is linear in λ: no pass over the contacts is needed
//! m_k = min((k - 1)/(k + 2), 0.9)   0 after the first sweep
//! Δλ = -ω r/D before projection     ω = 1.25, in place of the 1 of [E5]; 1 in the last sweep
//! ```
//!
//! λ may leave its cone on the way; the next sweep brings it back, and the last one is followed by none. Where friction leaves several
//! solutions open, accelerated sweeps may reach another one than plain sweeps, and with another order of the contacts yet another. Impacts
//! are solved by plain sweeps.
//!
//! **Wide cones.** Where friction or rolling resistance binds so much that no row ever slips, a packing is a frame, and sweeps over it have
//! errors that turn as they shrink. Momentum makes them grow: pellets with μ_r = 100 poured into a pile gained 30 J of spin in a second and
//! exploded. Over-relaxation of the rolling rows is the worst part of it, and leaving that out does not cure it, nor do four plain sweeps
//! at the end. Of 1 500 random scenes 55 gained more than a thousandth of the energy turned over from starts other than the model, none of
//! them with both coefficients below 2.4. So where some coefficient is above 1 ([`WIDE_CONE`](crate::law::guard::WIDE_CONE)) sweeps are
//! plain whatever the setting. There plain sweeps may still make energy for want of sweeps, when friction was sized by a normal impulse
//! that shrank later (11 of these scenes), and so does the model start everywhere, and every start under bodies more than ten times as
//! heavy as others ([`WATCHED_MASS_RATIO`](crate::law::guard::WATCHED_MASS_RATIO)): a ball on a column that has 5 to 12 sweeps makes energy
//! with coefficients from 0.5 on, by per cents of the turnover, in one of a hundred such scenes. The engines detect this in scenes where it
//! may happen: a substep in which the works of friction and rolling sum up to a gain of more than 1e-4 of the kinetic energy, or of what
//! has been turned over since the start ([`LARGEST_GAIN`](crate::law::guard::LARGEST_GAIN)), is solved again by plain sweeps from nothing
//! (where only masses call for that, the gain over the run alone counts: grains at rest under a ball of 2 880 times their mass show gains
//! that the next substeps take back). Such plain sweeps hardly ever make energy: in one of 30 000 scenes they made 4 % of the turnover in
//! one substep. A substep in which they do, over the run, is solved without friction and rolling. The sum counts, as a contact that sticks
//! may spin a grain up by friction and stop it by rolling resistance. `energy_made_share` contains the energy made in spite of this, and a
//! run warns of it from a thousandth on.
//!
//! **Solids on each other.** The points of a face depend on each other, and sweeps over them have such errors, too: with momentum towers of
//! ten boxes or cylinders are thrown over, by plain sweeps they stand within 1e-5 of an edge. So sweeps are plain in scenes with two
//! dynamic solids that no joints connect, or with grains that are polyhedra.
//!
//! Over-relaxation costs nothing. The overshoot returns in the next sweep with the other sign, and a part of the error that a sweep turns
//! into -q times itself dies out under the momentum only for q < 1/(1 + 2 m): 0.36 at m = 0.9. With ω = 1.25 q is 0.25 at most; with ω =
//! 1.5 piles blow up after 20 sweeps. The last sweep does not overshoot, so that a grain with one contact is left as exact as by a plain
//! sweep.
//!
//! The limit 0.9 stands in for a restart, which would need a sum over all contacts in every sweep: without either, hundreds of sweeps swing
//! about the solution. Its price: the remaining error falls by √0.9 in a sweep at best, so where plain sweeps converge fast, as in a scene
//! a few grains high, accelerated sweeps reach rounding no sooner than plain ones.
