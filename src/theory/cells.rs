//! \[E23\]: periodic cells that deform, by shear, strain rates and goal stresses.
//!
//! # E23: Deforming cells
//!
//! The edges e of the lattice of images follow a velocity gradient L: strain rates along the axes, and one shear rate ∂v_i/∂x_j. A
//! substep takes e to e + h L e, about the centre c of the cell. Lengths L_k grow by the factor 1 + h L_kk, and the images across the
//! sheared face slide by h L_ij L_j (Lees & Edwards 1972, as sliding bricks: Allen & Tildesley 2017). The cell in which grains are kept
//! stays rectangular, and its tilt is counted up to half a period, so any strain is possible and nothing has to be flipped.
//!
//! **Velocities** are those beside the flow: a grain at x has the velocity v + L (x - c), of which v is kept, shown and counted in
//! `kinetic_energy`. It does not change when the grain is wrapped. Positions, contact velocities and velocities become
//!
//! ```text
//! x⁺ = x + h (v⁺ + L (x - c))                                            all images alike
//! u  = v_a + ω_a × d_a - v_b - ω_b × d_b + L (x_a - x_b)                 x_a - x_b = d_b - d_a, of the images that meet
//! v⁺ = v - h L v + λ/m
//! ```
//!
//! The term -L v is that of SLLOD (Evans & Morriss 1984): at a constant shear rate the whole is Newton's law for v + L (x - c). Where L
//! changes, the flow changes at once everywhere, and v stays. Spins are those of the grains, not beside that of the flow. Contacts far
//! from a face and across it are treated alike; nothing is said of faces in the solve. Impacts, friction, targets and residuals take
//! this u.
//!
//! **Goal stresses.** The strain rate r = L_kk of an axis under the stress σ is an unknown of the solve, with the inertia M = α m L_k²
//! of all grains of mass m (`mass_ratio` α), in the manner of Andersen 1980 and Parrinello & Rahman 1981:
//!
//! ```text
//! M (r⁺ - r) = Σ λ_k (x_a - x_b)_k + h (Σ m v_k² - σ V)                  |r| ≤ max_rate
//! ```
//!
//! The sum over all contacts follows the impulses after every sweep, and is extrapolated with the velocities \[E12\]. A contact changes
//! it by (d/L_k)² of what it changes its grains by, so the delay of a sweep is harmless, and stiff grains need no short steps: a servo
//! that looked at the stress once per step would. Rounds of impacts change r in the same way.
//!
//! **Stress** of a substep, positive under pressure, with all impulses and the flux of the velocities beside the flow \[E17\]:
//!
//! ```text
//! h V σ = Σ λ ⊗ (x_a - x_b) + h Σ m v ⊗ v
//! ```
//!
//! Without friction it is symmetric to rounding. With friction the antisymmetric part is what spins the grains up, which is nothing in
//! the mean; quantities are of the symmetric part.
//!
//! **Work.** Contacts take -λ·u, so the cell gives the grains -λ·L (x_a - x_b) each, and -h m v·L v by the flux: -h V σ:L in all. The
//! energy balance \[E10\] counts it as `boundary_work`, and closes to rounding.
