//! Files that are packed or of other formats, told by their first bytes: what they are and what makes text of them.

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

/// What a file with these first bytes is, and what to do; `None` for what may be text.
pub fn told(first: &[u8]) -> Option<String> {
    let (_, what, advice) = KINDS.iter().find(|(bytes, ..)| first.starts_with(bytes))?;
    Some(format!("is {what}, expected text; {advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_files_are_told_from_text() {
        for (first, what) in [
            (b"\x1f\x8b\x08\x00\x00".as_slice(), "gunzip"),
            (b"\x28\xb5\x2f\xfd\x04", "unzstd"),
            (b"PK\x03\x04\x14\x00", "workbook"),
        ] {
            let told = told(first).expect("no text");
            assert!(told.contains(what), "{told}");
        }
        for text in ["ITEM: TIMESTEP\n", "x,y,z\n", "#format x_y_z_r\n", "", "BZ", "café"] {
            assert_eq!(told(text.as_bytes()), None, "{text}");
        }
    }
}
