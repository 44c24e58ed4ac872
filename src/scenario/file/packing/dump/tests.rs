use glam::DVec3;

use super::super::InitialMotion;
use super::super::rows::Weight;
use super::*;

const DUMP: &str = "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\n\
                    ITEM: ATOMS id type x y z radius\n1 1 0.1 0.2 0.3 0.01\n\
                    ITEM: TIMESTEP\n500\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp ff\n-1 1\n0 2\n0 4\n\
                    ITEM: ATOMS id type xs ys zs vx vy vz diameter\n2 1 0.5 0.5 0.5 1 2 3 0.04\n1 2 0 0 0 0 0 0 0.02\n";

fn of(text: &str) -> Result<Rows, String> {
    rows(text.as_bytes(), "d.dump", &Wanted { step: None, kind: None })
}

fn read(step: Option<u64>, kind: Option<u64>) -> Result<Rows, String> {
    rows(DUMP.as_bytes(), "d.dump", &Wanted { step, kind })
}

/// A dump of one frame with these bounds, columns and one grain.
fn one(head: &str, bounds: &str, columns: &str, grain: &str) -> String {
    format!("{head}ITEM: TIMESTEP\n7\nITEM: NUMBER OF ATOMS\n1\n{bounds}ITEM: ATOMS {columns}\n{grain}\n")
}

const BOX: &str = "ITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\n";

#[test]
fn the_last_frame_is_taken_with_shares_of_the_box_and_diameters() {
    let found = read(None, None).expect("good");
    let motion = InitialMotion { velocity: Some(DVec3::new(1.0, 2.0, 3.0)), angular_velocity: None };
    let first = &found.rows[0];
    assert_eq!((first.position, first.radius, first.motion), (DVec3::new(0.0, 1.0, 2.0), Some(0.02), motion));
    assert_eq!((found.rows.len(), found.rows[1].position), (2, DVec3::new(-1.0, 0.0, 0.0)));
    assert_eq!((found.kinds, found.kind_title.as_str()), (vec!["1".to_owned(), "2".to_owned()], "type"));
    assert_eq!(
        found.note.text(),
        "d.dump: 2 grains of step 500 of 2 frames in SI units, as none are named, with type xs ys zs vx vy vz diameter; \
         left out: id; its box is periodic along x, y, which only [periodic] makes of the scene"
    );
}

#[test]
fn a_step_and_a_type_choose_grains() {
    assert_eq!(read(Some(0), None).expect("good").rows[0].position, DVec3::new(0.1, 0.2, 0.3));
    assert_eq!(read(None, Some(2)).expect("good").rows.len(), 1);
    assert_eq!(read(Some(7), None), Err("d.dump: has no step 7: it has 2 from 0 to 500".to_owned()));
    assert_eq!(read(None, Some(3)), Err("d.dump: holds no such grains in step 500".to_owned()));
}

/// LAMMPS writes units before the first frame and times before each step.
#[test]
fn units_and_times_come_before_the_step() {
    let frame = |unit: &str| {
        let head = format!("{unit}ITEM: TIME\n0.5\n");
        of(&one(&head, BOX, "id x y z radius vx omegaz mass", "1 1 2 3 0.5 10 2 8")).expect("good")
    };
    let plain = frame("");
    assert_eq!(frame("ITEM: UNITS\nsi\n").rows, plain.rows);
    let found = &frame("ITEM: UNITS\ncgs\n").rows[0];
    assert!(found.position.distance(0.01 * plain.rows[0].position) < 1e-17);
    assert_eq!((found.radius, found.weight), (Some(0.005), Weight::Mass(0.008)));
    assert_eq!(found.motion.velocity, Some(DVec3::new(0.1, 0.0, 0.0)));
    assert_eq!(found.motion.angular_velocity, plain.rows[0].motion.angular_velocity);
    let density =
        of(&one("ITEM: UNITS\nmicro\n", BOX, "x y z density", "1 2 3 2.5")).expect("good").rows[0].weight;
    let Weight::Density(density) = density else { panic!("{density:?}") };
    assert!((density / 2500.0 - 1.0).abs() < 1e-12, "{density}");
}

/// A tilted box: its bounds are those of the box around it, from min(0, xy, xz, xy + xz) to max(0, ...) along x.
#[test]
fn shares_of_a_tilted_box_follow_its_edges() {
    let bounds = "ITEM: BOX BOUNDS xy xz yz pp pp ff\n-1 3.5 1.5\n0 2.25 -1\n0 4 0.25\n";
    // xlo = -1 - min(0, 1.5, -1, 0.5) = 0 and xhi = 3.5 - 1.5 = 2; ylo = 0, yhi = 2.25 - 0.25 = 2.
    let found = of(&one("", bounds, "xs ys zs", "0.5 0.5 0.5")).expect("good").rows[0].position;
    assert_eq!(found, DVec3::new(0.5 * (2.0 + 1.5 - 1.0), 0.5 * (2.0 + 0.25), 2.0));
    // With coordinates of its own a tilted box says nothing.
    assert_eq!(
        of(&one("", bounds, "x y z", "5 6 7")).expect("good").rows[0].position,
        DVec3::new(5.0, 6.0, 7.0)
    );
    let general = "ITEM: BOX BOUNDS abc origin pp pp pp\n2 0 0 -1\n1.5 2 0 0\n0 0 4 0\n";
    let found = of(&one("", general, "xsu ysu zsu", "0.5 0.5 0.5")).expect("good").rows[0].position;
    assert_eq!(found, DVec3::new(0.75, 1.0, 2.0));
}

