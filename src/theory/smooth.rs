//! The smooth method: \[E13\] contact forces of springs and dampers, and explicit steps.
//!
//! # E13: Smooth discrete elements
//!
//! `solver.method = "smooth"` replaces the contact problem by forces that follow from positions and velocities (Cundall & Strack 1979):
//!
//! ```text
//! v⁺ = v + h M⁻¹ (f + Σ contacts)        x⁺ = x + h v⁺
//! ```
//!
//! This is the leapfrog of \[E1\] with forces in the place of impulses, so a step must be short beside the time of a contact: microseconds
//! instead of milliseconds. Nothing is solved: no sweeps, no impacts, no colours that matter to the result. Search, bodies, joints,
//! loads, balance and outputs are those of the nonsmooth method; an impulse that is written out is the force times h.
//!
//! **Along the normal**, with the overlap δ = -g and dδ/dt = -u_n:
//!
//! ```text
//! f_n = k_n δ^(3/2) + η_n dδ/dt          Hertz       S = (3/2) k_n δ^(1/2)
//! f_n = k_n δ       + η_n dδ/dt          Hooke       S = k_n
//!
//! η_n = √(10/3) ζ √(m* S)  (Hertz)       ζ = -ln e/√(ln² e + π²)      1/m* = 1/m_a + 1/m_b
//! η_n = 2 ζ √(m* S)        (Hooke)
//! ```
//!
//! k_n is that of \[E2\], S the slope of the force. In terms of k_n, Hertz's damping is α √(m* k_n) δ^(1/4) with α = √5 ζ (Tsuji, Tanaka &
//! Ishida 1992); with either law two bodies return from each other with exactly the restitution e, at any speed, if the force may pull them
//! together at the end of the contact, as it does here. With `solver.damping = "viscoelastic"` it is
//!
//! ```text
//! f_n = k_n (δ^(3/2) + c δ^(1/2) dδ/dt)  Hertz       f_n = k_n (δ + c dδ/dt)  Hooke
//! ```
//!
//! with the `damping` c of the pair \[s\], the law of Servin, Wang, Lacoursière & Bodin 2014; its restitution falls with the speed, and the
//! restitution of the pair has no effect.
//!
//! **Cohesion** \[E2\] takes F_c from f_n while the bodies overlap; the bounds of friction and rolling below are those of f_n without F_c.
//!
//! **Across it**, a spring with a history (Cundall & Strack 1979; Mindlin 1949 without slip):
//!
//! ```text
//! s ← r s - h k_t u_t                    k_t = κ S          κ = 4 G*/E*      1/G* = (2 - ν_a)/G_a + (2 - ν_b)/G_b
//! s ← proj(s)                            on the disc μ max(f_n, 0) [E3]
//! f_t = proj(s - η_t u_t)                η_t = √κ η_n; without the damper where s was projected
//! ```
//!
//! κ is 2 (1 - ν)/(2 - ν) between bodies of one material, and under Hertz's law k_t = 8 G* √(R* δ); `tangential_stiffness` of a pair sets
//! another. r = √(δ/δ_before) while a Hertzian contact unloads, and 1 otherwise: without this factor a cycle of load and slip would make
//! energy (Thornton, Cummins & Cleary 2013). Before it is stretched, s is turned with the contact: into today's tangent plane, keeping its
//! length, and about the normal with the mean spin of the two bodies.
//!
//! **Rolling and twisting** have a spring of the same kind, which holds a moment:
//!
//! ```text
//! m ← r m - h k_r w                      k_r = R*² k_t      w = ω_a - ω_b
//! m ← proj(m)                            on the ball μ_r s max(f_n, 0) [E4]
//! ```
//!
//! with the damping R*² η_t (Ai, Chen, Rotter & Ooi 2011, type C). The force or moment of a spring stays with its contact from search to
//! search by key, like the impulses of \[E7\], and is part of checkpoints.
//!
//! **The energy** that springs hold is s²/(2 k_t) + m²/(2 k_r) beside that of the overlap. The balance \[E10\] holds as it stands, with
//! forces as impulses over the substep.
