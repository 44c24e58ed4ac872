//! \[E18\]: contact problems without bodies.
//!
//! # E18: Local problems
//!
//! A frictional contact problem in local form (Acary, Brémond, Huber & Dubois 2014) has contacts and a matrix in place of bodies: with K
//! the product of the cones |r_T| ≤ μ r_N, and with rolling components |r_R| ≤ μ_r r_N,
//!
//! ```text
//! u = W r + q        W = H M⁻¹ Hᵀ
//! K* ∋ u + (μ |u_T| + μ_r |u_R|) n  ⊥  r ∈ K
//! ```
//!
//! which is Coulomb's law of all contacts at once (de Saxcé & Feng 1998): the lift μ |u_T| n turns a contact that slides, whose u is in
//! the tangent plane, into the edge of the dual cone. Where W is singular, as in a packing with more contacts than its bodies have
//! freedom, u may be unique where r is not; with friction neither need be.
//!
//! **Residual**: the natural map that Siconos states (`fc3d_compute_error`), relative to q:
//!
//! ```text
//! ‖r - P_K(r - (u + (μ |u_T| + μ_r |u_R|) n))‖ / |q|        P_K: nearest point of K; not divided where |q| < 2.2e-16
//! ```
//!
//! Siconos 4.4 divides by the largest of |q|, |r| and |u|, which is never stricter. The map adds impulses to velocities, as the
//! collections do, so it depends on the unit of mass.
//!
//! **One contact exactly.** With all others held fixed a contact has u = A r + b, A its block of the diagonal, b what the others make of
//! q. Without rolling its three cases are (Bonnefon & Daviet 2011):
//!
//! ```text
//! b_N ≥ 0    r = 0
//! else       u_N = 0 gives  r_N = (-b_N - A_NT r_T)/A_NN        S = A_TT - A_TN A_NT/A_NN    c = b_T - A_TN b_N/A_NN
//!            (S + α) r_T = -c                                   u_T = -α r_T
//!            sticks: α = 0, if |r_T| ≤ μ r_N;  else slides: α > 0 with |r_T| = μ r_N
//! ```
//!
//! |r_T(α)| - μ r_N(α) is positive at α = 0 where the contact does not stick, and -μ r_N = μ b_N/A_NN < 0 for large α: so there is a
//! root, and r_N = |r_T|/μ there is positive. Written as a polynomial in α the condition is of degree 4; the root is found by Newton's
//! method on 1 - μ r_N/|r_T|, kept between the two signs by bisection, from the α of the sweep before. In the plane the sign of c gives
//! that of r_T, and r_N is explicit. A contact that rolls alternates this with the same for r_R, whose bound μ_r r_N is then given, until
//! neither changes, or 200 times: where rolling is coupled with the normal by much, that need not converge.
//!
//! **Nonsmooth Gauss-Seidel** (Jean 1999; `ngs`) visits contact by contact, each solved exactly. The sweeps of \[E5\] (`pgs`) differ in
//! the step of a contact: normal, then friction, by 1/D each. With blocks that are multiples of the identity, as of equal spheres, both
//! are the same; where the normal is coupled with the tangents, as in a block on its corners, the exact step converges faster. Sweeps of
//! `ngs` have the momentum of \[E12\] without its over-relaxation, β ≤ 0.8, and begin anew where the change goes against the
//! extrapolation (O'Donoghue & Candès 2015). Where the residual grows to twice its least, or has no new least in four tests, sweeps
//! begin again from the start and are more cautious: β ≤ 0.4, then plain, then plain with 0.7 and 0.5 of the exact step, without which a
//! few problems cycle.
//!
//! **Descent with a fixed point** (Acary, Cadoux, Lemaréchal & Malick 2011; `apgd`). With a given lift s in place of μ |u_T| + μ_r |u_R|
//! the problem is the convex one of \[E15\] with bias -s. So the descent of \[E15\] goes on, and the lift follows the velocities whenever
//! the residual of the convex problem is below 0.7 of that of Coulomb's law, or after 200 iterations. It meets Coulomb's law where
//! \[E15\] alone lets contacts that slide open.
//!
//! Order of the contacts: as they are stored, or by colours: contacts of a colour share no block of W, so several threads may solve them.
//! No method is sure to converge: a problem with friction may have no solution, and one that has one may defeat Gauss-Seidel.
