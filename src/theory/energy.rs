//! The energy balance \[E10\]: work of gravity, boundaries, contacts and impacts.
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
//! u_held and w_held are the u and w of the velocities that no impulse changes: those of bodies that are not free, and along locked axes.
//! λ·ū is the energy that a contact takes out where it slips on such a body, and W_b the energy that this body puts in, λ·u_b + λ_r·ω_b for
//! a boundary b. The works of joints with their drives \[E11\] are added to W_b, those of bonds \[E20\] are a sum of their own like that of
//! contacts. This identity contains no approximation: it holds to
//! rounding whatever the step, the sweeps and the residual, as long as the impulses in the balance are those that were applied.
//!
//! Each round of the impact stage is one solve, the rest of the substep (gravity, warm start, sweeps) another. The balance adds up
//! since the start of the run
//!
//! ```text
//! gravity_work     Σ h (m gravity·v̄ + F·v̄ + τ·w̄)   boundary_work   W_b, of both solves
//! normal_work      Σ λ_n ū_n                  impact_work     Σ λ_n ū_n of the impact stage
//! friction_work    Σ λ_t·ū_t, of both         rolling_work    Σ λ_r·w̄, of both
//! bond_work        Σ λ·ū of the bonds
//! bridge_work      Σ (-h F n + P)·ū of the liquid bridges [E22], which λ_n·ū leaves out
//!
//! Impacts happen half a substep on \[E6\], so λ_n h a_n/2 of what an impact does is the work of gravity and not its own:
//! impact_work = Σ λ_n (ū_n + h a_n/2), and gravity_work has the difference. An elastic bounce then takes nothing, and over a flight
//! between two bounces gravity's work is that of the way.
//!
//! energy error     T - T_start - (all of these) - T_emitted + T_removed
//! error share      its size over the larger of T_start and Σ |all of these| + T_emitted + T_removed
//! ```
//!
//! The share is below 1e-14 in double precision, and a few roundings (3e-7) in single, where the sums are
//! taken on the device per substep and added up in double precision by the host.
//!
//! Where contacts are cohesive \[E2\], λ_n stands for λ_n - h F_c here: the force that acts.
//!
//! Contacts store the elastic energy E_el = Σ (2/5) k_n δ^(5/2) (Hertz), Σ k_n δ²/2 (Hooke) or 0 (rigid) at the overlaps after the step,
//! less F_c δ under an elastic law. Normal rows dissipate -normal_work - (E_el - E_el at the start). Positions move with v⁺ and not with v̄
//! \[E1\], so E_el is no part of the identity above: a step in which a contact closes fast makes an overlap that it did no work for, and
//! the row then pushes back. Where steps are coarse or sweeps few, the dissipation of normal rows can be negative, and the size of that is
//! what the step costs in energy. For the same reason gravity's work is not quite the potential energy lost. The energy that a contact of a
//! grain stores when a sink takes the grain counts as dissipated by normal rows. Friction, rolling and impacts took energy out in all
//! scenes looked at.
//!
//! **Impacts.** Two bodies never part with more energy than they met with, nor does any number of them with e = 0, nor
//! without friction under one e (Moreau 1999). Newton's restitution and Coulomb's friction together can make
//! energy when several touching grains are hit at once: of random clusters of three to five grains with µ up to
//! 2, rolling up to 1 and masses 1:6000 (300 sweeps) none gained at e = 0, 2 in 10⁴ at 0.5, 5 in 1 000 at 0.9 and 13 in
//! 1 000 at 1, by a third of their energy at most.
