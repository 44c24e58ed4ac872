//! Files that are no text, told by their first bytes: what they are and what makes text of them.

/// First bytes of a kind of file, what it is, and what to do.
const KINDS: [(&[u8], &str, &str); 8] = [
    (b"\x1f\x8b", "packed by gzip", "unpack it: `gunzip -k` and its name"),
    (b"\x28\xb5\x2f\xfd", "packed by Zstandard", "unpack it: `unzstd` and its name"),
    (b"\xfd7zXZ\x00", "packed by XZ", "unpack it: `unxz -k` and its name"),
    (b"BZh", "packed by bzip2", "unpack it: `bunzip2 -k` and its name"),
    (b"PK\x03\x04", "a ZIP archive or a workbook", "unpack it: `unzip` and its name; save a workbook as CSV"),
    (b"\x89HDF\r\n\x1a\n", "a file of HDF5", "write its values as text"),
    (b"CDF\x01", "a file of NetCDF", "write its values as text"),
    (b"CDF\x02", "a file of NetCDF", "write its values as text"),
];

/// Number of first bytes among which binary numbers are looked for.
const LOOKED_AT: usize = 512;

/// What a file with these first bytes is, and what to do; `None` for what may be text.
pub fn told(first: &[u8]) -> Option<String> {
    let known = KINDS.iter().find(|(bytes, ..)| first.starts_with(bytes));
    if let Some((_, what, advice)) = known {
        return Some(format!("is {what}, expected text; {advice}"));
    }
    let start = &first[..first.len().min(LOOKED_AT)];
    let is_wide = start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff");
    (start.contains(&0) && !is_wide).then(|| {
        "is binary, expected text; a binary dump of LAMMPS becomes text by its tool `binary2txt`, or is written anew by `dump custom` to a \
         name that does not end in .bin"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_and_binary_files_are_told_from_text() {
        // Step, length of the magic word and so on as 64-bit numbers, as LAMMPS writes them.
        let dump = [(-10i64).to_le_bytes().as_slice(), b"DUMPCUSTOM", &1i32.to_le_bytes()].concat();
        for (first, what) in [
            (b"\x1f\x8b\x08\x00\x00".as_slice(), "gunzip"),
            (b"\x28\xb5\x2f\xfd\x04", "unzstd"),
            (b"PK\x03\x04\x14\x00", "workbook"),
            (&dump, "binary2txt"),
        ] {
            let told = told(first).expect("no text");
            assert!(told.contains(what), "{told}");
        }
        for text in ["ITEM: TIMESTEP\n", "x,y,z\n", "#format x_y_z_r\n", "", "BZ", "café"] {
            assert_eq!(told(text.as_bytes()), None, "{text}");
        }
    }
}
