//! The equations that esker solves, numbered; code cites the numbers. Documentation only.
//!
//! | | Equation | Source | Code |
//! |---|---|---|---|
//! | \[E1\] | velocity update | Moreau 1999; Wang, Servin & Berglund 2016, Eqs. 1, 5 and Algorithm 1 | `predict`, `integrate` |
//! | \[E2\] | normal law | Hertz 1882; Lacoursière 2007; Wang et al. 2016, Appendix A | `narrowphase` |
//! | \[E3\] | Coulomb friction | Wang et al. 2016, Eq. 2 and Appendix A | `narrowphase`, `sweep` |
//! | \[E4\] | rolling and twisting resistance | Wang et al. 2016, Eq. 2 and Appendix A | `narrowphase`, `sweep` |
//! | \[E5\] | projected Gauss-Seidel | Jean 1999; Wang et al. 2016, Eqs. 3 to 6 | `sweep` |
//! | \[E6\] | impacts | Wang et al. 2016, section 2 and Algorithm 1 | `impact` |
//! | \[E7\] | warm start | Wang et al. 2016, Eqs. 7 to 11; the adaptive fraction is esker's own | `matching`, `warm_start` |
//! | \[E8\] | residual | natural map, after Alart & Curnier 1991 | `residual` |
//! | \[E9\] | substeps | esker's own | all stages after the contact search |
//! | \[E10\] | balance of energies | kinetic energy and mean velocity: Moreau 1999 | `balance`, `observe::energy` |
//! | \[E11\] | drives of sliders | motor rows: Wang et al. 2016, section 4.4; the rest is esker's own | `drive`, `predict`, `sweep` |
//! | \[E12\] | accelerated sweeps | Nesterov 1983; Mazhar et al. 2015 | `sweep` |
//!
//! The stages named here are modules of [`cpu`](crate::cpu) and files of `shaders/`.
//!
//! # Notation and signs
//!
//! ```text
//! a, b       bodies of a contact; a is a grain, b another grain or a boundary
//! n          unit normal, from b to a
//! g          gap: distance of the surfaces, negative where they overlap      [m]
//! δ = -g     overlap                                                         [m]
//! d_a, d_b   arms: contact point minus centre of mass; the contact point is
//!            in the middle of the overlap (or of the gap)                    [m]
//! v, ω       velocity [m/s] and angular velocity [rad/s], in world axes
//! u          contact velocity, v_a + ω_a × d_a - v_b - ω_b × d_b             [m/s]
//! u_n        n·u, positive where the surfaces part                           [m/s]
//! u_t        u - u_n n                                                       [m/s]
//! w          relative spin, ω_a - ω_b                                        [rad/s]
//! λ_n        normal impulse of one substep, never negative                   [N s]
//! λ_t        friction impulse, a vector in the tangent plane                 [N s]
//! λ_r        rolling (two components) and twisting (along n) impulse         [N m s]
//! h          length of a substep                                             [s]
//! R*         effective radius, r_a r_b / (r_a + r_b); r_a against a wall     [m]
//! μ, μ_r, e  friction, rolling resistance (times R*), restitution            [-]
//! x⁻, x⁺     before and after
//! ```
//!
//! Impulses act on `a` as written and on `b` reversed: a positive λ_n pushes `a` along `+n`. The force that
//! results report is the impulse divided by the substep. A wall of any shape but a sphere counts as flat:
//! R* is the radius of the grain.
//!
//! G maps the velocities of two bodies to u and w of their contact, Gᵀ maps its impulses back; M holds masses
//! and moments of inertia.
//!
//! # E1: Velocity update
//!
//! ```text
//! M (v⁺ - v) = h f + Gᵀ λ          f: external forces: the weight, and what is applied
//! x⁺ = x + h v⁺                    orientation: q⁺ = exp(h ω⁺) q, normalised
//! ```
//!
//! Semi-implicit (Moreau 1999): the positions move with the new velocities. So v is the velocity of the middle of the
//! substep that ended, and v + h g/2 the one that belongs to the position x, with the acceleration g of gravity and applied forces. What flights keep is the ballistic energy
//!
//! ```text
//! Σ ½ m (v + h g/2)² - m g·x
//! ```
//!
//! A sphere has no gyroscopic term. External forces are gravity, the drives of sliders \[E11\], and the forces and torques that a caller applies to bodies, constant over a step; torques are
//! left out where an impact looks ahead \[E6\]. An axis that is locked takes neither weight nor
//! impulse. A boundary that is not free moves as prescribed: in the contact problem it has the velocity that carries it
//! from where it is to where it must be at the end of the substep, and no impulse changes that.
//!
//! **Clumps** are grains of several spheres, which may overlap. Their mass, centre and tensor of inertia are those of the union of
//! the spheres: no part counts twice. Disjoint spheres are summed in closed form, overlapping ones by quadrature
//! ([`clump`](crate::model::clump) says with what error). A sphere of a clump touches what a grain of its own would touch, with its
//! own radius in R*; every pair of spheres is a contact with an impulse of its own, also where two clumps touch with several.
//!
//! **Rigid bodies that are no spheres**, clumps and dynamic boundaries, have a tensor of inertia I(q) = R(q) diag(I₁, I₂, I₃) R(q)ᵀ, which is held during the
//! solve. What the contacts leave is an angular momentum, which free flight conserves:
//!
//! ```text
//! L = I(q) ω⁺                      after the sweeps
//! dq/dt = ω(q) q / 2               ω(q) = I(q)⁻¹ L, over h by the Runge-Kutta method of fourth order
//! ω = I(q⁺)⁻¹ L                    the gyroscopic term: ω turns while L stays
//! ```
//!
//! The rotational energy L·I⁻¹L/2 is then kept to the order of that method. An axis of rotation that is locked is
//! left out of I before it is inverted. The GPU keeps L from substep to substep and adds what the contacts changed.
//!
//! A dynamic boundary touches grains with its faces, edges and vertices (the surface is `b`), and the surfaces of
//! other boundaries with its vertices (which are `a`): eight points of a box, or the one ball of a
//! sphere. So the edges of two boxes pass through each other, and a vertex of a box that is not free is not felt
//! by the face of one that is. For a vertex half the smallest edge of the box stands for R*, in the stiffness and in the
//! skin; a point has no rolling resistance.
//!
//! # E2: Normal law
//!
//! One complementarity, three regimes:
//!
//! ```text
//! 0 ≤ λ_n   ⊥   u_n⁺ + Σ_n λ_n - q_n ≥ 0
//!
//! elastic, δ > 0           Σ_n = 4 ε Υ / (h² s²)        q_n = (4 Υ/h) (δ/e_H) + Υ u_n
//! rigid, δ > 0             Σ_n = 0                      q_n = min(0.2 δ, 0.1 R*) / h
//! not yet touching, δ ≤ 0  Σ_n = δ_c / (h λ_c), or 0    q_n = δ/h
//!
//! Υ = 1/(1 + 4 τ/h)        s = e_H δ^(e_H - 1)          ε = e_H/k_n
//! τ = max(2 h, c/e_H)      c: viscous damping of the material pair [s]
//! ```
//!
//! **Elastic** is the stepper SPOOK (Lacoursière 2007) with the constraint δ^e_H = 0. Its row is divided by
//! the slope s, so that λ_n is a true impulse and the friction bound reads μ λ_n. The u_n in q_n is that after
//! the impact stage and before the external forces. At rest the row gives back the static law,
//! whatever the time step:
//!
//! ```text
//! λ_n = q_n/Σ_n = h k_n δ^(2 e_H - 1)
//!
//! Hertz:  e_H = 5/4    k_n = (4/3) E* √R*              1/E* = (1 - ν_a²)/E_a + (1 - ν_b²)/E_b
//! Hooke:  e_H = 1      k_n = (4/3) E* √R* √(0.01 R*)
//! ```
//!
//! Hooke's stiffness is the one whose force equals that of Hertz at an overlap of 1 % of R*
//! ([`HOOKE_OVERLAP`](crate::settings::HOOKE_OVERLAP)). The damping time τ is at least two substeps
//! ([`DAMPING_STEPS`](crate::settings::DAMPING_STEPS)), which makes Υ at most 1/9.
//!
//! **Rigid** is the limit ε → 0 (Moreau 1999; Jean 1999): an overlap is an error, not an elastic state. The
//! row asks for the velocity that removes a fifth of it per substep, and never more than a tenth of R*
//! ([`RIGID_CORRECTION`](crate::settings::RIGID_CORRECTION),
//! [`RIGID_CORRECTION_LIMIT`](crate::settings::RIGID_CORRECTION_LIMIT)). The correction goes through the
//! velocities, so it adds a little kinetic energy. A rigid contact does not bounce by this row: restitution
//! happens in the impact stage \[E6\] alone, under every law.
//!
//! **Not yet touching**: a pair that is listed may close its gap in this substep, not
//! more. Pairs are listed up to a gap of 0.1 d at least, and up to the skin of the search where that is more
//! ([`reach`](crate::settings::Settings::reach)). A row of a pair that cannot close does nothing, so the skin
//! ([`skin`](crate::settings::Settings::skin)) decides how often is searched, and is no part of the law. Without such rows a fast grain is first seen in deep overlap, and tall stacks hop: a column of 50
//! pellets at h = 5 ms with 10 sweeps changes its height by up to a third, with them by 5 % (history start).
//! Such a row is rigid when the pair comes near, Σ_n = 0: it brings the gap to zero and no further. Left so, a
//! contact that has just closed would carry its load at a gap of zero for ever (2 % of the loaded contacts
//! of a settled bed did, and their load passed the elastic law by). So once it has carried an impulse λ_c, in
//! the substep before, it may sink to the overlap δ_c at which the elastic law carries that impulse,
//! λ_c = h k_n δ_c^(2 e_H - 1), and is elastic from then on. This rule is esker's own; under the rigid law
//! there is nothing to sink to.
//!
//! # E3: Coulomb friction
//!
//! ```text
//! u_t = 0             unless sliding
//! |λ_t| ≤ μ λ_n       by projection on the disc
//! ```
//!
//! The bound is μ times the λ_n accumulated in this solve, warm start included. A bound built from the change
//! of λ_n would make friction vanish as soon as a warm start works.
//!
//! # E4: Rolling and twisting resistance
//!
//! ```text
//! w = 0               unless limited
//! |λ_r| ≤ μ_r R* λ_n  by projection on the ball
//! ```
//!
//! Rolling and twisting share one bound and one row of three components.
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
//! A sweep visits every contact once. Contacts of one of 8 colours share no free body and are solved at the
//! same time; colours follow each other, and contacts that find no colour are overflow contacts, solved last by mass splitting. A
//! boundary that is not free is never written, so any number of contacts of one colour may share it. A
//! contact of two grains takes the lowest colour that is free, one with a boundary the highest: boundaries are
//! solved late, so that a sweep ends with grains that keep out of the walls. The CPU engine can also go by keys,
//! one contact after the other.
//!
//! **Mass splitting** (Tonge, Benevolenski & Voroshilov 2012). Overflow contacts are solved at the same time,
//! though they share bodies: the contacts of grains that have more than 8 or so, 4 to 8 % of those in a bed of
//! equal spheres, and all contacts of grains with the surfaces of dynamic boundaries,
//! which may be thousands (the few vertices of a box take colours, and so do clumps). Each of the n contacts that a body has
//! among them works on a copy of it:
//!
//! ```text
//! copies:  n/m and n I⁻¹ in place of 1/m and I⁻¹, all with the velocity after the colours
//! then:    v ← mean of the copies = v + M⁻¹ Σ Gᵀ Δλ
//! ```
//!
//! The mean conserves momentum and cannot gain energy, as no copy does. Where nothing changes any more all
//! copies have the velocity of the body, so the sweeps converge to the answer of those one by one, though
//! more slowly the larger n is. For n = 1 nothing is split. The residual \[E8\] uses D with n = 1.
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
//! **At the impact** the bodies are half a substep on from the velocities of \[E1\], and restitution acts on u_n°. So an elastic bounce keeps the
//! ballistic energy. Acting on u_n, it would lose m g² h/2 per second, whatever the height: of a ball let go 10 mm above the floor at
//! h = 1 ms a third in a second.
//!
//! A contact bounces in the substep in which it would close, up to h |c| before it is closed. If it had to
//! close first, the row of a pair not yet touching \[E2\] would take away the speed that it must return with.
//! Gaps below 1e-5 of the arm of a ([`TOUCH_TOLERANCE`](crate::settings::TOUCH_TOLERANCE)) count as zero here, so that grains placed in touch
//! touch in single precision too.
//!
//! **Rounds.** What bounces may drive a grain against the next within the same substep. So when a round is solved the roles are given anew
//! from the velocities that it left, until nothing bounces any more: chains with gaps, grains between a floor and a falling block, gases. Without
//! friction and with e = 1 each round keeps the energy to its tolerance, and so does the stage. A round is solved by plain sweeps until none changes a row by more
//! than 1e-5 of the fastest closing speed ([`IMPACT_TOLERANCE`](crate::settings::IMPACT_TOLERANCE)), all rounds together by
//! [`impact_iterations`](crate::settings::Settings::impact_iterations) at most (on a GPU in pairs, of which the second is judged); in double precision what is left of them goes into the last round. What then
//! still closes is stopped by the rows of \[E2\], without a bounce. A pair or a gas takes 2 sweeps a round; a block of 5 × 5 × 5 grains in touch takes 100,
//! and loses a tenth of its energy in the first hit with 20; in a bed in which all grains touch, 20 never settle, and there is one round.
//! Accelerated sweeps \[E12\] are not sound here: a row that overshoots in the last sweep gives a speed that no other row takes back, and
//! the same gas lost a third of its energy in a second.
//!
//! **Impacts take no time**, and all contacts that touch are rigid while they last. The modulus counts for loads that last, not for how long grains that meet
//! stay together. So fast flows are those of rigid grains: for pellets of 6 MPa, whose impacts last 3 ms, a drum without rolling resistance stands
//! 2° steeper than with springs (`benches/results/drum-lammps.md`).
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
//! The u and w here are those after the impact stage and before the external forces. Without the last line
//! a warm start is worse than a cold one. The model has nothing to say of rigid contacts: they start cold. Its
//! friction goes to the bound of any cone; where some cone is wide \[E12\] friction and rolling start from zero.
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
//! The second solves for impulses that are not those that act: what λ⁰ holds was never applied, so contacts come out the
//! softer by Σ_n λ⁰, the cones are too wide, the forces in results too large, and the balance \[E10\] does not close. A pyramid of
//! 8 layers, 7.73 cm high, has after 2 s with 20 sweeps: 6.99 cm without the update, 7.09 cold, 7.40 with normals only, 7.62
//! with history, 7.69 adaptive.
//!
//! No start makes few sweeps enough for everything. A column of 50 pellets at h = 5 ms hops with 10 sweeps, by
//! 5 % of its height under history and by up to a third under adaptive; with 20 by 2 % under either; it
//! stands still with 50, or with two substeps of 10, and then adaptive has the exact height where history
//! is 0.2 % short.
//!
//! **What is carried when the normal turns.** The CPU engine keeps λ_n as a number and projects λ_t on
//! today's tangent plane. The GPU keeps the world vector λ_n n + λ_t and takes it apart on
//! today's normal. The two agree for a normal that did not turn, and differ in proportion to the angle
//! otherwise. Both are guesses that the sweeps then correct.
//!
//! The time step is constant during a run, so impulses need no scaling from step to step.
//!
//! # E8: Residual
//!
//! The natural map of the projected problem (Alart & Curnier 1991), in units of velocity:
//!
//! ```text
//! ρ = D |λ - proj(λ - D⁻¹ r)|      normal, friction [m/s]; rolling [rad/s]
//! ```
//!
//! Zero exactly at a solution, sticking or sliding. Each kind of row is measured on its own, with the
//! bounds of friction and rolling taken from the present λ_n, on the velocities at the end of the last
//! substep. Mean and maximum are over all contacts within the margin, those that carry nothing included.
//! Overlaps are no part of it: they are measured at the committed positions. The GPU engine measures after the bodies
//! have moved: contacts of a box that tumbles show how its spin turned meanwhile, h |dω/dt| times the arm, whatever
//! the sweeps.
//!
//! **Inside a step** ([`convergence`](crate::cpu::convergence)) the problem of a substep is solved once more on the
//! side, from any start, and the residuals are measured after every sweep, with the error of the normal impulses:
//!
//! ```text
//! impulse_error         |λ_n - λ_ref| / |λ_ref|, Euclidean norms over all contacts
//! impulse_error_mean    mean of |λ_n - λ_ref| / λ_ref over the contacts with λ_ref ≥ 0.01 of the mean
//! ```
//!
//! The second is Eq. 13 of Wang et al. 2016, which leaves open what becomes of contacts that carry nothing. λ_ref is what
//! the same solve comes to after many more sweeps. With friction a packing has many solutions, and which of them the sweeps come to
//! depends on the start: in a pile of 3 363 grains those from a cold and from a history start differ by 0.8 % after 20 000
//! sweeps. A solution common to all starts would put a floor of that height under every error but one.
//! With a λ_ref of 500 sweeps, as in the paper, the errors after 100 come out 34 to 44 % too small, with 2 000 sweeps 11 to 15 %.
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
//! # E10: Energy balance
//!
//! Every solve takes velocities v⁻ to v⁺ by impulses. With the mean velocities v̄ = (v⁻ + v⁺)/2, and ū, w̄ from
//! them, the kinetic energy T of the free bodies changes by
//!
//! ```text
//! T⁺ - T⁻ = ½ (v⁺ + v⁻)ᵀ M (v⁺ - v⁻) = Σ h (m gravity·v̄ + F·v̄ + τ·w̄) + Σ (λ_n ū_n + λ_t·ū_t + λ_r·w̄) + W_b
//!
//! W_b = -Σ (λ·u_held + λ_r·w_held)
//! ```
//!
//! u_held and w_held are the u and w of the velocities that no impulse changes: those of bodies that are not
//! free, and along locked axes. λ·ū is what a contact takes out where it slips on such a body, and W_b
//! what that body puts in, λ·u_b + λ_r·ω_b for a boundary b. The works of drives \[E11\] are added to W_b. No approximation is in this: it holds to rounding
//! whatever the step, the sweeps and the residual, as long as the impulses that are booked are those that were
//! applied.
//!
//! Each round of the impact stage is one solve, the rest of the substep (gravity, warm start, sweeps) another. The balance adds up
//! since the start of the run
//!
//! ```text
//! gravity_work     Σ h (m gravity·v̄ + F·v̄ + τ·w̄)   boundary_work   W_b, of both solves
//! normal_work      Σ λ_n ū_n                  impact_work     Σ λ_n ū_n of the impact stage
//! friction_work    Σ λ_t·ū_t, of both         rolling_work    Σ λ_r·w̄, of both
//!
//! Impacts happen half a substep on \[E6\], so λ_n h a_n/2 of what an impact does is the work of gravity and not its own:
//! impact_work = Σ λ_n (ū_n + h a_n/2), and gravity_work has the difference. An elastic bounce then takes nothing, and over a flight between two
//! bounces gravity's work is that of the way.
//!
//! energy error     T - T_start - (all of these) - T_emitted + T_removed
//! error share      its size over the larger of T_start and Σ |all of these| + T_emitted + T_removed
//! ```
//!
//! The share is below 1e-14 in double precision, and a few roundings (3e-7) in single, where the sums are
//! taken on the device per substep and added up in double precision by the host.
//!
//! What contacts store is E_el = Σ (2/5) k_n δ^(5/2) (Hertz), Σ k_n δ²/2 (Hooke) or 0 (rigid) at the overlaps after
//! the step. Normal rows dissipate -normal_work - (E_el - E_el at the start). Positions move with v⁺ and not with v̄
//! \[E1\], so E_el is no part of the identity above: a step in which a contact closes fast makes an overlap that
//! it did no work for, and the row then pushes back. Where steps are coarse or sweeps few, the dissipation of
//! normal rows can be negative, and the size of that is what the step costs in energy. For the same reason gravity's
//! work is not quite the potential energy lost. What a contact of a grain stores when a sink takes the grain counts as
//! dissipated by normal rows. Friction, rolling and impacts took energy out in all scenes
//! looked at.
//!
//! **Impacts.** Two bodies never part with more energy than they met with, nor does any number of them with e = 0, nor
//! without friction under one e (Moreau 1999). Newton's restitution and Coulomb's friction together can make
//! energy when several touching grains are hit at once: of random clusters of three to five grains with µ up to
//! 2, rolling up to 1 and masses 1:6000 (300 sweeps) none gained at e = 0, 2 in 10⁴ at 0.5, 5 in 1 000 at 0.9 and 13 in
//! 1 000 at 1, by a third of their energy at most.
//!
//! # E11: Drives of sliders
//!
//! A slider is a boundary with a mass m that moves along one axis s of the world and never turns. Contacts and gravity push
//! it along s; across s its rail holds it. Its drive is one of
//!
//! ```text
//! force       λ_d = h F(t)             an external force [E1]
//! pressure    λ_d = h p(t) A           A: given, or the product of two distances of walls, at the positions that the
//!                                      substep starts from
//! motor       s·v⁺ = v_d(t)            unless limited: one more row, |λ_d| ≤ h F_max
//! ```
//!
//! at the time t of the middle of the substep. The motor's row is solved after the contacts in every pass over them, that of
//! the warm start included, with all of them held fixed:
//!
//! ```text
//! λ_d ← clamp(λ_d - m (s·v - v_d), -h F_max, h F_max)        v ← v + s Δλ_d/m
//! ```
//!
//! Last in a sweep, it leaves a slider that its motor can hold with v_d to rounding, and one that it cannot with its
//! whole force. The contacts of a slider are those of a dynamic boundary with K = s sᵀ/m (mass splitting, \[E5\]): they
//! see a plate that gives way with its mass, and the sweeps come to the plate that is held or pushed. λ_d starts from
//! the impulse that the drive gave in the substep before, whichever it was, times the fraction of \[E7\], for which
//! |s·v - v_d| stands for |u|. Forces with a bound do nothing in no time: in the impact stage \[E6\] there are no motors,
//! and a plate gives way with its mass. With a tolerance, |Δλ_d|/m counts as the change of a row. The residual \[E8\] has
//! no part of a motor. The work λ_d s·v̄ is booked as that of boundaries \[E10\].
//!
//! # E12: Accelerated sweeps
//!
//! With [`acceleration = "nesterov"`](crate::settings::Acceleration) sweep k + 1 does not begin from where sweep k
//! ended, but from beyond (Nesterov 1983; for contact problems Mazhar, Heyn, Negrut & Tasora 2015, who accelerate projected
//! gradient steps: here it is Gauss-Seidel sweeps), and its rows overshoot:
//!
//! ```text
//! λ ← λ_k + m_k (λ_k - λ_(k-1))
//! v ← v_k + m_k (v_k - v_(k-1))     as v is linear in λ: no pass over the contacts is needed
//! m_k = min((k - 1)/(k + 2), 0.9)   0 after the first sweep
//! Δλ = -ω r/D before projection     ω = 1.25, in place of the 1 of [E5]; 1 in the last sweep
//! ```
//!
//! λ may leave its cone on the way; the next sweep brings it back, and the last one is followed by none. Where friction leaves several
//! solutions open, accelerated sweeps may come to another than plain ones, and in another order of the contacts to yet another.
//! Impacts are solved by plain sweeps.
//!
//! **Wide cones.** Where friction or rolling resistance binds so much that no row ever slips, a packing is a frame, and sweeps over it have
//! errors that turn as they shrink. Momentum makes them grow: pellets with μ_r = 100 poured into a pile gained 30 J of spin in a second and
//! exploded. Over-relaxation of the rolling rows is the worst part of it, and leaving that out does not cure it, nor do four plain sweeps at
//! the end. Of 1 500 random scenes 55 gained more than a thousandth of the energy turned over from starts other than the model, none of them
//! with both coefficients below 2.4. So where some coefficient is above 1 ([`WIDE_CONE`](crate::settings::WIDE_CONE)) sweeps are plain whatever
//! the setting. There plain sweeps may still make energy for want of sweeps, when friction was sized by a normal impulse that shrank later (11
//! of these scenes), and so does the model start everywhere, and every start under bodies more than ten times as heavy as others
//! ([`WATCHED_MASS_RATIO`](crate::settings::WATCHED_MASS_RATIO)): a ball on a column that has 5 to 12 sweeps makes energy with coefficients
//! from 0.5 on, by per cents of the turnover, in one of a hundred such scenes. The engines find that out where it may be: a substep in which
//! the works of friction and rolling sum up to a gain of more than 1e-4 of the kinetic energy, or of what has been turned over since the start
//! ([`LARGEST_GAIN`](crate::settings::LARGEST_GAIN)), is solved again by plain sweeps from nothing (where only masses call for that, the gain
//! over the run alone counts: grains at rest under a ball of 2 880 times their mass book gains that the next substeps take back). Those make
//! energy hardly ever, one of 30 000 scenes 4 % of the turnover in one substep; a substep in which they do, over the run, is solved without
//! friction and rolling. The sum counts, as a contact that sticks may spin a grain up by friction and stop it by rolling resistance.
//! `energy_made_share` shows what was made all the same, and a run says so from a thousandth on.
//!
//! Over-relaxation costs nothing. What it overshoots by returns in the next sweep with the other sign, and a part of the error that a sweep
//! turns into -q times itself dies out under the momentum only for q < 1/(1 + 2 m): 0.36 at m = 0.9. With ω = 1.25 q is 0.25 at
//! most; with ω = 1.5 piles blow up after 20 sweeps. The last sweep does not overshoot, so that a grain with one contact is left as exact
//! as by a plain sweep.
//!
//! The limit 0.9 stands in for a restart, which would need a sum over all contacts in every sweep: without either, hundreds of
//! sweeps swing about the solution. Its price: what is left of the error falls by √0.9 in a sweep at best, so where plain sweeps
//! converge fast, as in a scene a few grains high, accelerated ones come to rounding no sooner than they.
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
//!     predict       q_n and λ⁰ from these velocities; then v ← v + h M⁻¹ f,         [E2], [E7], [E1]
//!                   and drives push                                               [E11]
//!     warm_start    v ← v + M⁻¹ Gᵀ λ⁰                                               [E7]
//!     sweep         as many as told, each with the motors at its end                [E5], [E11]
//!     loads         what contacts gave the boundaries, impacts included
//!     balance        works of the impact stage and of the sweeps                     [E10]
//!     integrate     positions move; a body that contacts drove too fast ends the run; [E1]
//!                   then sinks and the domain remove grains
//! ```
//!
//! This is Algorithm 1 of Wang, Servin & Berglund 2016 with the substeps \[E9\] added. A body is
//! too fast when contacts add to its speed in a substep what would carry it ten diameters of the largest grain
//! ([`TRAVEL_LIMIT`](crate::settings::TRAVEL_LIMIT)); what merely falls may be as fast as it likes.
//!
//! A sink is a solid; a grain is taken when its centre is inside, where the signed distance to the surface is negative. What lies behind
//! a face of the domain is such a solid. Of a grain that was
//! removed nothing remains but the record: in the substeps left of that step its contacts are rows without
//! effect, and from the next contact search on it has none.
//!
//! # How the paper of 2016 is read
//!
//! Wang, Servin & Berglund 2016 carries slips of the pen. This is how they are read here:
//!
//! - Effective radius (Appendix A): printed as (r_a + r_b)/(r_a r_b), its reciprocal. Read as
//!   r_a r_b/(r_a + r_b), which is a length.
//! - Sign of the iteration (Eq. 3 and Algorithm 1): printed as λ + D⁻¹ r with r = G v - q, which runs away
//!   from the solution. Read as λ - D⁻¹ r.
//! - Residual (Eq. 6 and Algorithm 1): its second form, G v - q, drops the term Σ λ that the first has. Kept
//!   here: without it the elastic law is not met.
//! - D (Appendix A): printed as the whole matrix G M⁻¹ Gᵀ + Σ. Read as its diagonal, as the text of the
//!   paper says.
//! - Sign of q_n (section 2 and Algorithm 1): printed as -(4/h) Υ g. With the Jacobian as printed, by which
//!   parting is positive, and the overlap counted positive, a contact would pull. Read with a plus.
//! - Slope of the constraint (Appendix A): printed as e_H g^(e_H - 1) with g = δ^e_H. Read as
//!   e_H δ^(e_H - 1), its derivative.
//! - Model-based start (Eq. 9): printed with the factor 5/4. From f = k_n δ^(3/2) and f = Gᵀ λ/h
//!   it is 4/5 in the paper's variables, and h k_n δ^(3/2) for the true impulse used here.
//!
//! # Where esker departs from the paper
//!
//! - Stiffness: the paper's ε is that of a k_n half as large. Here k_n is that of Hertz as in textbooks.
//! - Rows are divided by the slope s, so λ_n is an impulse. The solution is the same.
//! - Pairs not yet touching have rows, and sink under their load once they have closed \[E2\]; the paper has
//!   none.
//! - Hooke's and the rigid law are choices beside that of Hertz.
//! - Impacts: contacts that close within the substep bounce in it, and what those drive together in further rounds, by the
//!   velocities at the impact; others without overlap take no part, and
//!   touching contacts that do not bounce are held from
//!   closing (λ_n ≥ 0), not at zero velocity both ways.
//! - Friction and rolling rows are not regularised. The paper adds γ/h to D_t and D_r, γ = 1e-6, in units that
//!   depend on the mass: below the rounding of single precision for its pellets, and a creep of
//!   millimetres per second for a body of a tonne.
//! - The adaptive start \[E7\], substeps \[E9\] and the residual \[E8\] are not in the paper.
//! - Contacts are swept colour by colour, boundaries last, not in the order in which they were found. Another
//!   order gives other numbers before convergence, and the same trends.
//!
//! # Sources
//!
//! - H. Hertz 1882: Ueber die Berührung fester elastischer Körper. J. reine angew. Math. 92, 156-171.
//! - P. Alart, A. Curnier 1991: A mixed formulation for frictional contact problems prone to Newton like
//!   solution methods. Comput. Methods Appl. Mech. Eng. 92, 353-375.
//! - J. J. Moreau 1999: Numerical aspects of the sweeping process. Comput. Methods Appl. Mech. Eng. 177,
//!   329-349.
//! - M. Jean 1999: The non-smooth contact dynamics method. Comput. Methods Appl. Mech. Eng. 177, 235-257.
//! - C. Lacoursière 2007: Regularized, stabilized, variational methods for multibodies. 48th Scandinavian
//!   Conference on Simulation and Modeling (SIMS 2007), 40-48.
//! - H. Mazhar, T. Heyn, D. Negrut, A. Tasora 2015: Using Nesterov's method to accelerate multibody dynamics with friction
//!   and contact. ACM Trans. Graph. 34(3), 32.
//! - Y. Nesterov 1983: A method of solving a convex programming problem with convergence rate O(1/k²). Soviet Math. Dokl. 27,
//!   372-376.
//! - R. Tonge, F. Benevolenski, A. Voroshilov 2012: Mass splitting for jitter-free parallel rigid body simulation.
//!   ACM Trans. Graph. 31(4), 105.
//! - D. Wang, M. Servin, T. Berglund 2016: Warm starting the projected Gauss-Seidel algorithm for granular
//!   matter simulation. Comput. Part. Mech. 3, 43-52. doi:10.1007/s40571-015-0088-x
