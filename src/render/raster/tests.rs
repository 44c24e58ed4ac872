use super::*;
use glam::DQuat;

use crate::model::World;
use crate::render::{Look, Projection};

const SIZE: usize = 120;
const WHITE: [f32; 3] = [1.0; 3];

/// A camera with 10 pixels per metre at its centre; with parallel rays, everywhere.
fn camera(projection: Projection) -> Camera {
    let look = Look { azimuth_deg: 0.0, elevation_deg: 0.0, projection, ..Look::of_scene(&World::default()) };
    let half = 0.5 * SIZE as f64 / 10.0 * 0.94;
    let samples = (SIZE * SAMPLES) as f64;
    Camera::new(&look, Extent::NOTHING.with(DVec3::ZERO, half), samples, samples)
}

fn ball(x: f64, y: f64, z: f64, radius: f64) -> SeenBall {
    SeenBall { centre: DVec3::new(x, y, z), radius, faces: [0; 2], colour: [0.0; 3] }
}

fn drawn(seen: &Seen) -> Picture {
    draw(seen, &camera(Projection::Orthographic), SIZE, SIZE)
}

/// Pixels more like ink than like the background.
fn inked(picture: &Picture) -> Vec<DVec2> {
    let is_inked = |i: &usize| picture.pixels[*i][1] < 200;
    let place = |i: usize| DVec2::new((i % SIZE) as f64 + 0.5, (i / SIZE) as f64 + 0.5);
    (0..picture.pixels.len()).filter(is_inked).map(place).collect()
}

#[test]
fn the_silhouette_of_a_ball_has_its_area_and_its_centre() {
    for projection in [Projection::Orthographic, Projection::Perspective] {
        let camera = camera(projection);
        let balls = vec![ball(1.23, -0.47, -2.0, 3.1)];
        let [least, most] = camera.bounds(balls[0].centre, 3.1).expect("before the camera");
        let (centre, size) = (0.5 * (least + most) / SAMPLES as f64, (most - least) / SAMPLES as f64);
        let expected_area = std::f64::consts::FRAC_PI_4 * size.x * size.y;
        let picture = draw(&Seen { balls, ..Seen::default() }, &camera, SIZE, SIZE);
        let pixels = inked(&picture);
        // A pixel on the rim counts fully or not at all: of a rim of π d pixels at most half is wrong.
        let rim = std::f64::consts::PI * size.max_element();
        let area = pixels.len() as f64;
        assert!((area - expected_area).abs() < 0.5 * rim, "{projection:?}: {area} of {expected_area} pixels");
        let middle = pixels.iter().sum::<DVec2>() / area;
        assert!(middle.distance(centre) < 0.5, "{projection:?}: {middle}, not {centre}");
        assert!((area - 1.1 * 1.1 * expected_area).abs() > 0.5 * rim, "a ball larger by a tenth is told");
    }
}

