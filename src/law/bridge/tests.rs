use super::*;

const WATER: BridgeLaw = BridgeLaw {
    surface_tension: 0.072,
    contact_angle: 0.0,
    viscosity: 1e-3,
    smallest_gap: 0.01,
    force: BridgeForce::Willett,
    rupture: BridgeRupture::Lian,
};
const FORCES: [BridgeForce; 3] = [BridgeForce::Willett, BridgeForce::WillettFit, BridgeForce::Rabinovich];

/// Effective radius of two spheres \[m\].
fn effective(a: f64, b: f64) -> f64 {
    a * b / (a + b)
}

/// Forces that YADE's check of its capillary models keeps (`checkCapillaryModels.py`): spheres of 19 µm and of another radius, 10°, at the
/// gap after 249 steps of 1 nm from an overlap of 1e-5 of the sum of the radii.
#[test]
fn forces_are_those_that_yade_keeps() {
    let kept = [
        (BridgeForce::WillettFit, 35.0e-6, 2.0e-19, 27e-3, 2.073_281_486_66e-7),
        (BridgeForce::Willett, 32.5e-6, 12.0e-19, 24e-3, 6.781_920_74e-7),
        (BridgeForce::Rabinovich, 27.5e-6, 36.0e-19, 28e-3, 1.586_177_969_28e-6),
    ];
    for (force, other, volume, surface_tension, expected) in kept {
        let law = BridgeLaw { surface_tension, contact_angle: 10f64.to_radians(), force, ..WATER };
        let bridge = law.meniscus(effective(19e-6, other), volume);
        let gap = 249e-9 - 1e-5 * (19e-6 + other);
        approx::assert_relative_eq!(bridge.force(gap), expected, max_relative = 1e-10);
        // Control: a step further the force is another one.
        assert!((bridge.force(gap + 1e-9) / expected - 1.0).abs() > 1e-3);
    }
}

/// Volume and gap of a meniscus between two unit spheres that its liquid wets, and its force over 2 π γ.
struct SolvedMeniscus {
    volume: f64,
    gap: f64,
    force: f64,
}

impl SolvedMeniscus {
    /// Meniscus with this radius of the neck and this suction over γ: a surface of constant mean curvature, from the neck to where it meets
    /// a sphere as its tangent, by the rule of Runge and Kutta.
    fn new(neck: f64, suction: f64) -> SolvedMeniscus {
        // Along the arc: radius, height, angle φ from the axis, volume; φ' = cos φ/r + Δp/γ (Young and Laplace).
        let rate = |[radius, _, angle, _]: [f64; 4]| {
            let (sine, cosine) = angle.sin_cos();
            [sine, cosine, cosine / radius + suction, PI * radius * radius * cosine]
        };
        let along = |state: [f64; 4], rate: [f64; 4], h: f64| std::array::from_fn(|i| state[i] + h * rate[i]);
        // The tangent of a sphere at the radius r is at the angle acos r from the axis.
        let past = |[radius, _, angle, _]: [f64; 4]| angle - radius.min(1.0).acos();
        let (h, mut state) = (1e-3 * neck, [neck, 0.0, 0.0, 0.0]);
        let end = loop {
            let one = rate(state);
            let two = rate(along(state, one, 0.5 * h));
            let three = rate(along(state, two, 0.5 * h));
            let four = rate(along(state, three, h));
            let mean = std::array::from_fn(|i| (one[i] + 2.0 * two[i] + 2.0 * three[i] + four[i]) / 6.0);
            let next = along(state, mean, h);
            if past(next) >= 0.0 {
                break along(state, mean, h * past(state) / (past(state) - past(next)));
            }
            state = next;
        };
        let [radius, height, _, volume] = end;
        let depth = 1.0 - (1.0 - radius * radius).sqrt();
        let cap = PI / 3.0 * depth * depth * (3.0 - depth);
        let force = neck + 0.5 * neck * neck * suction;
        SolvedMeniscus { volume: 2.0 * (volume - cap), gap: 2.0 * (height - depth), force }
    }
}

