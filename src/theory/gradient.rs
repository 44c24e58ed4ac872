//! All contacts at once, as a convex problem: \[E15\] accelerated projected gradient descent, \[E16\] compatible forces.
//!
//! # E15: Projected gradient descent
//!
//! Without friction the contact problem of a substep is a linear complementarity problem, and the same as a quadratic program with bounds
//! (Olsen & Kamrin, Eqs. 21 to 23):
//!
//! ```text
//! 0 ≤ λ ⊥ N λ + p ≥ 0        min over λ ≥ 0 of F(λ) = ½ λ·N λ + p·λ
//!
//! N = G M⁻¹ Gᵀ + Σ           p = G v_f - q             v_f: velocities under the external forces alone
//! N λ + p = G v + Σ λ - q    of the velocities that λ brings about: the slope of F, r of [E5]
//! ```
//!
//! F is the quantity `objective`, and the largest |min(D λ, N λ + p)| is `lcp_residual`. N is singular where a packing has more contacts
//! than its bodies have freedom: the velocities are unique, the forces are not.
//!
//! The solver (Mazhar, Heyn, Negrut & Tasora 2015, after Nesterov 1983) goes down the slope from a point beyond the last change, projects
//! the result on the impulses allowed, and restarts its momentum where F rises:
//!
//! ```text
//! y     = λ_k + β (λ_k - λ_(k-1))
//! λ_k+1 = proj(y - D⁻¹ s / L)                     s: slope at y
//! L     ← 2 L, and once more, if d·(s_(k+1) - s) > L d·D d with d = λ_(k+1) - y;  0.9 L after each iteration
//! θ_k+1 = (θ_k √(θ_k² + 4) - θ_k²)/2,  β = θ_k (1 - θ_k)/(θ_k² + θ_(k+1)),  θ_0 = 1 at the start and where s·(λ_(k+1) - λ_k) > 0
//! ```
//!
//! Lengths and projections are in units of D, the diagonal of N \[E5\], so that small bodies and large ones, pushes and rolling are on a
//! par; L is then of the order of the contacts of a body, and at most three times as many as the body that has most. F is quadratic, so the
//! condition on L is that of Mazhar et al. without a value of F. Slopes are linear in λ: the slope at y follows from two known ones, and an
//! iteration moves every body once, asks every contact once for its slope, and extrapolates no velocity. Contacts need no order and no
//! colours; the solver uses those of \[E5\] to add up impulses in the same order always.
//!
//! On the gpu engine a step is a list of dispatches that is made before it runs. Every try is a part of that list: 13 dispatches, of which
//! 10 give the bodies the changes of the impulses. L is at most 3 072 there, of 1 024 contacts of a body; so k iterations take at most k +
//! 0.15 k + 13 tries, and dispatches that are not needed are empty. A try moves 860 bytes per contact in single precision, an accelerated
//! sweep 310.
//!
//! **With friction** there is no such program: the bound of λ_t moves with λ_n. The solver takes the convex problem next to it,
//! the cone complementarity problem (Anitescu & Tasora 2010), in which normal, friction and rolling impulse of a contact are projected at
//! once on the set |λ_t| ≤ μ λ_n, |λ_r| ≤ μ_r R λ_n. Its law is not Coulomb's:
//!
//! ```text
//! Coulomb    0 ≤ λ_n ⊥ u_n + Σ_n λ_n - q_n ≥ 0
//! here       0 ≤ λ_n ⊥ u_n + Σ_n λ_n - q_n - μ |u_t| - μ_r R |w| ≥ 0
//! ```
//!
//! So a contact that sticks obeys Coulomb's law, and a contact that slides or rolls opens: rigid grains that slide over each other keep a
//! gap of μ |u_t| h, elastic ones a smaller overlap. A grain that begins to slide on what it touches is thrown up at μ |u_t| and lands
//! softly at that gap, if it is within the reach of the contact search. Halving the substep halves the gap. The resistance and the
//! dissipation of friction are right all the same. A packing that flows does not stay as dense, either: use \[E5\] where that counts.
//!
//! **`rigid_correction`** is the share of a rigid overlap that q_n asks for: 0.2 by default; 1 is φ/h of Olsen & Kamrin, Eq. 16, of which
//! at most 0.1 R* in a substep; 0 leaves overlaps as they are, as contact dynamics at the level of velocities does (Renouf, Dubois & Alart
//! 2004).
//!
//! # E16: Compatible forces
//!
//! Where N is singular the normal forces of a solver are one of many sets with the same effect on the bodies: they depend on its order and
//! its start. Of elastic contacts, however stiff, one set alone is possible: the forces of overlaps that a displacement u of the bodies
//! makes. Olsen & Kamrin find this set in a second step (Eqs. 24 to 37, Algorithm 1), from the effect of the forces of the first step on
//! the bodies:
//!
//! ```text
//! b  = Gᵀ f_s                                       f_s: normal forces of the solver, λ_n/h
//! f  = arg min Σ_i n/(n + 1) κ_i^(-1/n) f_i^((n+1)/n)    over f ≥ 0 with Gᵀ f = b
//! u  = arg min Σ_i κ_i δ_i^(n+1)/(n + 1) + b·u           δ_i = max(0, -(G u)_i),   f_i = κ_i δ_iⁿ
//!
//! n = 1 Hooke, 3/2 Hertz; κ_i the stiffness of the pair [E2] over the mean of all: their unit drops out
//! ```
//!
//! Motion does not change. By the balance of momenta M (v⁺ - v⁻)/h - f_ext is Gᵀ of all forces, so b needs no velocities, and a saved state
//! holds all that is needed. The contacts are those with a force and those whose gap at the end of the substep is at most a thousandth of
//! R*: rigid contacts at rest are open by as much.
//!
//! The two minima are dual to each other, u being the multipliers of Gᵀ f = b. The augmented Lagrangian method on f that the paper uses is
//! the proximal point method on u (Rockafellar 1976):
//!
//! ```text
//! u_k+1 = arg min Σ_i κ_i δ_i^(n+1)/(n + 1) + b·u + ε/2 |u - u_k|²        ε = 1e-6 usual stiffnesses
//! ```
//!
//! esker solves each by Newton's method with conjugate gradients. In u there are no bounds, and where the second derivative of Hertz'
//! complementary energy is infinite, at f = 0, the stiffness of the contact is zero. The term with ε holds bodies that no contact holds.
//! Iterations end when |Gᵀ f - b| ≤ tolerance |b|.
//!
//! **They are as good as b.** Forces that sweeps have not converged to have another effect on the bodies than the forces of equilibrium,
//! and compatible forces keep it, to the last digit of the tolerance. `compatible_unbalanced` is what is missing: |f_ext + Gᵀ λ/h| over all
//! dynamic bodies without joints, all contact impulses included, over the larger of |f_ext| and |b|.
//!
//! **With friction** the tangential and rolling impulses stay as the solver has them, and b is the effect of the normal forces alone. The
//! friction of a contact may then exceed μ times its new normal force: `compatible_over_friction` is the share of such contacts. Where it
//! is not small, the normal forces are those of a packing with other friction, and mean little.
