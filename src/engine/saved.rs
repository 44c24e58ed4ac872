//! Binary form of checkpoints: compact values, one after the other, exact to the bit.

use std::io::{self, Write};

use postcard::ser_flavors::Flavor;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Newcomers, StepReport, Work};
use crate::error::Error;
use crate::model::World;
use crate::model::consistent::{Fault, claim};

/// Writes a value.
///
/// # Errors
/// When it cannot be written.
pub fn write<T: Serialize + ?Sized>(out: &mut dyn Write, value: &T) -> Result<(), Error> {
    let mut failure = None;
    let written = postcard::serialize_with_flavor(value, Io { out, failure: &mut failure });
    match (failure, written) {
        (Some(error), _) => Err(Error::file("checkpoint")(error)),
        (None, written) => written.map_err(|error| foreign(&error.to_string())),
    }
}

/// Output that postcard writes to, which keeps the error of the system where writing fails.
struct Io<'a, 'f> {
    out: &'a mut dyn Write,
    failure: &'f mut Option<io::Error>,
}

impl Flavor for Io<'_, '_> {
    type Output = ();

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.try_extend(&[byte])
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.out.write_all(bytes).map_err(|error| {
            *self.failure = Some(error);
            postcard::Error::SerializeBufferFull
        })
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Reads a value that [`write()`] wrote from the beginning of `bytes`, and leaves the bytes after it in `bytes`.
///
/// # Errors
/// [`Error::Unusable`] when there is none.
pub fn read<T: DeserializeOwned>(bytes: &mut &[u8]) -> Result<T, Error> {
    let (value, rest) = postcard::take_from_bytes(bytes).map_err(|error| foreign(&error.to_string()))?;
    *bytes = rest;
    Ok(value)
}

/// Bytes of a value that is in memory only.
///
/// # Panics
/// When memory ends.
pub fn pack<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, value).expect("writing into memory does not fail");
    bytes
}

/// Takes this many bytes from the beginning of `bytes`.
///
/// # Errors
/// [`Error::Unusable`] when there are not as many.
pub fn take<'a>(bytes: &mut &'a [u8], count: u64) -> Result<&'a [u8], Error> {
    let taken = usize::try_from(count).ok().and_then(|count| bytes.split_at_checked(count));
    let (taken, rest) = taken.ok_or_else(|| foreign("it ends too soon"))?;
    *bytes = rest;
    Ok(taken)
}

/// Bound on numbers of steps, substeps and sweeps in a state: beyond it their sums would overflow, and no run comes so far.
pub const MOST_STEPS: u64 = 1 << 53;

impl StepReport {
    /// Checks a report that was read from a file.
    pub(crate) fn check(&self) -> Fault {
        let Work { sweeps, contact_sweeps, solved_again } = self.work;
        let counts = [self.step, self.contacts, self.searches, solved_again]
            .into_iter()
            .chain(sweeps)
            .chain(contact_sweeps);
        claim(counts.into_iter().all(|count| count < MOST_STEPS), || {
            "more steps than can be counted".into()
        })?;
        claim(self.time.is_finite(), || "a time that is none".into())
    }
}

impl Newcomers {
    /// Checks newcomers that were read from a file.
    pub(crate) fn check(&self, world: &World) -> Fault {
        let Newcomers(places) = self;
        claim(places.is_sorted(), || "new grains out of order".into())?;
        claim(places.iter().all(|&place| place < world.grain_count()), || {
            "a new grain that is not there".into()
        })
    }
}

/// Error of a checkpoint that does not hold what this program saves.
pub fn foreign(found: &str) -> Error {
    Error::Unusable {
        origin: "checkpoint".to_owned(),
        found: format!("does not hold what this program saves ({found})"),
        advice: "go on with the program that saved it, or start anew".to_owned(),
    }
}

/// Error of a checkpoint of a scene with other meshes.
pub fn other_meshes() -> Error {
    Error::Unusable {
        origin: "checkpoint".to_owned(),
        found: "was saved with other meshes than the scenario has now".to_owned(),
        advice: "put the mesh files back as they were, with their scale, or start anew".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_in_their_order_to_the_bit() {
        let (numbers, words) = (vec![-0.0f64, f64::NAN, 1e-310], ("drum".to_owned(), u64::MAX));
        let mut bytes = Vec::new();
        write(&mut bytes, &numbers).expect("written");
        write(&mut bytes, &words).expect("written");
        let rest = &mut bytes.as_slice();
        let found: Vec<f64> = read(rest).expect("numbers");
        assert!(found.iter().zip(&numbers).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert_eq!(read::<(String, u64)>(rest).expect("words"), words);
        assert!(rest.is_empty() && read::<u64>(rest).is_err() && take(rest, 1).is_err());
    }
}