#[test]
fn the_silhouette_of_a_cube_is_that_of_its_faces_and_not_of_the_ball_around_it() {
    // Seen along a body diagonal, a cube is a regular hexagon of the area 4 √3 h² for the half edge h.
    let turn = DQuat::from_rotation_arc(DVec3::ONE.normalize(), DVec3::NEG_Z);
    let half = 2.0;
    let sides = DVec3::AXES.iter().flat_map(|&axis| [axis, -axis]);
    let faces = sides.map(|axis| HalfSpace { normal: turn * axis, offset: half });
    let faces: Vec<HalfSpace> = faces.collect();
    let cube = SeenBall { faces: [0, 6], ..ball(0.3, -0.2, 0.0, half * 3f64.sqrt()) };
    let picture = drawn(&Seen { balls: vec![cube], faces: faces.clone(), ..Seen::default() });
    let area = inked(&picture).len() as f64;
    let expected = 100.0 * 4.0 * 3f64.sqrt() * half * half;
    let rim = 10.0 * 6.0 * half * (8.0f64 / 3.0).sqrt();
    assert!((area - expected).abs() < 0.5 * rim, "{area} of {expected} pixels");
    // The three faces that are seen are flat, each in a shade of its own.
    let lit = drawn(&Seen {
        balls: vec![SeenBall { colour: WHITE, ..cube }],
        faces: faces.clone(),
        ..Seen::default()
    });
    let shade = |face: &HalfSpace, way: f64| {
        let place = cube.centre + half * face.normal + way * face.normal.any_orthonormal_vector();
        lit.pixels[(60.0 - 10.0 * place.y) as usize * SIZE + (60.0 + 10.0 * place.x) as usize]
    };
    let seen: Vec<&HalfSpace> = faces.iter().filter(|face| face.normal.z < 0.0).collect();
    assert!(seen.iter().all(|face| shade(face, 1.0) == shade(face, -1.0)));
    let shades: std::collections::HashSet<[u8; 3]> = seen.iter().map(|face| shade(face, 0.0)).collect();
    assert_eq!(shades.len(), 3, "{shades:?}");
}

#[test]
fn the_nearer_of_two_balls_hides_the_other_whatever_their_order() {
    let near = SeenBall { colour: [1.0, 0.0, 0.0], ..ball(0.0, 0.0, -1.0, 2.0) };
    let far = SeenBall { colour: [0.0, 1.0, 0.0], ..ball(0.5, 0.0, 1.0, 2.0) };
    let picture = drawn(&Seen { balls: vec![near, far], ..Seen::default() });
    let [red, green, _] = picture.pixels[SIZE / 2 * SIZE + SIZE / 2];
    assert!(red > 2 * green, "red {red}, green {green}");
    assert_eq!(picture, drawn(&Seen { balls: vec![far, near], ..Seen::default() }));
    let swapped = SeenBall { centre: far.centre - 4.0 * DVec3::Z, ..far };
    assert_ne!(picture, drawn(&Seen { balls: vec![near, swapped], ..Seen::default() }));
}

#[test]
fn a_ball_between_another_and_the_light_puts_it_in_shadow() {
    let lit = SeenBall { colour: WHITE, ..ball(0.0, 0.0, 0.0, 1.0) };
    let beside = |way: f64| SeenBall { centre: 4.0 * way * LIGHT, ..lit };
    let middle = |balls: Vec<SeenBall>| {
        drawn(&Seen { balls, ..Seen::default() }).pixels[SIZE / 2 * SIZE + SIZE / 2][0]
    };
    let alone = middle(vec![lit]);
    assert_eq!(middle(vec![lit, beside(-1.0)]), alone, "one that is behind it makes no difference");
    assert!(middle(vec![lit, beside(1.0)]) < alone - 40, "of {alone}");
}

#[test]
fn what_lies_before_a_cut_is_gone_and_its_face_is_flat() {
    let kept = HalfSpace { normal: -DVec3::Z, offset: 0.0 };
    let ray = Ray { origin: DVec3::new(0.5, 0.0, -9.0), direction: DVec3::Z };
    let meet_at = |z: f64| meet(&ray, &ball(0.0, 0.0, z, 2.0), &[], Some(&kept));
    assert_eq!(meet_at(-2.5), None);
    let cut = meet_at(0.5).expect("the half behind the face");
    assert_eq!((cut.place.z, cut.normal), (0.0, -DVec3::Z));
    assert_eq!(
        meet_at(5.0),
        meet(&ray, &ball(0.0, 0.0, 5.0, 2.0), &[], None),
        "behind the face nothing changes"
    );
}

