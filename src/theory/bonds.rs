//! \[E20\]: bonds, cemented contacts that hold shifts and turns until they break.
//!
//! # E20: Bonds
//!
//! A bond is a beam between the centres of two grains, or between the centre of a grain and the nearest point of a wall, with a circular
//! section of radius R (the bonded-particle model of Potyondy & Cundall 2004). In its middle the stiffness of a beam is diagonal: with s
//! the shift and φ the turn there of what the second body carries against what the first carries, in axes half-way between those of both,
//!
//! ```text
//! along         N = k_n s_x      k_n = E A/L
//! across        V = k_s s_y,z    k_s = 12 E I/(L³ (1 + Φ))      Φ = 12 E I/(κ G A L²)     κ = 6 (1 + ν)/(7 + 6 ν)
//! twisting      T = k_t φ_x      k_t = G J/L                    G = E/(2 (1 + ν))
//! bending       M = k_b φ_y,z    k_b = E I/L                    A = π R², I = π R⁴/4, J = 2 I
//! ```
//!
//! That is Timoshenko's beam, with Cowper's κ (1966): a chain of n bonds bends under forces on its grains exactly as a beam of length n L
//! does at the places of the grains. Potyondy & Cundall have k_n and k_s free; here E and ν decide. s and φ are measured from the poses of
//! the bodies, so they do not drift, and a bond that moves and turns as a whole is not deformed, however far. Forces act on both bodies at
//! the one place half-way between the two that they carry, so bonds conserve the angular momentum.
//!
//! # Rows
//!
//! A bond is six rows of the form of \[E11\], without bounds, with the compliance ε = 1/k of each motion,
//!
//! ```text
//! u⁺ + Σ λ - q = 0      Σ = 4 ε Υ/h²     q = -4 Υ/h g + Υ u⁻     Υ = 1/(1 + 4 τ/h)     τ = max(2 ζ/ω, h/2)     ω² = k D
//! ```
//!
//! with g = s or φ, D the diagonal of G M⁻¹ Gᵀ and ζ the damping ratio. This is the mean of the spring force over the steps before, now and
//! after with weights 1, 2 and 1 (Newmark's rule of constant mean acceleration), plus a damper τ k: stable at any step, of second order for
//! ζ alone. Vibrations that a step does not resolve would go on for ever under it. The damping time of half a substep, as of a rigid joint,
//! damps them: a deviation in a stiff bond shrinks to a third in two substeps, and a vibration with ω h ≪ 1 is damped with a ratio of ω
//! h/4.
//!
//! All bonds are one linear system, solved by conjugate gradients with the diagonal D + Σ as preconditioner, before the first sweep and
//! after every sweep with the impulses of all contacts held fixed, as the joints are. The solve starts from the impulses of the last
//! substep and ends where the energy of the error, as the last four iterations show it (Hestenes & Stiefel 1952), is 10⁻¹⁴ of λ Σ λ, which
//! is some times the elastic energy of the bonds, or after 1 000 iterations; after a sweep at 10⁻⁶ of it or after 20
//! ([`BOND_TOLERANCE`](crate::settings::BOND_TOLERANCE), [`BOND_ITERATIONS`](crate::settings::BOND_ITERATIONS)). Every iterate has
//! velocities that belong to its impulses and less energy in the error than the one before, so an early end costs accuracy and never
//! stability. A sweep over single bonds would need a number of passes that grows with the fourth power of the length of a slender block
//! over L; conjugate gradients need its square root.
//!
//! Under the smooth method the force of a bond is -k (g + τ u) with τ = 2 ζ/ω in the present state, and the step has to resolve ω.
//!
//! Impacts \[E6\] take no time, and a compliant bond does nothing in no time: each grain bounces with its own mass, and its bonds hold it
//! back in the solve that follows.
//!
//! # Strength
//!
//! After each substep the elastic stresses on the outer fibre (Potyondy & Cundall 2004, Eqs. 15, 16; tension positive)
//!
//! ```text
//! σ = N/A + M R/I        τ_f = V/A + T R/J        with N = k_n s_x and so on, without damping
//! breaks in tension if σ ≥ σ_c,      in shear if τ_f ≥ c - N/A tan φ_f
//! ```
//!
//! are compared with the tensile strength σ_c, and with cohesion c and friction angle φ_f. A broken bond carries nothing any more; its
//! elastic energy is the fracture energy of the balance. Strengths of single bonds may be drawn from Weibull's distribution (1951) with
//! modulus m and the given means: σ_c and c of a bond are multiplied by (-ln(1 - x))^(1/m)/Γ(1 + 1/m) with x uniform in \[0, 1).
//!
//! Two bodies with a bond have no contact while it holds, however much they overlap, as the compression is in k_n already. When it breaks
//! the next step finds their contact. If they overlap then, its elastic energy comes into the scene at once; the balance says how much, as
//! energy that normal impulses gave.
//!
//! Where grains go a good part of their radius in a step, a bond is stretched beyond its strength before it breaks, by a shift for which no
//! work was done \[E10\], and more energy is told as released than bonds took.
//!
//! # Works
//!
//! The work of a bond is λ·ū over its six rows, as of a contact \[E10\]: `bond_work`, with the part on a wall or along locked axes in
//! `boundary_work`. What bonds took out, less the elastic energy ½ Σ k g² that they hold, is what they dissipated: by damping, and when
//! they broke.
