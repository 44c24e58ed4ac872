//! Cache of grain states on disk. A file that is damaged, or belongs to another bed, is refused.
//!
//! ```text
//! "esker bed 1\n" · key, 32 bytes · number of grains, u64 · per grain 13 f64, little-endian · SHA-256 of all before
//! ```

use std::fs;
use std::io::Write;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::files::read_bytes;
use crate::output::atomic;

/// State of a grain: position \[m\], orientation, velocity \[m/s\] and angular velocity \[rad/s\].
pub type CachedGrain = [f64; 13];

/// Hash of the texts that a state was made from.
pub type CacheKey = [u8; 32];

const MAGIC: &[u8] = b"esker bed 1\n";
const HEAD: usize = MAGIC.len() + size_of::<CacheKey>() + size_of::<u64>();

/// Key of a state that is made from these texts.
pub fn key(texts: &[&str]) -> CacheKey {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// Writes the states of all grains; the file appears whole or not at all.
///
/// # Errors
/// When the file cannot be written.
pub fn store(path: &Path, key: &CacheKey, states: &[CachedGrain]) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::file(folder))?;
    let mut bytes = [MAGIC, key, &(states.len() as u64).to_le_bytes()].concat();
    bytes.extend(states.iter().flatten().flat_map(|number| number.to_le_bytes()));
    let sum = Sha256::digest(&bytes);
    atomic::write(path, |out| {
        out.write_all(&bytes)?;
        out.write_all(&sum)
    })
}

/// Reads the states of `grains` grains; `None` if there is no such file.
///
/// # Errors
/// The reason why the file is not used.
pub fn load(path: &Path, key: &CacheKey, grains: usize) -> Result<Option<Vec<CachedGrain>>, String> {
    match read_bytes(path, length(grains) as u64) {
        Ok(bytes) => parse(&bytes, key, grains).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Length of a file for this number of grains \[bytes\].
fn length(grains: usize) -> usize {
    HEAD + grains * size_of::<CachedGrain>() + size_of::<CacheKey>()
}

fn parse(bytes: &[u8], key: &CacheKey, grains: usize) -> Result<Vec<CachedGrain>, String> {
    let expected = length(grains);
    if !bytes.starts_with(MAGIC) {
        return Err("it is no bed of this version of the format".into());
    }
    if bytes.len() != expected {
        return Err(format!("it has {} bytes, expected {expected}", bytes.len()));
    }
    let (content, sum) = bytes.split_at(bytes.len() - size_of::<CacheKey>());
    if Sha256::digest(content)[..] != *sum {
        return Err("its checksum does not fit its content".into());
    }
    if content[MAGIC.len()..HEAD] != [key, &(grains as u64).to_le_bytes()[..]].concat() {
        return Err("it is of another scenario or program".into());
    }
    let (numbers, _) = content[HEAD..].as_chunks::<8>();
    let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    Ok(numbers.as_chunks().0.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states() -> Vec<CachedGrain> {
        (0..5).map(|grain| [f64::from(grain) + 0.1; 13]).collect()
    }

    #[test]
    fn what_was_stored_comes_back_to_the_bit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("new/bed.bin");
        let key = key(&["a scenario"]);
        assert_eq!(load(&path, &key, 5), Ok(None));
        store(&path, &key, &states()).expect("written");
        assert_eq!(load(&path, &key, 5), Ok(Some(states())));
    }

    #[test]
    fn a_damaged_or_foreign_file_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("bed.bin");
        let key_of_file = key(&["a scenario"]);
        store(&path, &key_of_file, &states()).expect("written");
        let good = fs::read(&path).expect("readable");
        let reason = |bytes: &[u8], key: &CacheKey, grains| parse(bytes, key, grains).expect_err("refused");

        let mut flipped = good.clone();
        flipped[HEAD + 20] ^= 1;
        assert!(reason(&flipped, &key_of_file, 5).contains("checksum"));
        assert!(reason(&good[..good.len() - 1], &key_of_file, 5).contains("bytes"));
        assert!(reason(&good, &key_of_file, 6).contains("bytes"));
        assert!(reason(&good, &key(&["another"]), 5).contains("another scenario"));
        assert!(reason(b"PK", &key_of_file, 5).contains("no bed"));
    }

    #[test]
    fn texts_do_not_run_into_each_other_in_a_key() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
    }
}
