//! The contact law: every formula of a contact between two bodies, once. A solver knows contact constraints and their cones; what makes
//! their coefficients of materials, sizes and overlaps is here, beside the name of the shader that has the same formula in single
//! precision. The forces of the springs of the smooth method \[E13\] are in `cpu::springs`.
//!
//! | Part | Formula |
//! |---|---|
//! | [`pair`] | coefficients of a pair of materials: effective modulus, friction, restitution |
//! | [`normal`] | elastic force over the overlap, position correction \[E2\] |
//! | [`cohesion`] | pull-off force and its range \[E2\] |
//! | [`cone`] | bound of friction and rolling impulses \[E3\], \[E4\] |
//! | [`rolling`] | lever arm of rolling resistance \[E4\] |
//! | [`restitution`] | bounce, and the restitution up to which no impact gains energy \[E6\] |
//! | [`damping`] | damping of the springs of the smooth method \[E13\] |
//! | [`bond`] | stiffness, stress and strength of bonds \[E20\] |
//! | [`bridge`] | force, rupture and drag of liquid bridges \[E22\] |
//! | [`guard`] | which laws may make energy \[E12\] |
//! | [`heat`] | conduction of heat through a contact \[E21\] |

pub mod bond;
pub mod bridge;
pub mod cohesion;
pub mod cone;
pub mod damping;
pub mod guard;
pub mod heat;
pub mod normal;
pub mod pair;
pub mod restitution;
pub mod rolling;
