//! \[E19\]: kinematic walls, whose poses are functions of time.
//!
//! # E19: Motions of walls
//!
//! ```text
//! s(t)      speed of a motion in parts of the full speed: 0 before its start and after its stop, 1 in between, and
//!           linear over the ramp r after the start and before the stop
//! τ(t)      ∫ s dt, the time under way                                     [s]
//! D_i(τ)    displacement of motion i: a rotation about a point, then a shift
//!
//! velocity       x ↦ x + v τ
//! oscillation    x ↦ x + A (sin(2π f τ + φ) - sin φ)
//! rotation       x ↦ p + R(ω τ) (x - p)                                    R(θ): turn by |θ| about θ
//! rocking        x ↦ p + R(θ (sin(2π f τ + φ) - sin φ)) (x - p)
//! table          x ↦ p + d(τ) + Q(τ) (x - p)                               d linear, Q = R(u_j (τ - τ_j)) Q_j
//!
//! place of a wall    x(t) = D_1 ∘ D_2 ∘ … ∘ D_n (x_0)
//! velocity           v = (x(t) - x(t - h))/h        in the substep that ends at t
//! angular velocity   ω = log(q(t) q(t - h)⁻¹)/h
//! ```
//!
//! Each motion acts in the frame that those before it move: D_1 is that of the outermost frame. So the angular velocity of a drum in a
//! rocking frame is that of the frame plus its own, turned by the frame.
//!
//! **Velocities** are those that lead from one pose to the next one: they are the derivatives of the place at the middle of the substep,
//! but for h²/24 times the third derivative, and exact in the mean where a motion starts, stops or turns a corner. Poses are never summed
//! up from velocities. Of one rotation alone ω is the rate itself, times the mean of s. In a general motion a point at the arm r is led
//! along the tangent v + ω × r, which leaves the arc by ω² h r/2 of a velocity.
//!
//! **Work** of a wall is the impulses on it times this velocity \[E10\].
