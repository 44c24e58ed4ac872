//! The laws of a contact and of a body: \[E1\] velocity update, \[E2\] normal law, \[E3\] Coulomb friction, \[E4\] rolling and twisting
//! resistance.
//!
//! # E1: Velocity update
//!
//! ```text
//! M (v⁺ - v) = h f + Gᵀ λ          f: external forces: the weight, and what is applied
//! x⁺ = x + h v⁺                    orientation: q⁺ = exp(h ω⁺) q, normalised
//! ```
//!
//! Semi-implicit (Moreau 1999): the positions move with the new velocities. So v is the velocity of the middle of the substep that ended,
//! and v + h g/2 the one that belongs to the position x, with the acceleration g of gravity and applied forces. Free flight conserves the
//! ballistic energy
//!
//! ```text
//! Σ ½ m (v + h g/2)² - m g·x
//! ```
//!
//! **In single precision** a sweep adds to a velocity what it adds to an impulse, and what is below half a unit in the last place of the
//! velocity is lost: v drifts away from v⁻ + M⁻¹ (h f + Gᵀ λ). In accelerated sweeps it does so in each sweep, by a unit or so: a brick
//! that slid at 2 m/s lost 0.3 % too little of its speed at 1 ms and 50 sweeps, 1.8 % at 200, and twice that at half the step. So the GPU
//! engine finds the velocities anew after the sweeps: M⁻¹ (h f + Gᵀ λ) is summed by itself, where it is exact to 1e-7 of the change, and
//! added to v⁻ with a random rounding whose mean is exact. To the nearest, equal pushes are rounded alike, an error of up to half a unit in
//! each substep. The random numbers follow from the bits of both and from the place of the body, so the same inputs give the same bits.
//! Errors then grow as the root of the number of substeps, half a unit each, 1e-7 m/s at 2 m/s. Boundaries of scenes with joints keep the
//! velocities of the sweeps, as do bodies slower than 16 g h, whose swept velocities lose next to nothing, and all bodies under projected
//! gradient descent and with `no_velocity_update`.
//!
//! A sphere has no gyroscopic term. External forces are gravity and the forces and torques that a caller applies to bodies, constant over a
//! step; torques are left out where an impact looks ahead \[E6\]. An axis that is locked takes neither weight nor impulse. A boundary that
//! is not free moves as prescribed: in the contact problem it has the velocity that carries it from where it is to where it must be at the
//! end of the substep, and no impulse changes that.
//!
//! **Clumps** are grains of several spheres, which may overlap. Their mass, centre and tensor of inertia are those of the union of the
//! spheres: no part counts twice. Disjoint spheres are summed in closed form, overlapping ones by quadrature
//! ([`clump`](crate::model::clump) says with what error). A sphere of a clump touches what a grain of its own would touch, with its own
//! radius in R*; every pair of spheres is a contact with an impulse of its own, also where two clumps touch with several spheres.
//!
//! **Rigid bodies that are no spheres**, clumps and dynamic boundaries, have a tensor of inertia I(q) = R(q) diag(I₁, I₂, I₃) R(q)ᵀ, which
//! is held during the solve. The solve leaves each body an angular momentum, which free flight conserves:
//!
//! ```text
//! L = I(q) ω⁺                      after the sweeps
//! dq/dt = ω(q) q / 2               ω(q) = I(q)⁻¹ L, over h by the Runge-Kutta method of fourth order
//! ω = I(q⁺)⁻¹ L                    the gyroscopic term: ω turns while L stays
//! ```
//!
//! The rotational energy L·I⁻¹L/2 is then kept to the order of that method. An axis of rotation that is locked is
//! left out of I before it is inverted. The GPU keeps L from substep to substep and adds what the contacts changed.
//!
//! **Machines that nothing else touches** move by the midpoint rule, as in Moreau's scheme of 1999. Gravity, applied forces and joints
//! \[E11\] among the bodies and to the ground act on them, no drive holds a velocity, and no range ends
//! ([`World::undisturbed`](crate::model::World::undisturbed)):
//!
//! ```text
//! x° = x + h v/2                   L is kept, as above; all rows of joints are those at x°
//! M (v⁺ - v) = h f + Gᵀ λ
//! x⁺ = x° + h v⁺/2
//! ```
//!
//! So v belongs to x, free flight is exact, and errors of a smooth motion are of second order: they are those of the step above, shifted
//! by half a substep in time. Where grains or solids may touch a body it has the step above like all that it may touch, as a contact is to
//! see both at one time. On several ranks a machine that has surfaces counts as one that grains may touch.
//!
//! **Solids.** Boxes, truncated cones, capsules and closed convex meshes that are dynamic, and grains that are convex polyhedra, meet half
//! spaces and other convex solids with their faces, edges and vertices ([`shape`](crate::shape)). For the support functions h_A, h_B (the
//! farthest extent along a direction) two solids are apart along the unit vector n by
//!
//! ```text
//! s(n) = -h_A(-n) - h_B(n)         the contact normal is the n with the largest s, and g = s(n) where they overlap
//! ```
//!
//! For flat faces this n is the normal of a face of one of them or perpendicular to an edge of each (Gottschalk, Lin & Manocha 1996); of
//! the pairs of edges only those count whose arcs of normals cross (Gregorius 2013). An axis across two edges is taken where it is better
//! than the best face by 0.5 % of the overlap, as axes of faces are steadier: overlaps come out too deep by that at most. Caps and rims of
//! cones are circles. Seen along n, the gap is linear over the overlap of the two faces that look at each other, so its corners are the
//! points of contact: up to four of them, those that lie farthest along four directions fixed to body a, by which impulses find their point
//! again. Of more corners, as of a circle, the nearest of these directions turns to the deepest corner, or to the side to which a hangs
//! over b: there a would tip. Each point is a contact with \[E2\] to \[E5\]; half the smallest edge of a solid (of a polyhedron the
//! distance of its centre from the nearest face) stands for R*, also in the skin. Each point resists rolling \[E4\] with its own impulse,
//! so a manifold does with all of it. Where solids that move alike stand flush, a side of one that the other covers is inside: what would
//! touch it touches along the normal of the other instead.
//!
//! A polyhedron or a dynamic solid meets a thin wall, or a mesh that is no convex solid triangle by triangle
//! ([`facet`](crate::shape::facet)): n is the axis with the largest s for the triangle alone, as long as the mesh ends there along n, which
//! it does at its face, at an edge where both triangles fall off along n, and at a vertex all of whose neighbours are lower along n.
//! Elsewhere the edge or vertex is flat or concave, and n is the normal of the triangle; where n is that of a neighbour, the neighbour has
//! the contact. Of all points with one patch up to four are kept, as above, and a point that two patches share counts once. Behind the
//! surface of a solid only the patch nearest to the centre of the polyhedron pushes, outwards.
//!
//! **Meshes** are sheets of triangles or solids within closed ones, divided into patches: connected triangles whose normals differ by less
//! than 5° from that of the first ([`mesh`](crate::model::mesh)). A sphere with the centre c has one contact with a patch, at the point p
//! of it that is nearest:
//!
//! ```text
//! n = (c - p)/|c - p|      g = |c - p| - r
//! ```
//!
//! If p lies on a seam, where patches meet, and another patch that meets there is nearer, the sphere is over that patch, and the seam is no
//! edge for it. The contact then takes no part, or, where the plane of the triangle at p is further away than that patch, as in a valley,
//! it takes part with this plane (n its normal, g the height of c over it less r). The impulse carried over by a contact that takes no part
//! goes to the nearer one. So a flat surface has no seams, a convex edge has one contact, and a concave one has those of both faces before
//! the sphere reaches them. Both sides of a sheet are the same. A sphere belongs to the side on which c was when the contact came into the
//! list, or, if c came through the sheet in the substep before that, to the other one, for as long as the contact stays listed and away
//! from the end of the sheet: n and |c - p| change sign while c is on the wrong side by less than r.
//!
//! A solid pushes outwards. Whether c is outside says its nearest point on the mesh, by the normal of the triangle there or the
//! pseudonormal of the edge or vertex (Baerentzen & Aanaes, IEEE Trans. Vis. Comput. Graph. 11, 243 (2005)). Outside, patches that face
//! away from c take no part, so a part thinner than r has one contact with a grain on each of its sides. If c is behind a patch in front of
//! which it was in the last substep, or came through it in flight in that substep, the nearest such patch alone pushes, with n outwards and
//! g = -|c - p| - r, until c is in front of it again. If c is inside and nothing is known, the nearest patch pushes.
//!
//! **Flush joints** are no edges. Of the contacts of one sphere with surfaces that never move against each other, one whose p lies on an
//! edge takes no part if |(p - p') · n'| ≤ 10⁻³ r for a contact with a face at p' with the normal n': the sphere touches the plane of that
//! face, in which p lies, deeper. Of contacts with faces, or with edges, in the same point to within 10⁻³ r, whose normals differ by less
//! than 5°, one takes part. It gets the impulses of the others, and what counts per contact counts once.
//!
//! # E2: Normal law
//!
//! One complementarity, three regimes:
//!
//! ```text
//! 0 ≤ λ_n   ⊥   u_n⁺ + Σ_n λ_n - q_n ≥ 0
//!
//! elastic, δ > 0           Σ_n = 4 ε Υ / (h² s²)        q_n = (4 Υ/h) (δ/e_H) + Υ u_n
//! rigid, δ > 0             Σ_n = 0                      q_n = min(0.2 δ, 0.1 R*) / h
//! not yet touching, δ ≤ 0  Σ_n = δ_c / (h λ_c), or 0    q_n = δ/h
//!
//! Υ = 1/(1 + 4 τ/h)        s = e_H δ^(e_H - 1)          ε = e_H/k_n
//! τ = max(2 h, c/e_H)      c: viscous damping of the material pair [s]
//! ```
//!
//! **Elastic** is the stepper SPOOK (Lacoursière 2007) with the constraint δ^e_H = 0. Its row is divided by
//! the slope s, so that λ_n is a true impulse and the friction bound reads μ λ_n. The u_n in q_n is that after
//! the impact stage and before the external forces. At rest the row gives back the static law,
//! whatever the time step:
//!
//! ```text
//! λ_n = q_n/Σ_n = h k_n δ^(2 e_H - 1)
//!
//! Hertz:  e_H = 5/4    k_n = (4/3) E* √R*              1/E* = (1 - ν_a²)/E_a + (1 - ν_b²)/E_b
//! Hooke:  e_H = 1      k_n = (4/3) E* √R* √(0.01 R*)
//! ```
//!
//! Hooke's stiffness is the one whose force equals that of Hertz at an overlap of 1 % of R*
//! ([`HOOKE_OVERLAP`](crate::law::normal::HOOKE_OVERLAP)). The damping time τ is at least two substeps
//! ([`DAMPING_STEPS`](crate::law::normal::DAMPING_STEPS)), which makes Υ at most 1/9.
//!
//! **Rigid** is the limit ε → 0 (Moreau 1999; Jean 1999): an overlap is an error, not an elastic state. The
//! row asks for the velocity that removes a fifth of it per substep, and never more than a tenth of R*
//! ([`RIGID_CORRECTION`](crate::law::normal::RIGID_CORRECTION),
//! [`RIGID_CORRECTION_LIMIT`](crate::law::normal::RIGID_CORRECTION_LIMIT)). The correction goes through the
//! velocities, so it adds a little kinetic energy. A rigid contact does not bounce by this row: restitution
//! happens in the impact stage \[E6\] alone, under every law.
//!
//! **Not yet touching**: a pair that is listed may close its gap in this substep, not more. Pairs are listed up to a gap of 0.1 d at least,
//! and up to the skin of the search where that is more ([`reach`](crate::settings::Settings::reach)). A row of a pair that cannot close
//! does nothing, so the skin ([`skin`](crate::settings::Settings::skin)) decides how often the search runs, and is no part of the law.
//! Without such rows a fast grain is first seen in deep overlap, and tall stacks hop: a column of 50 pellets at h = 5 ms with 10 sweeps
//! changes its height by up to a third, with them by 5 % (history start). Such a row is rigid when the pair comes near, Σ_n = 0: it brings
//! the gap to zero and no further. If it stayed rigid, a contact that has just closed would carry its load at a gap of zero for ever (2 %
//! of the loaded contacts of a settled bed did, and their load passed the elastic law by). So once it has carried an impulse λ_c, in the
//! substep before, it may sink to the overlap δ_c at which the elastic law carries that impulse, λ_c = h k_n δ_c^(2 e_H - 1), and is
//! elastic from then on. This rule is esker's own; under the rigid law there is nothing to sink to.
//!
//! **Cohesion** is a constant force F_c that pulls the two bodies of a contact together along the normal, at the contact point, while the
//! gap is at most [`COHESION_RANGE`](crate::law::cohesion::COHESION_RANGE) R*, a thousandth:
//!
//! ```text
//! M (v⁺ - v) = h f + Gᵀ (λ - h F_c n)       force of the contact along n: λ_n/h - F_c ≥ -F_c
//!
//! F_c = F_0 + (3/2) π w R*                  F_0: pull-off force of the pair [N]    w: its work of adhesion [J/m²]
//! ```
//!
//! So λ_n is the repulsive part: all rows and solvers are as without cohesion, the elastic law is that of Derjaguin, Muller & Toporov 1975
//! (Hertz and a constant force), and friction and rolling are bounded by the force above the pull-off force, μ (N + F_c) with the force N
//! of the contact (Rognon et al. 2006; Radjai & Richefeu 2009). F_0 is the same for contacts of any size; the second term is the pull-off
//! force of Johnson, Kendall & Roberts 1971, of whose law only this is taken. A contact that is pulled by more opens, and holds again when
//! it closes. Cohesion acts for a whole substep where the gap at its start is within the range, so bodies that part faster than about h
//! F_c/m* separate, and the work of separation depends on h; the static pull-off force does not. Warm starts \[E7\] take a share of λ_n - h
//! F_c and all of h F_c. Two solids share F_c in equal parts among the points of their manifold within the range whose normals agree within
//! 10°, those with boundaries that move alike included, so that it does not depend on how a face is divided into points and tiles. The
//! range exists because sweeps leave a rigid contact at a gap of their residual times h; beyond the range no cohesion acts. Impacts \[E6\]
//! are without cohesion: a contact that closes faster than the threshold bounces, and is held only if it leaves within the range.
//!
//! # E3: Coulomb friction
//!
//! ```text
//! u_t = 0             unless sliding
//! |λ_t| ≤ μ λ_n       by projection on the disc
//! ```
//!
//! The bound is μ times the λ_n accumulated in this solve, warm start included. A bound built from the change
//! of λ_n would make friction vanish as soon as a warm start works.
//!
//! With [`Cone::Box`](crate::law::cone::Cone::Box), for studies, each component of λ_t is limited by itself:
//!
//! ```text
//! |λ_t·t₁| ≤ μ λ_n    |λ_t·t₂| ≤ μ λ_n       t₁ = e × n/|e × n|    t₂ = n × t₁
//! ```
//!
//! with e the vertical axis z, or x where |n_z| ≥ 0.9. A slip in any direction is then resisted by μ to √2 μ, in the mean over
//! directions by 4/π μ.
//!
//! # E4: Rolling and twisting resistance
//!
//! ```text
//! w = 0               unless limited
//! |λ_r| ≤ μ_r s λ_n   by projection on the ball, or with a box component by component: along n, t₁ and t₂
//! ```
//!
//! The arm s is R*, 2 R* or 4 R* ([`RollingArm`](crate::law::rolling::RollingArm)); for two like spheres of radius r these are r/2, r and 2
//! r, for a sphere at a wall r, 2 r and 4 r. Rolling and twisting share one bound and one row of three components.
