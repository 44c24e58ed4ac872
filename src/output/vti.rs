//! VTK XML ImageData: fields in the cells of a grid of boxes, as ParaView reads them.

use std::io::{self, Write};

use crate::observe::fields::{CellFields, FieldPlan};

use super::vtp::{Array, write_field_data, write_section};

/// Order of the components of a symmetric tensor in VTK: row and column of each.
const SYMMETRIC: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2)];

/// Arrays of the cells: density \[kg/m³\], solid fraction, velocity \[m/s\], granular temperature \[m²/s²\], stresses \[Pa\], force of
/// boundaries \[N/m³\].
fn arrays(fields: &[CellFields]) -> Vec<Array> {
    let kinetic = |cell: &CellFields| SYMMETRIC.map(|(row, column)| cell.kinetic_stress.col(column)[row]);
    // Row by row: the direction of the force is the column.
    let contact = |cell: &CellFields| cell.contact_stress.transpose().to_cols_array();
    vec![
        Array::scalars("density", fields.iter().map(|cell| cell.density)),
        Array::scalars("solid_fraction", fields.iter().map(|cell| cell.solid_fraction)),
        Array::vectors("velocity", fields.iter().map(|cell| cell.velocity.to_array())),
        Array::scalars("granular_temperature", fields.iter().map(|cell| cell.temperature)),
        Array::vectors("kinetic_stress", fields.iter().map(kinetic)),
        Array::vectors("contact_stress", fields.iter().map(contact)),
        Array::vectors("boundary_force", fields.iter().map(|cell| cell.boundary_force.to_array())),
    ]
}

/// Writes the fields in the cells of a grid at a time \[s\].
///
/// # Errors
/// When `out` cannot be written.
pub fn write(out: &mut impl Write, time: f64, plan: &FieldPlan, fields: &[CellFields]) -> io::Result<()> {
    let byte_order = if cfg!(target_endian = "big") { "BigEndian" } else { "LittleEndian" };
    let ([x, y, z], origin, spacing) = (plan.cells, plan.min, plan.edges());
    writeln!(out, r#"<?xml version="1.0"?>"#)?;
    writeln!(
        out,
        r#"<VTKFile type="ImageData" version="1.0" byte_order="{byte_order}" header_type="UInt64">"#
    )?;
    writeln!(
        out,
        r#"<ImageData WholeExtent="0 {x} 0 {y} 0 {z}" Origin="{} {} {}" Spacing="{} {} {}">"#,
        origin.x, origin.y, origin.z, spacing.x, spacing.y, spacing.z
    )?;
    write_field_data(out, time, &[])?;
    writeln!(out, r#"<Piece Extent="0 {x} 0 {y} 0 {z}">"#)?;
    write_section(out, "PointData", &[])?;
    write_section(out, "CellData", &arrays(fields))?;
    writeln!(out, "</Piece>")?;
    writeln!(out, "</ImageData>")?;
    writeln!(out, "</VTKFile>")
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DVec3};
    use vtkio::Vtk;
    use vtkio::model::{Attribute, DataSet, Extent, Piece};

    use super::*;
    use crate::observe::fields::FieldKernel;

    #[test]
    fn another_reader_finds_the_grid_and_the_fields() {
        let plan = FieldPlan {
            min: DVec3::new(-1.0, 0.0, 2.0),
            max: DVec3::new(1.0, 1.5, 3.0),
            cells: [4, 3, 1],
            kernel: FieldKernel::Box,
            width: 0.1,
        };
        let cell = |i: usize| CellFields {
            density: i as f64,
            solid_fraction: 0.5,
            velocity: DVec3::X,
            temperature: 2.0,
            kinetic_stress: DMat3::from_cols_array(&[1.0, 4.0, 6.0, 4.0, 2.0, 5.0, 6.0, 5.0, 3.0]),
            contact_stress: DMat3::from_cols_array(&[1.0, 4.0, 7.0, 2.0, 5.0, 8.0, 3.0, 6.0, 9.0]),
            boundary_force: DVec3::ZERO,
        };
        let fields: Vec<CellFields> = (0..12).map(cell).collect();
        let mut bytes = Vec::new();
        write(&mut bytes, 0.25, &plan, &fields).expect("written");
        let text = String::from_utf8(bytes.clone()).expect("a text");
        assert!(text.contains(r#"Origin="-1 0 2" Spacing="0.5 0.5 1""#), "{text}");
        let vtk = Vtk::parse_xml(bytes.as_slice()).expect("ImageData");
        let DataSet::ImageData { extent, pieces, .. } = vtk.data else { panic!("another kind of data") };
        assert_eq!(extent, Extent::Ranges([0..=4, 0..=3, 0..=1]));
        let Some(Piece::Inline(piece)) = pieces.into_iter().next() else { panic!("no piece") };
        let numbers = |name: &str| {
            let found = piece.data.cell.iter().find_map(|attribute| match attribute {
                Attribute::DataArray(array) if array.name == name => array.data.clone().cast_into::<f32>(),
                _ => None,
            });
            found.unwrap_or_else(|| panic!("no array {name}"))
        };
        assert_eq!(numbers("density"), (0..12).map(|i| i as f32).collect::<Vec<_>>());
        assert_eq!(numbers("kinetic_stress")[..6], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(numbers("contact_stress")[..9], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    }
}
