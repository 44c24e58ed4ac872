//! Grains from a table of numbers: columns x, y, z, and if wanted radius, velocities, density or mass, material and orientation.

use std::path::Path;

use super::super::MAX_GRAINS;
use super::super::columns::{Columns, TableLine};
use super::super::read::{Node, Table, text};
use super::super::read::{open_named, without_folder};
use super::multisphere::gather;
use super::rows::{Fields, Layout, Note, Rows, Words};
use super::units::Units;

/// Largest number of mistakes that are reported per file; the rest are counted.
const SHOWN: usize = 5;
/// Number of mistakes after which the reading of a file ends.
const ENOUGH: usize = 10_000;

/// Reads `file` and the grains in it.
pub fn read(table: &mut Table<'_>, folder: &Path) -> Option<Rows> {
    let node = table.node("file");
    let name = table.get("file", text);
    let (node, name) = (node?, name?);
    let rows = open_named(&node, folder, &name).and_then(|file| rows(file, &name));
    rows.map_err(|mistakes| complain(&node, &mistakes)).ok()
}

fn complain(node: &Node<'_>, mistakes: &[String]) {
    let help = "the first line has the names x,y,z and if wanted radius, vx,vy,vz, wx,wy,wz, density or mass, material, qw,qx,qy,qz; SI \
                units; paths start at the scenario's folder";
    mistakes.iter().take(SHOWN).for_each(|mistake| node.problem(mistake, help));
    if mistakes.len() > SHOWN {
        node.problem(format!("and {} more mistakes in this file", mistakes.len() - SHOWN), help);
    }
}

impl Fields for TableLine<'_> {
    fn number(&self, column: usize, what: &str) -> Result<f64, String> {
        TableLine::number(self, column, what)
    }

    fn text(&self, column: usize) -> &str {
        TableLine::text(self, column)
    }
}

/// Reads all rows, or reports every mistake with its line.
fn rows(input: impl std::io::Read, name: &str) -> Result<Rows, Vec<String>> {
    let mut columns = Columns::open(input, name).map_err(|mistake| vec![mistake])?;
    let (line, separator) = (columns.line, columns.separator);
    let layout = Layout::of(&columns.header, Units::SI)
        .map_err(|mistake| vec![format!("{name}:{line}: {mistake}{}", between(&columns))])?;
    let (mut rows, mut kinds, mut mistakes) = (Vec::new(), Words::default(), Vec::new());
    columns.read(|record| {
        let row = record.and_then(|record| {
            let kind = layout.kind().map(|(at, _)| kinds.number(record.text(at)));
            layout.row(&record, kind).map_err(|mistake| format!("{name}:{}: {mistake}", record.line))
        });
        match row {
            Ok(row) => rows.push(row),
            Err(mistake) => mistakes.push(mistake),
        }
        rows.len() as u64 <= MAX_GRAINS && mistakes.len() <= ENOUGH
    });
    if rows.len() as u64 > MAX_GRAINS {
        mistakes.push(format!("{name} holds more than {MAX_GRAINS} grains"));
    }
    if rows.is_empty() && mistakes.is_empty() {
        mistakes.push(format!("{name} holds no grains"));
    }
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let gathered = gather(rows, name, &|apart| apart);
    let gathered = gathered.map_err(|mistake| vec![format!("{name}:{line}: {mistake}")])?;
    let [taken, left_out] = layout.taken();
    let head = format!(
        "{}: {} grains, columns between {},",
        without_folder(name),
        gathered.rows.len(),
        separator.name()
    );
    let note = Note { head, taken, left_out, tail: gathered.told };
    let kind_title = layout.kind().map_or_else(String::new, |(_, title)| title.to_owned());
    Ok(Rows { rows: gathered.rows, clumps: gathered.clumps, kinds: kinds.0, kind_title, note })
}

/// Says which columns were found, where there may be others behind another separator.
fn between<R>(columns: &Columns<R>) -> String {
    format!(" (found {} between {})", columns.header.join(", "), columns.separator.name())
}

#[cfg(test)]
mod tests {
    use glam::{DQuat, DVec3};

    use super::super::InitialMotion;
    use super::super::rows::{Body, GrainRow, Weight};
    use super::*;

    fn read(text: &str) -> Result<Rows, Vec<String>> {
        rows(text.as_bytes(), "t.csv")
    }

    const AT_REST: InitialMotion = InitialMotion { velocity: None, angular_velocity: None };

    fn plain(position: DVec3, radius: f64) -> GrainRow {
        GrainRow {
            position,
            radius: Some(radius),
            motion: AT_REST,
            weight: Weight::OfMaterial,
            orientation: None,
            temperature: None,
            material: None,
            body: Body::Sphere,
        }
    }

