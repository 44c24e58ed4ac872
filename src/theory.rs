//! The equations that esker solves, numbered; code cites the numbers. Documentation only.
//!
//! | | Equation | Source | Code |
//! |---|---|---|---|
//! | \[E1\] | velocity update | Moreau 1999; Wang, Servin & Berglund 2016, Eqs. 1, 5 and Algorithm 1 | `predict`, `integrate` |
//! | \[E2\] | normal law | Hertz 1882; Lacoursière 2007; Wang et al. 2016, Appendix A | `narrowphase` |
//! | \[E3\] | Coulomb friction | Wang et al. 2016, Eq. 2 and Appendix A | `narrowphase`, `sweep` |
//! | \[E4\] | rolling and twisting resistance | Wang et al. 2016, Eq. 2 and Appendix A | `narrowphase`, `sweep` |
//! | \[E5\] | projected Gauss-Seidel | Jean 1999; Wang et al. 2016, Eqs. 3 to 6 | `sweep` |
//! | \[E6\] | impacts | Wang et al. 2016, section 2 and Algorithm 1 | `impact` |
//! | \[E7\] | warm start | Wang et al. 2016, Eqs. 7 to 11; the adaptive fraction is esker's own | `matching`, `warm_start` |
//! | \[E8\] | residual | natural map, after Alart & Curnier 1991 | `residual` |
//! | \[E9\] | substeps | esker's own | all stages after the contact search |
//! | \[E10\] | balance of energies | kinetic energy and mean velocity: Moreau 1999 | `balance`, `observe::energy` |
//! | \[E11\] | joints and drives | Lacoursière 2007; split solver: Wang et al. 2016, section 5; bounds: Júdice & Pires 1994; geometric stiffness: Tournier et al. 2015 | `joints` |
//! | \[E12\] | accelerated sweeps | Nesterov 1983; Mazhar et al. 2015 | `sweep` |
//! | \[E13\] | smooth discrete elements | Cundall & Strack 1979; Tsuji, Tanaka & Ishida 1992 | `springs` |
//! | \[E14\] | coarse correction | esker's own | `cpu::coarse` |
//! | \[E15\] | projected gradient descent | Mazhar, Heyn, Negrut & Tasora 2015; Anitescu & Tasora 2010 | `gradient` |
//! | \[E16\] | compatible forces | Olsen & Kamrin; Rockafellar 1976 | `engine::compatible` |
//! | \[E17\] | stress | Love 1927; Weber 1966; Irving & Kirkwood 1950 | `loads`, `observe::stress` |
//! | \[E18\] | local problems | de Saxcé & Feng 1998; Bonnefon & Daviet 2011; Acary et al. 2011 | `local` |
//! | \[E19\] | motions of walls | product of rigid displacements, as of open kinematic chains | `model::motion` |
//! | \[E20\] | bonds | Potyondy & Cundall 2004; stiffness: Timoshenko, Cowper 1966; rows: Lacoursière 2007; strengths: Weibull 1951 | `contact::bonds` |
//! | \[E21\] | heat | Batchelor & O'Brien 1977; Vargas & McCarthy 2001 | `heat` |
//! | \[E22\] | liquid bridges | Willett et al. 2000; Rabinovich et al. 2005; Lian, Thornton & Adams 1993; drag: Adams & Perchard 1985 | `law::bridge`, `cpu::bridges` |
//! | \[E23\] | deforming cells | Lees & Edwards 1972; Evans & Morriss 1984; Andersen 1980; Parrinello & Rahman 1981 | `model::deformation`, `contact::flow` |
//!
//! | Page | Content |
//! |---|---|
//! | [`contact`] | \[E1\] to \[E4\]: the laws of bodies and contacts |
//! | [`solver`] | \[E5\], \[E7\], \[E8\], \[E12\]: sweeps, what they start from, when they are done, how they are accelerated |
//! | [`coarse`] | \[E14\]: impulses of whole regions that grow or shrink at once |
//! | [`gradient`] | \[E15\], \[E16\]: all contacts at once, as a convex problem; forces that belong to overlaps |
//! | [`step`] | \[E6\], \[E9\]: impacts, substeps; periodic axes; the order of a step |
//! | [`smooth`] | \[E13\]: springs and dampers in place of the contact problem |
//! | [`local`] | \[E18\]: contact problems with a matrix in place of bodies |
//! | [`joints`] | \[E11\]: joints, motors, machines |
//! | [`bonds`] | \[E20\]: cemented contacts that hold until they break |
//! | [`bridges`] | \[E22\]: menisci that pull until they break |
//! | [`cells`] | \[E23\]: periodic cells under shear, strain rates and goal stresses |
//! | [`motions`] | \[E19\]: walls that move as functions of time |
//! | [`energy`] | \[E10\]: the balance of energies |
//! | [`heat`] | \[E21\]: conduction through contacts, heat of friction |
//! | [`stress`] | \[E17\]: stress of regions and layers, impacts included |
//! | [`sources`] | how the paper is read, where esker departs from it, references |
//!
//! The stages named here are modules of [`cpu`](crate::cpu) and files of `shaders/`.
//!
//! # Notation and signs
//!
//! ```text
//! a, b       bodies of a contact; a is a grain, b another grain or a boundary
//! n          unit normal, from b to a
//! g          gap: distance of the surfaces, negative where they overlap      [m]
//! δ = -g     overlap                                                         [m]
//! d_a, d_b   arms: contact point minus centre of mass; the contact point is
//!            in the middle of the overlap (or of the gap)                    [m]
//! v, ω       velocity [m/s] and angular velocity [rad/s], in world axes
//! u          contact velocity, v_a + ω_a × d_a - v_b - ω_b × d_b             [m/s]
//! u_n        n·u, positive where the surfaces part                           [m/s]
//! u_t        u - u_n n                                                       [m/s]
//! w          relative spin, ω_a - ω_b                                        [rad/s]
//! λ_n        normal impulse of one substep, never negative                   [N s]
//! λ_t        friction impulse, a vector in the tangent plane                 [N s]
//! λ_r        rolling (two components) and twisting (along n) impulse         [N m s]
//! h          length of a substep                                             [s]
//! R*         effective radius, r_a r_b / (r_a + r_b); r_a against a wall     [m]
//! μ, μ_r, e  friction, rolling resistance (times R*), restitution            [-]
//! x⁻, x⁺     before and after
//! ```
//!
//! Impulses act on `a` as written and on `b` reversed: a positive λ_n pushes `a` along `+n`. The force that
//! results report is the impulse divided by the substep. A wall of any shape but a sphere counts as flat:
//! R* is the radius of the grain.
//!
//! G maps the velocities of two bodies to u and w of their contact, Gᵀ maps its impulses back; M holds masses
//! and moments of inertia.

pub mod bonds;
pub mod bridges;
pub mod cells;
pub mod coarse;
pub mod contact;
pub mod energy;
pub mod gradient;
pub mod heat;
pub mod joints;
pub mod local;
pub mod motions;
pub mod smooth;
pub mod solver;
pub mod sources;
pub mod step;
pub mod stress;
