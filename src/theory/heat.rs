//! \[E21\]: heat.
//!
//! # E21: Heat
//!
//! Every body has one temperature T: heat evens out within a grain much faster than between grains, which holds while the Biot number
//! H/(k r), below, is small against 1 (Vargas & McCarthy 2001). A contact of two bodies conducts
//!
//! ```text
//! Q_c = H (T_b - T_a)        H = 2 k a        k = 2 k_a k_b/(k_a + k_b)        [W]
//!
//! a    radius of the contact disc                   [m]
//! k_a  conductivity of the material of a            [W/(m K)]
//! ```
//!
//! which is the heat through a disc between two half spaces (Carslaw & Jaeger 1959, section 8.2; Batchelor & O'Brien 1977 for grains in
//! a medium that does not conduct). `conductivity` of a pair replaces its harmonic mean k, for instance for a layer of oxide. Gas
//! between grains, radiation and convection are left out, and so is the heat that two grains exchange during an impact, which takes no
//! time.
//!
//! **Area.** The disc follows from the elastic overlap δ, a = √(R* δ). Under the smooth method that is the overlap at the beginning of
//! the substep. In the nonsmooth method the overlap of a contact relaxes over several substeps, lags behind its force, and under the
//! rigid law is an error that is removed. The force is the unknown that is solved for: there δ is the overlap at which the normal law
//! carries the normal force λ_n/h of the substep. For Hertz that is
//!
//! ```text
//! a = (3 F R*/(4 E*))^(1/3)
//! ```
//!
//! The linear law has δ = F/k_n, with the stiffness that makes it Hertz' at δ = 1 % of R*: it underestimates a under small forces, by a
//! factor (δ/(0.01 R*))^(1/4). Rigid bodies touch as those of Hertz: their law leaves out how a contact yields in time, and not its
//! area. Cohesion presses grains together, and λ_n holds against it. A soft modulus, chosen for a long step, makes discs too large by
//! (E_real/E)^(1/3); lower the conductivities by it. Each point of a manifold of solids has a disc of its own, with R* from the inner
//! radii of the solids as in the normal law, since it carries a force of its own: a face on a face conducts through three or four
//! discs, as rough faces do, and not through its whole area.
//!
//! **Step.** Temperatures follow explicitly from the heat of a substep, after the solve and before the bodies move:
//!
//! ```text
//! T_a ← T_a + (h Σ_c Q_c + Q_f)/C_a        C_a = m_a c        [J/K]
//! ```
//!
//! What one body of a contact gains the other one loses, to the last bit. A substep is refused in which h Σ_c H/C > 1 for some body: it
//! would pass the mean temperature of its neighbours and swing. (The bound of instability is at most twice as far.) For spheres of
//! radius r with n contacts that is about h < 2 ρ c r² / (n k (a/r)), or 10 ms for steel of r = 1 mm, n = 8 and a/r = 0.01, but 1 µs
//! for r = 10 µm.
//!
//! **Heat of friction.** With `friction_heat` = f, 0 to 1, the fraction f of the energy that a contact takes out of the motion becomes
//! heat, half of it in each of its bodies (all in the other one of an insulated wall):
//!
//! ```text
//! Q_f = -f (W_n + W_t + W_r)
//! ```
//!
//! with the works of normal, friction and rolling impulses of the balance \[E10\], impacts included. So the sum of all Q_f is f times
//! the energy that the balance says contacts took. Elastic energy is part of W_n: what an overlap stores counts as heat until the
//! contact gives it back.
//!
//! **Packings.** A simple cubic packing of spheres, with one contact in a cross section (2 r)² per length 2 r, conducts like a solid of
//!
//! ```text
//! k_eff = H/(2 r) = k a/r
//! ```
//!
//! and a random one of solid fraction φ and n contacts per grain, without fluctuations of the temperature, like k_eff = φ n H/(4 π r)
//! (Batchelor & O'Brien 1977).
//!
//! **Expansion.** Grains do not grow with temperature.