#[test]
fn a_mistake_has_its_file_and_line() {
    let mistake = |from: &str, to: &str| of(&DUMP.replace(from, to)).expect_err("a mistake");
    assert!(
        mistake("0.3 0.01", "nan 0.01")
            .starts_with("d.dump:10: z is \"nan\", expected a finite number in \"1 1 0.1")
    );
    assert!(mistake("x y z radius", "x y radius").starts_with("d.dump:9: missing column `z`"));
    assert!(mistake("0.3 0.01", "0.3 -1").contains("d.dump:10: radius is -1 m, expected a positive radius"));
    assert!(
        mistake("1 2 0 0 0 0 0 0 0.02\n", "").contains("d.dump:21: the file ends here, expected a grain")
    );
    assert!(mistake("2 1 0.5 0.5 0.5", "2 1 0.5 0.5").contains("d.dump:20: 8 values, expected 9"));
    assert!(mistake("\n2 1 0.5", "\n1 1 0.5").contains("d.dump:19: the id 1 is there twice"));
    assert!(mistake("-1 1\n0 2", "1 -1\n0 2").contains("d.dump:18: the box goes from 1 to -1 m along x"));
    assert!(mistake("-1 1\n0 2", "-1 inf\n0 2").contains("d.dump:16: \"-1 inf\", expected bounds"));
    assert!(mistake("-1 1\n0 2", "-1 1e300\n0 2").contains("d.dump:16: \"-1 1e300\""));
    assert!(
        mistake("ITEM: BOX BOUNDS pp pp ff\n-1 1\n0 2\n0 4\n", "").contains("d.dump:15: scaled coordinates")
    );
    assert!(mistake("2 1 0.5", "2 1 1e300").contains("d.dump:20: xs is 1e300"));
    assert!(mistake("ITEM: TIMESTEP\n500\n", "").contains("expected ITEM: TIMESTEP before it"));
    assert!(of("x,y,z\n").expect_err("no dump").starts_with("d.dump:1: \"x,y,z\", expected ITEM: TIMESTEP"));
    let units =
        |name: &str| of(&one(&format!("ITEM: UNITS\n{name}\n"), BOX, "x y z", "1 2 3")).expect_err("no unit");
    assert!(units("lj").starts_with("d.dump:2: units `lj` are those of molecules"), "{}", units("lj"));
    let shape = of(&one("", BOX, "x y z shapex", "1 2 3 4")).expect_err("no sphere");
    assert!(shape.contains("d.dump:9: column `shapex`: grains of this shape are no spheres"), "{shape}");
    let body = of(&one("", BOX, "x y z id_multisphere", "1 2 3 -4")).expect_err("no body");
    assert!(body.contains("d.dump:10: id_multisphere is \"-4\", expected the number of a body"), "{body}");
}

/// A body of two spheres across a periodic face: at 0.99 and 0.01 of a box of 1 m they are 0.02 m apart, with the centre on the face. With
/// coordinates that go on beyond the box they are where they say.
#[test]
fn a_body_that_a_periodic_face_cuts_is_put_together() {
    let dump = |flags: &str, columns: &str, second: &str| {
        format!(
            "ITEM: TIMESTEP\n7\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS {flags}\n0 1\n0 1\n0 1\n\
             ITEM: ATOMS id type {columns} radius id_multisphere\n1 1 0.99 0.5 0.5 0.015 4\n2 {second} 0.5 0.5 0.015 4\n"
        )
    };
    let radius = |text: &str| {
        let found = of(text).expect("a body");
        assert_eq!((found.rows.len(), found.clumps.len(), found.rows[0].body), (1, 1, Body::Clump(0)));
        found.clumps[0].bounding_radius()
    };
    let near = radius(&dump("pp ff ff", "x y z", "1 0.01"));
    assert!((near - 0.025).abs() < 1e-12, "{near}");
    assert!((radius(&dump("pp ff ff", "xs ys zs", "1 0.01")) - 0.025).abs() < 1e-12);
    assert!((radius(&dump("pp ff ff", "xu yu zu", "1 1.01")) - 0.025).abs() < 1e-12);
    assert!(radius(&dump("ff ff ff", "x y z", "1 0.01")) > 0.4);
    let several = of(&dump("pp ff ff", "x y z", "2 0.01")).expect_err("two types");
    assert!(several.contains("d.dump:9: the spheres of id_multisphere 4 are of several types"), "{several}");
    let torn =
        rows(dump("pp ff ff", "x y z", "2 0.01").as_bytes(), "d.dump", &Wanted { step: None, kind: Some(1) });
    assert!(torn.expect_err("half a body").contains("and one type is wanted"));
}

#[test]
fn packed_and_binary_dumps_are_told_as_such() {
    // Length of the magic word as LAMMPS writes it, the word, byte order and revision, step and number of atoms.
    let numbers =
        |numbers: &[i64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let binary = [numbers(&[-10]), b"DUMPCUSTOM".to_vec(), numbers(&[(2 << 32) + 1, 500, 2])].concat();
    let wanted = Wanted { step: None, kind: None };
    for (bytes, words) in [
        (binary, "d.dump is binary, expected text; a binary dump of LAMMPS"),
        (b"\x1f\x8b\x08\x00ITEM".to_vec(), "d.dump is packed by gzip, expected text; unpack it: `gunzip -k`"),
        (b"\x28\xb5\x2f\xfdITEM".to_vec(), "unzstd"),
    ] {
        let mistake = rows(&bytes[..], "d.dump", &wanted).map(|_| ()).expect_err("no text");
        assert!(mistake.contains(words), "{mistake}");
    }
}
