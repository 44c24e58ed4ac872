//! \[E22\]: liquid bridges, menisci that pull bodies together up to a gap at which they break.
//!
//! # E22: Liquid bridges
//!
//! Two bodies that have touched are joined by a bridge of the volume V, of a liquid with the surface tension γ and the contact angle θ. Its
//! force pulls them together along the normal, at the gap S, as long as S is at most S_c. In formulas for two equal spheres of the radius R
//! other bodies have R = 2 R* (Derjaguin): 2 r_a r_b/(r_a + r_b), and 2 r at a wall.
//!
//! ```text
//! F = 2 π R γ cos θ/(1 + 1.05 Ŝ + 2.5 Ŝ²)      Ŝ = S √(R/V)                        "willett"
//! F = 2 π R γ exp(f₁ - f₂ exp(f₃ s + f₄ s²))   s = ln(Ŝ/2)                         "willett_fit"
//! F = 2 π R γ (cos θ (1 - S/q) + sin α sin(θ + α))                                 "rabinovich"
//!     q = √(S² + 2 V/(π R))      α = √((q - S)/R)
//!
//! S_c = (1 + θ/2) V^(1/3)                                                          "lian"
//! S_c = (1 + θ/2) (V^(1/3) + V^(2/3)/(10 R))                                       "willett"
//! ```
//!
//! The first two are Willett, Adams, Johnson & Seville 2000, equation 12 (there with half the gap) and appendix, where f₁ to f₄ are
//! polynomials of θ and ln(V/R³), fitted to solutions of the capillary equation for V < 0.1 R³ and θ < 50°; the third is Rabinovich,
//! Esayanur & Moudgil 2005, where 1 - S/q is 1/(1 + S/(2 d)) with the depth of immersion d = (q - S)/2. S_c is that of Lian, Thornton &
//! Adams 1993 or the correction of Willett et al. (equation 15). Beside menisci of constant mean curvature between equal spheres that the
//! liquid wets, with V of 1e-4 to 0.08 R³ and gaps of 0.1 to 0.7 S_c, the fit is within 2 %; the closed form is up to 16 % too weak, and
//! Rabinovich's up to 28 % too strong for the largest volumes (`law::bridge`).
//!
//! **Formation and rupture.** A bridge forms where bodies touch: where their gap is at most that of cohesion \[E2\], a thousandth of R*,
//! where their contact carries an impulse, or where it bounces \[E6\]. It breaks at the start of the substep in which S > S_c, and does not
//! come back until they touch again: bodies that part go through forces which those that approach do not feel. A sphere has one bridge with
//! each surface and sphere that it has touched, and every sphere of a clump has its own. Where a grain rolls from patch to patch of a mesh,
//! or over the joint of flush surfaces, its bridge goes with it.
//!
//! **In a step** the force of the gap at the start acts over the substep, h F, as the cohesion of the contact \[E2\]: λ_n holds against it
//! and alone bounds friction. Where bodies overlap F is that of S = 0. While they are apart the contact is part of the problem with a gap
//! that it may close, so at long steps bodies that a bridge pulls together stop where they touch. A bridge is resolved by steps in which
//! the gap changes by a small part of S_c: h ≪ S_c/v; a longer step changes by how much energy grains part, and not how they rest. Impacts
//! are without bridges, as they are without cohesion.
//!
//! **Drag.** A liquid of the viscosity η resists by lubrication (Adams & Perchard 1985 along the normal; Goldman, Cox & Brenner 1967 across
//! it, as in Lian, Adams & Thornton 1996):
//!
//! ```text
//! f_n = -6 π η R*² u_n/S      f_t = -6 π η R* (8/15 ln(R*/S) + 0.9588) u_t      S ≥ S_min = smallest_gap · R*
//! ```
//!
//! with the roughness S_min, below which surfaces do not come. It acts after all other forces of the substep are in the velocities, and
//! before the sweeps. The coefficients C reach many times m/h, so each bridge takes the velocity that it leaves, with the mobility K of its
//! contact,
//!
//! ```text
//! P = -h C (u + K P)
//! ```
//!
//! one after the other. Each takes energy out, so the whole does at any step (Shardlow 2003); with h C ≪ m it is the explicit force.
//! Resistance to turning is left out.
//!
//! **Energy.** A bridge at the gap S has the energy -∫ F dS from S to S_c over the broken one, and for an overlap F(0) g less.
//! `bridge_work` of the balance \[E10\] is the work of pull and drag on the bodies; what it took and bridges do not hold is
//! `dissipated_by_bridges`: for a bridge that forms in touch all of ∫ F dS at once, as bodies came together without being pulled, and by
//! drag the rest.
//!
//! **Liquid.** Every bridge has the same volume, or the same multiple of the cube of the radius of its smaller sphere. It comes from
//! nowhere and goes nowhere: films on grains, a balance of the liquid and bridges that merge are left out, so the model is one of the
//! pendular state.