/// Bridges of 1e-4 to 0.08 R³ at gaps up to two thirds of the rupture distance. The worst errors are those that the guide tells.
#[test]
fn forces_are_those_of_a_meniscus_of_constant_mean_curvature() {
    let profiles = [
        (0.35, 3.0),
        (0.3, 4.0),
        (0.3, 6.0),
        (0.25, 10.0),
        (0.2, 6.0),
        (0.2, 10.0),
        (0.15, 6.0),
        (0.15, 12.0),
        (0.1, 20.0),
        (0.1, 40.0),
        (0.05, 60.0),
        (0.05, 100.0),
    ];
    let mut worst = [0.0f64; 3];
    for (neck, suction) in profiles {
        let SolvedMeniscus { volume, gap, force } = SolvedMeniscus::new(neck, suction);
        for (worst, law) in worst.iter_mut().zip(FORCES) {
            let bridge = BridgeLaw { surface_tension: 1.0, force: law, ..WATER }.meniscus(0.5, volume);
            assert!(gap > 0.1 * bridge.rupture() && gap < 0.7 * bridge.rupture());
            *worst = worst.max((bridge.force(gap) / (2.0 * PI * force) - 1.0).abs());
        }
    }
    let told = [0.16, 0.02, 0.28];
    for (worst, told) in worst.into_iter().zip(told) {
        assert!(worst < told && worst > 0.5 * told, "{worst} for {told}");
    }
}

/// γ = 1 N/m, R = 1 m, 0.01 m³: values that follow from the formulas by hand.
#[test]
fn at_contact_and_at_rupture_the_force_is_as_told() {
    let angle = 0.4f64;
    let law = BridgeLaw { surface_tension: 1.0, contact_angle: angle, ..WATER };
    let bridge = law.meniscus(0.5, 0.008);
    approx::assert_relative_eq!(bridge.force(0.0), 2.0 * PI * angle.cos(), max_relative = 1e-14);
    assert_eq!(bridge.force(-0.1), bridge.force(0.0), "an overlap changes nothing");
    approx::assert_relative_eq!(bridge.rupture(), 1.2 * 0.2, max_relative = 1e-14);
    assert!(bridge.force(0.2399) > 0.0 && bridge.force(0.2401) == 0.0);
    let further = BridgeLaw { rupture: BridgeRupture::Willett, ..law }.meniscus(0.5, 0.008);
    approx::assert_relative_eq!(further.rupture(), 1.2 * (0.2 + 0.1 * 0.04), max_relative = 1e-14);
}

/// The closed form of Willett et al. has an integral: atan of a linear function of the gap.
#[test]
fn the_energy_is_the_integral_of_the_force() {
    let bridge = WATER.meniscus(1e-3, 3e-11);
    let root = (10.0f64 - 1.05 * 1.05).sqrt();
    let scale = (2e-3f64 / 3e-11).sqrt();
    let primitive = |gap: f64| 2.0 / (root * scale) * ((5.0 * scale * gap + 1.05) / root).atan();
    for gap in [0.0, 1e-5, 2e-4] {
        let expected = -bridge.force(0.0) * (primitive(bridge.rupture()) - primitive(gap));
        approx::assert_relative_eq!(bridge.energy(gap), expected, max_relative = 1e-8);
    }
    for force in FORCES {
        let bridge = BridgeLaw { force, contact_angle: 0.3, ..WATER }.meniscus(1e-3, 3e-11);
        let (gap, step) = (5e-5, 1e-8);
        let slope = (bridge.energy(gap + step) - bridge.energy(gap - step)) / (2.0 * step);
        approx::assert_relative_eq!(slope, bridge.force(gap), max_relative = 1e-4);
    }
    let overlap = bridge.energy(0.0) - bridge.energy(-1e-6);
    approx::assert_relative_eq!(overlap, 1e-6 * bridge.force(0.0), max_relative = 1e-8);
    assert_eq!(bridge.energy(bridge.rupture()), 0.0);
}

/// 6 π η R*²/S along the normal and 6 π η R* (8/15 ln(R*/S) + 0.9588) across it; below the smallest gap as at it.
#[test]
fn the_drag_is_that_of_lubrication() {
    let bridge = WATER.meniscus(1e-3, 3e-11);
    let [normal, tangent] = bridge.drag(1e-4);
    approx::assert_relative_eq!(normal, 6.0 * PI * 1e-3 * 1e-6 / 1e-4, max_relative = 1e-14);
    approx::assert_relative_eq!(
        tangent,
        6.0 * PI * 1e-3 * 1e-3 * (8.0 / 15.0 * 10f64.ln() + 0.9588),
        max_relative = 1e-14
    );
    assert_eq!(bridge.drag(1e-6), bridge.drag(-1e-5));
    assert_eq!(bridge.drag(0.0), bridge.drag(1e-5), "a hundredth of R*");
}