#[test]
fn a_picture_does_not_hang_on_the_number_of_threads() {
    let place = |i: u32| f64::from(i * i % 97) / 9.0 - 5.0;
    let seen = Seen {
        balls: (0..200).map(|i| ball(place(i), place(i + 7), place(i + 31), 0.6)).collect(),
        glass: vec![vec![
            DVec3::new(-5.0, -5.0, -3.0),
            DVec3::new(5.0, -5.0, 0.0),
            DVec3::new(0.0, 5.0, 3.0),
        ]],
        ..Seen::default()
    };
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| drawn(&seen))
    };
    assert_eq!(on(1), on(5));
    assert!(on(1).pixels.iter().any(|&pixel| pixel != BACKGROUND));
}

#[test]
fn panes_that_share_edges_cover_what_is_between_them_once() {
    let corner = |i: usize| {
        let (sin, cos) = (std::f64::consts::TAU * i as f64 / 8.0).sin_cos();
        DVec3::new(5.0 * cos, 5.0 * sin, 0.0)
    };
    let fan = |i: usize| vec![DVec3::ZERO, corner(i), corner(i + 1)];
    let picture = drawn(&Seen { glass: (0..8).map(fan).collect(), ..Seen::default() });
    let middle = picture.pixels[SIZE / 2 * SIZE + SIZE / 2];
    assert_ne!(middle, BACKGROUND);
    for (i, &pixel) in picture.pixels.iter().enumerate() {
        let from_middle = DVec2::new((i % SIZE) as f64, (i / SIZE) as f64).distance(DVec2::splat(59.5));
        if from_middle < 44.0 {
            assert_eq!(pixel, middle, "pixel {i}");
        }
    }
}

#[test]
fn lines_are_as_wide_as_they_should_be() {
    let line = |y: f64, half_width: f64| SeenLine {
        ends: [DVec3::new(-4.0, y, 0.0), DVec3::new(4.0, y, 0.0)],
        half_widths: [half_width; 2],
        colour: [0.0; 3],
    };
    // 4 and 12 pixels wide.
    let lines = vec![line(2.0, 2.0 * SAMPLES as f64), line(-2.0, 6.0 * SAMPLES as f64)];
    let pixels = inked(&drawn(&Seen { lines, ..Seen::default() }));
    let in_middle = |upper: bool| {
        pixels.iter().filter(|p| p.x as usize == SIZE / 2 && (p.y < SIZE as f64 / 2.0) == upper).count()
    };
    assert_eq!((in_middle(true), in_middle(false)), (4, 12));
}

#[test]
fn an_edge_is_seen_before_a_ball_and_not_behind_it() {
    let edge = |z: f64| SeenLine {
        ends: [DVec3::new(-4.0, 0.0, z), DVec3::new(4.0, 0.0, z)],
        half_widths: [3.0; 2],
        colour: [0.0, 0.0, 1.0],
    };
    let middle = |z: f64| {
        let balls = vec![SeenBall { colour: WHITE, ..ball(0.0, 0.0, 0.0, 2.0) }];
        drawn(&Seen { balls, edges: vec![edge(z)], ..Seen::default() }).pixels[SIZE / 2 * SIZE + SIZE / 2]
    };
    assert_eq!(middle(-3.0), [0, 0, 255]);
    assert_ne!(middle(3.0), [0, 0, 255]);
}

#[test]
fn a_point_of_a_line_is_as_deep_as_it_is_in_either_projection() {
    for projection in [Projection::Orthographic, Projection::Perspective] {
        let camera = camera(projection);
        let ends = [DVec3::new(-2.0, 0.5, -3.0), DVec3::new(3.0, -1.0, 4.0)];
        let line = SeenLine { ends, half_widths: [1.0; 2], colour: [0.0; 3] };
        let stroke = Stroke::new(&line, &camera).expect("both ends are before the camera");
        for share in [0.1, 0.5, 0.8] {
            let point = ends[0].lerp(ends[1], share);
            let sample = camera.project(point).expect("a point between the ends");
            let depth = stroke.at(sample).expect("on the line").depth;
            assert!((depth - point.z).abs() < 1e-9, "{depth} for {} at {share}", point.z);
        }
    }
}
