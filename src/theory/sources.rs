//! How the paper of 2016 is read, where esker departs from it, and all sources.
//!
//! # How the paper of 2016 is read
//!
//! Wang, Servin & Berglund 2016 carries slips of the pen. This is how they are read here:
//!
//! - Effective radius (Appendix A): printed as (r_a + r_b)/(r_a r_b), its reciprocal. Read as
//!   r_a r_b/(r_a + r_b), which is a length. It enters twice. In the stiffness the printed formula is that of Hertz only
//!   with 4 R* in its place, and half of it with R*; here the stiffness is that of Hertz. In the bound of rolling
//!   resistance nothing tells which multiple of R* is meant, and an angle of repose depends on it: `solver.rolling_arm` \[E4\] is
//!   R* as usual, or 2 R* or 4 R*, the radius or diameter of two like grains. At walls, where R* = r, the same multiples hold.
//! - Projection (section 2 and Algorithm 1): the text has Coulomb's cone, |λ_t| ≤ μ λ_n; Algorithm 1 clamps one scalar row
//!   after the other, which is a box. Read as the cone; `solver.cone = "box"` \[E3\] is the other.
//! - Sign of the iteration (Eq. 3 and Algorithm 1): printed as λ + D⁻¹ r with r = G v - q, which runs away
//!   from the solution. Read as λ - D⁻¹ r.
//! - Residual (Eq. 6 and Algorithm 1): its second form, G v - q, drops the term Σ λ that the first has. Kept
//!   here: without it the elastic law is not met. `convergence.csv` has the normal residual in both forms. In a pile at rest
//!   the second hardly tells cold from history starts, where friction and rolling differ six times: that is what the paper finds (its
//!   figure 9).
//! - D (Appendix A): printed as the whole matrix G M⁻¹ Gᵀ + Σ. Read as its diagonal, as the text of the
//!   paper says.
//! - Sign of q_n (section 2 and Algorithm 1): printed as -(4/h) Υ g. With the Jacobian as printed, by which
//!   parting is positive, and the overlap counted positive, a contact would pull. Read with a plus.
//! - Slope of the constraint (Appendix A): printed as e_H g^(e_H - 1) with g = δ^e_H. Read as
//!   e_H δ^(e_H - 1), its derivative.
//! - Model-based start (Eq. 9): printed with the factor 5/4. From f = k_n δ^(3/2) and f = Gᵀ λ/h
//!   it is 4/5 in the paper's variables, and h k_n δ^(3/2) for the true impulse used here.
//!
//! # Where esker departs from the paper
//!
//! - Stiffness: the paper's ε is that of a k_n half as large. Here k_n is that of Hertz as in textbooks.
//! - Rows are divided by the slope s, so λ_n is an impulse. The solution is the same.
//! - Pairs not yet touching have rows, and sink under their load once they have closed \[E2\]; the paper has
//!   none.
//! - Hooke's and the rigid law are choices beside that of Hertz.
//! - Impacts: contacts that close within the substep bounce in it, and contacts that these bounces close bounce in further rounds, by the
//!   velocities at the impact; other contacts without overlap take no part, and touching contacts that do not bounce are held from closing
//!   (λ_n ≥ 0), not at zero velocity both ways.
//! - Friction and rolling rows are not regularised. The paper adds γ/h to D_t and D_r, γ = 1e-6, in units that
//!   depend on the mass: below the rounding of single precision for its pellets, and a creep of
//!   millimetres per second for a body of a tonne.
//! - The adaptive start \[E7\], substeps \[E9\] and the residual \[E8\] are not in the paper.
//! - Contacts are swept colour by colour, boundaries last, not in the order in which they were found. Another
//!   order gives other numbers before convergence, and the same trends.
//!
//! # Sources
//!
//! - V. Acary, M. Brémond, O. Huber, F. Dubois 2014: FCLIB: a collection of discrete 3D frictional contact problems. Technical Report
//!   RT-0444, Inria.
//! - V. Acary, F. Cadoux, C. Lemaréchal, J. Malick 2011: A formulation of the linear discrete Coulomb friction problem via convex
//!   optimization. Z. Angew. Math. Mech. 91, 155-175.
//! - J. Ai, J.-F. Chen, J. M. Rotter, J. Y. Ooi 2011: Assessment of rolling resistance models in discrete element simulations. Powder
//!   Technol. 206, 269-282.
//! - M. J. Adams, V. Perchard 1985: The cohesive forces between particles with interstitial liquid. I. Chem. E. Symp. Ser. 91, 147-160.
//! - A. J. Goldman, R. G. Cox, H. Brenner 1967: Slow viscous motion of a sphere parallel to a plane wall. I: Motion through a quiescent
//!   fluid. Chem. Eng. Sci. 22, 637-651.
//! - G. Lian, M. J. Adams, C. Thornton 1996: Elastohydrodynamic collisions of solid spheres. J. Fluid Mech. 311, 141-152.
//! - G. Lian, C. Thornton, M. J. Adams 1993: A theoretical study of the liquid bridge forces between two rigid spherical bodies. J. Colloid
//!   Interface Sci. 161, 138-147.
//! - Y. I. Rabinovich, M. S. Esayanur, B. M. Moudgil 2005: Capillary forces between two spheres with a fixed volume liquid bridge: theory
//!   and experiment. Langmuir 21, 10992-10997.
//! - T. Shardlow 2003: Splitting for dissipative particle dynamics. SIAM J. Sci. Comput. 24, 1267-1282.
//! - C. D. Willett, M. J. Adams, S. A. Johnson, J. P. K. Seville 2000: Capillary bridges between two spherical bodies. Langmuir 16,
//!   9396-9405.
//! - G. K. Batchelor, R. W. O'Brien 1977: Thermal or electrical conduction through a granular material. Proc. R. Soc. Lond. A 355, 313-333.
//! - H. S. Carslaw, J. C. Jaeger 1959: Conduction of Heat in Solids, 2nd edition. Clarendon Press, Oxford.
//! - W. L. Vargas, J. J. McCarthy 2001: Heat conduction in granular materials. AIChE J. 47, 1052-1059.
//! - O. Bonnefon, G. Daviet 2011: Quartic formulation of Coulomb 3D frictional contact. Technical Report RT-0400, Inria.
//! - G. R. Cowper 1966: The shear coefficient in Timoshenko's beam theory. J. Appl. Mech. 33, 335-340.
//! - D. O. Potyondy, P. A. Cundall 2004: A bonded-particle model for rock. Int. J. Rock Mech. Min. Sci. 41, 1329-1364.
//! - W. Weibull 1951: A statistical distribution function of wide applicability. J. Appl. Mech. 18, 293-297.
//! - P. A. Cundall, O. D. L. Strack 1979: A discrete numerical model for granular assemblies. Géotechnique 29, 47-65.
//! - R. D. Mindlin 1949: Compliance of elastic bodies in contact. J. Appl. Mech. 16, 259-268.
//! - M. Servin, D. Wang, C. Lacoursière, K. Bodin 2014: Examining the smooth and nonsmooth discrete element approaches to granular
//!   matter. Int. J. Numer. Methods Eng. 97, 878-902.
//! - C. Thornton, S. J. Cummins, P. W. Cleary 2013: An investigation of the comparative behaviour of alternative contact force models
//!   during inelastic collisions. Powder Technol. 233, 30-46.
//! - Y. Tsuji, T. Tanaka, T. Ishida 1992: Lagrangian numerical simulation of plug flow of cohesionless particles in a horizontal pipe.
//!   Powder Technol. 71, 239-250.
//! - M. R. Hestenes, E. Stiefel 1952: Methods of conjugate gradients for solving linear systems. J. Res. Natl. Bur. Stand. 49, 409-436.
//! - H. Hertz 1882: Ueber die Berührung fester elastischer Körper. J. reine angew. Math. 92, 156-171.
//! - P. Alart, A. Curnier 1991: A mixed formulation for frictional contact problems prone to Newton like
//!   solution methods. Comput. Methods Appl. Mech. Eng. 92, 353-375.
//! - J. J. Moreau 1999: Numerical aspects of the sweeping process. Comput. Methods Appl. Mech. Eng. 177,
//!   329-349.
//! - N. F. Carnahan, K. E. Starling 1969: Equation of state for nonattracting rigid spheres. J. Chem. Phys. 51, 635-636.
//! - J. H. Irving, J. G. Kirkwood 1950: The statistical mechanical theory of transport processes. IV. J. Chem. Phys. 18, 817-829.
//! - A. E. H. Love 1927: A Treatise on the Mathematical Theory of Elasticity, 4th edition. Cambridge University Press.
//! - S. Luding 2004: Micro-macro transition for anisotropic, frictional granular packings. Int. J. Solids Struct. 41, 5821-5836.
//! - J. Weber 1966: Recherches concernant les contraintes intergranulaires dans les milieux pulvérulents. Bulletin de liaison des ponts et
//!   chaussées 20, 1-20.
//! - M. Jean 1999: The non-smooth contact dynamics method. Comput. Methods Appl. Mech. Eng. 177, 235-257.
//! - C. Lacoursière 2007: Regularized, stabilized, variational methods for multibodies. 48th Scandinavian
//!   Conference on Simulation and Modeling (SIMS 2007), 40-48.
//! - H. Mazhar, T. Heyn, D. Negrut, A. Tasora 2015: Using Nesterov's method to accelerate multibody dynamics with friction
//!   and contact. ACM Trans. Graph. 34(3), 32.
//! - B. O'Donoghue, E. Candès 2015: Adaptive restart for accelerated gradient schemes. Found. Comput. Math. 15, 715-732.
//! - G. de Saxcé, Z.-Q. Feng 1998: The bipotential method: a constructive approach to design the complete contact law with friction and
//!   improved numerical algorithms. Math. Comput. Model. 28, 225-245.
//! - Y. Nesterov 1983: A method of solving a convex programming problem with convergence rate O(1/k²). Soviet Math. Dokl. 27,
//!   372-376.
//! - R. Tonge, F. Benevolenski, A. Voroshilov 2012: Mass splitting for jitter-free parallel rigid body simulation.
//!   ACM Trans. Graph. 31(4), 105.
//! - T. Unger, L. Brendel, D. E. Wolf, J. Kertész 2002: Elastic behavior in contact dynamics of rigid particles. Phys. Rev. E 65, 061305.
//! - D. Wang, M. Servin, T. Berglund 2016: Warm starting the projected Gauss-Seidel algorithm for granular
//!   matter simulation. Comput. Part. Mech. 3, 43-52. doi:10.1007/s40571-015-0088-x
//! - M. P. Allen, D. J. Tildesley 2017: Computer Simulation of Liquids, 2nd edition. Oxford University Press.
//! - H. C. Andersen 1980: Molecular dynamics simulations at constant pressure and/or temperature. J. Chem. Phys. 72, 2384-2393.
//! - D. J. Evans, G. P. Morriss 1984: Nonlinear-response theory for steady planar Couette flow. Phys. Rev. A 30, 1528-1530.
//! - P. Jop, Y. Forterre, O. Pouliquen 2006: A constitutive law for dense granular flows. Nature 441, 727-730.
//! - A. W. Lees, S. F. Edwards 1972: The computer study of transport processes under extreme conditions. J. Phys. C 5, 1921-1929.
//! - M. Parrinello, A. Rahman 1981: Polymorphic transitions in single crystals: a new molecular dynamics method. J. Appl. Phys. 52,
//!   7182-7190.
