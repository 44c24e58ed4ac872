//! \[E17\]: stress of regions, layers and grains.
//!
//! # E17: Stress
//!
//! The stress of the grains p of a region of volume V, positive under pressure, is that of Love (1927) and Weber (1966) with the momentum
//! flux of their velocities. Over the time T since the output before, with n the substeps in it:
//!
//! ```text
//! σ = 1/(V T) Σ_n Σ_p [ m h v' v'ᵀ  -  Σ_c r λᵀ ]
//!
//! r    contact point minus centre of p, in the positions at which substep n begins   [m]
//! λ    impulse on p there, of the impact stage [E6] as of the sweeps [E5]            [N s]
//! v'   velocity of p after substep n less the mean velocity V                        [m/s]
//! V    Σ_n Σ_p m v / Σ_n Σ_p m over the same region and time                         [m/s]
//! ```
//!
//! Of the velocities engines sum h m, h m v and h m v vᵀ, from which Σ m v' v'ᵀ = Σ m v vᵀ - V Σ m vᵀ.
//!
//! The two halves of a contact, r and λ of one grain and of the other, add up to the branch vector between the centres times the impulse
//! (Luding 2004). A contact with a wall has one half: the wall is no part of the region. A grain belongs to a region with all of its
//! contacts if its centre is inside.
//!
//! **Impulses meet the arms of their instant.** A substep moves a body by h v⁺, and its impulses act at the positions before that \[E1\].
//! So the virial changes by
//!
//! ```text
//! Σ m x⁺ v⁺ᵀ - Σ m x vᵀ  =  h Σ m v⁺ v⁺ᵀ + Σ x (Σ λ + h f)ᵀ
//! ```
//!
//! exactly, with the velocities after the substep and the arms before it. Over a long time the left side is bounded: the sum of both parts
//! of the stress balances the applied forces f without an error of the step. Arms at the end of a substep would make the shear stress of a
//! flow of the shear rate γ̇ smaller by h γ̇ σ_zz.
//!
//! **Impacts count.** A bounce takes no time, so a snapshot shows nothing of it: the impulses are summed in every substep and round. A
//! gas of elastic spheres has impacts alone; of the pressure of Carnahan & Starling (1969),
//!
//! ```text
//! p V = Z Σ m v'²/3        Z = (1 + φ + φ² - φ³)/(1 - φ)³        φ  solid fraction
//! ```
//!
//! which is 3.97 times that of the velocities alone at φ = 0.3, only these would remain. A contact bounces in the substep in which it would
//! close \[E6\], so spheres of diameter d seem larger by the gap at that time, half of h u_n in the mean: with d ln (Z - 1)/d ln φ = 2.1 at
//! φ = 0.3 the part of the contacts is too high by 6 times that gap over d.
//!
//! **Layers.** In a layer an arm counts by its length there, and so does the way h v of a grain in a substep, which carries m v. That is
//! the stress on planes across the axis, averaged over the layer (Irving & Kirkwood 1950). In a bed at rest, or in the mean over a steady
//! flow, σ_zz on a plane is then the weight of the centres above over the area, and σ_zx their weight along the flow, whatever the
//! thickness of the layers and wherever they cut through grains. Spread over the volume of its grains, the stress would follow the solid
//! fraction instead, up and down with every row of grains at a wall. Across a periodic axis an arm that leads out of one face comes in at
//! the other. A layer in which the surface of the bed lies is no exception: the stress of the layer is the mean over all of its planes,
//! those above the surface included, and so is the weight above it.
//!
//! **The mean velocity** is that over the time since the output before (Babic 1997, Weinhart et al. 2013), and not that of one state: the
//! mean of N grains follows their fluctuations, so that about it they have 1 - 1/N of their momentum flux, and in the thin layers at
//! a surface N is small. The stress and the flux of the mean flow, ρ V Vᵀ, balance the momentum above for any T: where the
//! surface of a flow rises, ρ V_z V_x belongs to the balance along the flow. A flow that changes speed between two
//! outputs has a part of that change in its stress, at a steady acceleration a ρ (a T)²/12. So outputs are to be frequent where a flow is
//! not steady, and apart by many collisions where layers hold few grains.
//!
//! **Grains.** With `observe.grain_stress` frames show -1/(V_p T) Σ_n Σ_c r λᵀ of every grain, V_p its volume.
//!
//! Engines sum in meters, which a world has for each region and for the layers ([`World::meters`](crate::model::World::meters)): the CPU in
//! double precision, the GPU in integers of 64 bits, so that neither the order of the contacts nor the number of steps per submission
//! changes a bit.