    #[test]
    fn columns_may_come_in_any_order() {
        let found = read("# settled\nradius, z, y, x, vz\n0.5, 3, 2, 1, -1\n").expect("good");
        let motion = InitialMotion { velocity: Some(DVec3::NEG_Z), angular_velocity: None };
        assert_eq!(found.rows, [GrainRow { motion, ..plain(DVec3::new(1.0, 2.0, 3.0), 0.5) }]);
        assert_eq!(
            found.note.text(),
            "t.csv: 1 grains, columns between commas, with radius z y x vz; nothing is left out"
        );
    }

    #[test]
    fn tables_of_other_programs_are_read() {
        let expected = vec![plain(DVec3::new(0.1, 0.2, 0.3), 0.01), plain(DVec3::new(0.15, 0.2, 0.3), 0.01)];
        for text in [
            "#format x_y_z_r\n0.1\t0.2\t0.3\t0.01\n0.15\t0.2\t0.3\t0.01\n",
            "#format x_y_z_r\n# after two seconds\n# of settling in a box\n0.1\t0.2\t0.3\t0.01\n0.15\t0.2\t0.3\t0.01\n",
            "#format x_y_z_r_attrs\n# x y z r b.id colour_r\n0.1\t0.2\t0.3\t0.01\t0\t0.5\n0.15\t0.2\t0.3\t0.01\t1\t0.5\n",
            "x y z radius\n0.1 0.2 0.3 0.01\n0.15 0.2 0.3 0.01\n",
            "x;y;z;radius\n0,1;0,2;0,3;0,01\n0,15;0,2;0,3;0,01\n",
            "x [m],y [m],z(m),R [m],\n0.1,0.2,0.3,0.01,\n0.15,0.2,0.3,0.01,\n",
            "x,y,z,diameter,note\n0.1,0.2,0.3,0.02,a\n0.15,0.2,0.3,0.02,b\n",
        ] {
            assert_eq!(read(text).expect(text).rows, expected, "{text}");
        }
    }

    #[test]
    fn density_mass_material_and_orientation_are_taken() {
        let text = "x,y,z,r,density,material,qw,qx,qy,qz,note\n0,0,0,1,900,ice,1,0,0,0,a\n0,0,0,1,800,oak,0,1,0,0,b\n";
        let found = read(text).expect("good");
        assert_eq!((found.kinds, found.kind_title.as_str()), (vec!["ice".into(), "oak".into()], "material"));
        assert_eq!(found.rows.iter().map(|row| row.material).collect::<Vec<_>>(), [Some(0), Some(1)]);
        assert_eq!(
            (found.rows[1].weight, found.rows[0].weight),
            (Weight::Density(800.0), Weight::Density(900.0))
        );
        assert_eq!(found.rows[1].orientation, Some(DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0)));
        assert_eq!(found.note.left_out, ["note"]);
        assert_eq!(read("x,y,z,mass\n0,0,0,2\n").expect("good").rows[0].weight, Weight::Mass(2.0));
    }

    #[test]
    fn every_mistake_of_a_table_has_its_line() {
        let mistakes =
            read("x,y,z,radius\n1,2,3,0.1\n1,2,nan,0.1\n1,2\n1,2,3,-1\n").expect_err("three mistakes");
        assert_eq!(mistakes.len(), 3, "{mistakes:?}");
        assert!(mistakes[0].starts_with("t.csv:3: z is \"nan\""), "{}", mistakes[0]);
        assert!(mistakes[1].starts_with("t.csv:4: 2 columns between commas"), "{}", mistakes[1]);
        assert!(mistakes[2].starts_with("t.csv:5: radius is -1"), "{}", mistakes[2]);
    }

    #[test]
    fn a_table_that_cannot_be_used_is_refused_once_with_the_cause() {
        for (text, cause) in [
            ("x,y,raduis\n", "missing column `z`"),
            ("x,y,z,raduis\n", "did you mean `radius`"),
            ("x,y,z,r,radius\n", "`radius` and `r` are the same quantity"),
            ("x,y,z,x\n", "two columns are called `x`"),
            ("x,y,z,shapex\n", "column `shapex`"),
            ("x [m],y [m],z [m],r [mm]\n", "column `r [mm]` is in mm, expected SI units (m)"),
            ("x|y|z\n", "found x|y|z between blanks"),
            ("x,y,z,density\n0,0,0,0\n", "density is \"0\", expected a positive density"),
            ("x,y,z,qw,qx,qy,qz\n0,0,0,0,0,0,0\n", "the quaternion has a length of 0.0000"),
            ("x,y,z,qw\n0,0,0,1\n", "four columns"),
            ("x,y,z,radius,diameter\n0,0,0,1,1\n", "leave out one"),
            ("x,y,z\n0,0,2e9\n", "z is 2e9 in SI units"),
            (
                "x,y,z,id_multisphere\n0,0,0,-1\n0,0,0,3.5\n",
                "t.csv:3: id_multisphere is \"3.5\", expected the number of a body",
            ),
        ] {
            let mistakes = read(text).expect_err(text);
            assert_eq!(mistakes.len(), 1, "{mistakes:?}");
            assert!(mistakes[0].contains(cause), "{}", mistakes[0]);
        }
    }
}
