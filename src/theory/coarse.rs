//! Impulses of whole regions that grow or shrink at once: \[E14\] coarse corrections.
//!
//! # E14: Coarse correction
//!
//! A sweep \[E5\] carries a correction over a distance of about one contact, an accelerated sweep \[E12\] over some contacts: an error that
//! spans a hundred layers takes as many sweeps. The shape of such an error is known, though. In a bed of 174 layers whose impulses are
//! those of a step ago, 80 % of the error after 20 sweeps (in the norm of G M⁻¹ Gᵀ + Σ), and 99 % from a cold start, are multiples of the
//! answer that vary slowly in space: the forces have the right pattern and the wrong size. So a coarse correction multiplies,
//!
//! ```text
//! λ_c ← (1 + α μ_c) λ_c        v ← v + M⁻¹ Gᵀ α μ_c λ_c
//! μ_c = (μ(x_a) + μ(x_b))/2    μ: trilinear between the nodes of a grid of cubic cells, edge 4 times the mean distance of bodies
//!                              in contact; of a contact with a wall μ at the body alone
//! ```
//!
//! and no impulse leaves its cone, as all its parts grow alike and μ ≥ -1. The values at the nodes are those that leave the least error.
//! With P the matrix of the φ_k(c) λ_c, φ_k the weight of node k,
//!
//! ```text
//! A μ = -s        s_k = Σ_c φ_k(c) λ_c · ρ_c            ρ: natural-map residual [E8]
//!                 A = Pᵀ (G M⁻¹ Gᵀ + Σ) P
//!                   ≈ Σ_i [ p_k(i) · p_l(i) / m_i + φ_k φ_l e_i ]        sum over bodies i, φ at their centres
//! p_k(i) = φ_k f_i + S_i ∇φ_k                            f_i = ± Σ_c λ_c,  S_i = ½ Σ_c ± λ_c ⊗ (x_j - x_i),  e_i = ½ Σ_c Σ_n λ_n²
//! ```
//!
//! (at walls e_i counts whole instead of ½, and S_i not at all; λ_c here is the linear impulse). The residual of a contact that slides is
//! that of its cone, not its slip, so that at a solution there is nothing to correct. The sum over bodies goes cell by cell, 8 nodes each,
//! as in finite elements, and conjugate gradients with the diagonal as preconditioner solve to a hundredth. A neglects the rotation of
//! bodies, and the terms of φ beyond its gradient; the step length α = -(s · μ)/(error of a full step), at most 1, gives the least error
//! for the true effect of the correction, rotation included. In beds α is 0.8 to 1.
//!
//! The first correction follows 3 sweeps, which give the pattern, the next ones 2, 3, 4 and so on sweeps later, as many as
//! [`coarse_corrections`](crate::settings::Settings::coarse_corrections) says and sweeps are left; the momentum of \[E12\] begins anew
//! after each. A correction takes the time of about 4 sweeps. Contacts that carry nothing keep carrying nothing: a cold start with rigid
//! contacts, in which sweeps must first find the contacts that carry, gains less. The correction also helps less where friction alone is in
//! doubt, as in a drum: the error there has no pattern that spans the drum. Numbers: `benches/results/coarse.md`.
//!
//! The idea of a few unknowns for many grains is that of multigrid methods; the multiples of the present impulses as their space are
//! esker's own.
