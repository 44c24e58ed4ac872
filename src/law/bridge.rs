//! Liquid bridges \[E22\]: the force of a meniscus between two bodies, the gap at which it breaks, its energy, and the viscous drag of the
//! liquid.

use std::f64::consts::PI;

/// Formula of the capillary force over the gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum BridgeForce {
    /// Closed form of Willett, Adams, Johnson & Seville 2000 for small bridges.
    #[default]
    Willett,
    /// Their fit to numerical solutions, for volumes up to a tenth of R³ and contact angles up to 50°.
    WillettFit,
    /// Rabinovich, Esayanur & Moudgil 2005.
    Rabinovich,
}

/// Formula of the gap at which a bridge breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum BridgeRupture {
    /// (1 + θ/2) V^(1/3) (Lian, Thornton & Adams 1993).
    #[default]
    Lian,
    /// (1 + θ/2) (V^(1/3) + V^(2/3)/(10 R)) (Willett et al. 2000).
    Willett,
}

/// Coefficients of liquid bridges, whatever their size.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct BridgeLaw {
    /// Surface tension γ \[N/m\].
    pub surface_tension: f64,
    /// Contact angle θ of the liquid on the bodies \[rad\].
    pub contact_angle: f64,
    /// Viscosity η \[Pa s\]; 0 for a liquid without drag.
    pub viscosity: f64,
    /// Smallest gap of the drag, which stands for the roughness, over the effective radius R* \[-\].
    pub smallest_gap: f64,
    /// Formula of the force.
    pub force: BridgeForce,
    /// Formula of the rupture.
    pub rupture: BridgeRupture,
}

/// A liquid bridge between two bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Meniscus {
    law: BridgeLaw,
    /// Radius R of the two equal spheres that stand for the bodies, twice the effective radius R* \[m\].
    radius: f64,
    /// Volume V \[m³\].
    volume: f64,
}

/// Nodes and weights of Gauss and Legendre on -1 to 1.
const GAUSS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];
/// Intervals that the integral of the force is divided into.
const INTERVALS: usize = 8;
/// Least gap over R at which the fit of Willett et al. is evaluated, whose logarithm has no value at 0 \[-\].
const LEAST_FITTED_GAP: f64 = 1e-9;

impl BridgeLaw {
    /// A bridge of this volume \[m³\] between bodies with this effective radius R* \[m\].
    pub fn meniscus(&self, effective_radius: f64, volume: f64) -> Meniscus {
        Meniscus { law: *self, radius: 2.0 * effective_radius, volume }
    }
}

impl Meniscus {
    /// Gap at which the bridge breaks \[m\].
    pub fn rupture(&self) -> f64 {
        let edge = self.volume.cbrt();
        let further = match self.law.rupture {
            BridgeRupture::Lian => 0.0,
            BridgeRupture::Willett => 0.1 * edge * edge / self.radius,
        };
        (1.0 + 0.5 * self.law.contact_angle) * (edge + further)
    }

    /// Volume of its liquid \[m³\].
    pub fn volume(&self) -> f64 {
        self.volume
    }

    /// Force that pulls the bodies together at this gap \[m\] \[N\]: that of gap 0 where they overlap, none where the bridge is broken.
    pub fn force(&self, gap: f64) -> f64 {
        if gap > self.rupture() {
            return 0.0;
        }
        let (gap, angle) = (gap.max(0.0), self.law.contact_angle);
        let of_contact = 2.0 * PI * self.radius * self.law.surface_tension;
        of_contact
            * match self.law.force {
                BridgeForce::Willett => {
                    let spread = gap * (self.radius / self.volume).sqrt();
                    angle.cos() / (1.0 + 1.05 * spread + 2.5 * spread * spread)
                }
                BridgeForce::WillettFit => self.fitted(gap),
                BridgeForce::Rabinovich => {
                    let whole = gap.hypot((2.0 * self.volume / (PI * self.radius)).sqrt());
                    let half_filling = ((whole - gap) / self.radius).sqrt();
                    angle.cos() * (1.0 - gap / whole) + half_filling.sin() * (angle + half_filling).sin()
                }
            }
    }

    /// Force over 2 π R γ in the fit of Willett et al. 2000, appendix \[-\].
    fn fitted(&self, gap: f64) -> f64 {
        let angle = self.law.contact_angle;
        let filling = (self.volume / self.radius.powi(3)).ln();
        let in_angle = |[a, b, c]: [f64; 3]| a + angle * (b + angle * c);
        let in_filling =
            |rows: &[[f64; 3]]| rows.iter().rev().fold(0.0, |sum, &row| sum * filling + in_angle(row));
        let of_contact = in_filling(&[
            [-0.44507, 0.050832, -1.1466],
            [-0.1119, -0.000411, -0.1490],
            [-0.012101, -0.0036456, -0.01255],
            [-0.0005, -0.0003505, -0.00029076],
        ]);
        let of_fall = in_filling(&[
            [1.9222, -0.57473, -1.2918],
            [-0.0668, -0.1201, -0.22574],
            [-0.0013375, -0.0068988, -0.01137],
        ]);
        let of_slope = in_filling(&[
            [1.268, -0.01396, -0.23566],
            [0.198, 0.092, -0.06418],
            [0.02232, 0.02238, -0.009853],
            [0.0008585, 0.001318, -0.00053],
        ]);
        let of_bend = in_filling(&[
            [-0.010703, 0.073776, -0.34742],
            [0.03345, 0.04543, -0.09056],
            [0.0018574, 0.004456, -0.006257],
        ]);
        let gap = gap.max(LEAST_FITTED_GAP * self.radius);
        let spread = (0.5 * gap * (self.radius / self.volume).sqrt()).ln();
        (of_contact - of_fall * (spread * (of_slope + of_bend * spread)).exp()).exp()
    }

    /// Energy of the bridge at this gap \[m\], over that of the broken one \[J\]: minus the integral of the force up to the rupture.
    pub fn energy(&self, gap: f64) -> f64 {
        let rupture = self.rupture();
        if gap >= rupture {
            return 0.0;
        }
        let beyond_contact = self.force(0.0) * gap.min(0.0);
        // The force falls fastest at small gaps, so intervals are equal in the root of the gap.
        let (first, last) = (gap.max(0.0).sqrt(), rupture.sqrt());
        let half = 0.5 * (last - first) / INTERVALS as f64;
        let of_node = |middle: f64, (node, weight): (f64, f64)| {
            let root = middle + half * node;
            weight * half * 2.0 * root * self.force(root * root)
        };
        let of_interval = |interval: usize| {
            let middle = first + (2 * interval + 1) as f64 * half;
            GAUSS.iter().map(|&node| of_node(middle, node)).sum::<f64>()
        };
        beyond_contact - (0..INTERVALS).map(of_interval).sum::<f64>()
    }

    /// Coefficients of the viscous drag at this gap \[m\], against a normal velocity and against a sliding one \[kg/s\].
    pub fn drag(&self, gap: f64) -> [f64; 2] {
        let radius = 0.5 * self.radius;
        let apart = gap.max(self.law.smallest_gap * radius) / radius;
        let along = 6.0 * PI * self.law.viscosity * radius;
        [along / apart, along * (0.9588 - 8.0 / 15.0 * apart.ln()).max(0.0)]
    }
}

#[cfg(test)]
mod tests;
