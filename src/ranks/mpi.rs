//! Ranks that are processes, connected by the MPI of the machine.

use mpi::Threading;
use mpi::environment::Universe;
use mpi::request::multiple_scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator as _, CommunicatorCollectives, Destination, Equivalence, Source};

use crate::error::Error;

use super::communicator::{Communicator, Messages, Parcel};

/// Bytes that MPI is given at once: it counts them in 31 bits.
const LARGEST_PIECE: usize = 1 << 30;

/// A rank that is a process of MPI. Dropping it, on the thread that made it, finalises MPI in this process.
pub struct Process {
    world: SimpleCommunicator,
    _universe: Universe,
}

// SAFETY: MPI was initialised such that any thread may call it, one at a time, and a value has one owner.
unsafe impl Send for Process {}

impl Process {
    /// Connects this process with the others that were started with it. A panic then ends all of them.
    ///
    /// # Errors
    /// [`Error::NoMpi`] where MPI cannot be initialised, or lets one thread of a process call it only.
    pub fn connect() -> Result<Process, Error> {
        let refused = |why: &str| Error::NoMpi { why: why.to_owned() };
        let (universe, threading) = mpi::initialize_with_threading(Threading::Serialized)
            .ok_or_else(|| refused("it was initialised before"))?;
        if threading < Threading::Serialized {
            return Err(refused("it does not let several threads of a process call it"));
        }
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            report(panic);
            if !mpi::environment::is_finalized() {
                SimpleCommunicator::world().abort(1);
            }
        }));
        Ok(Process { world: universe.world(), _universe: universe })
    }
}

impl Communicator for Process {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn ranks(&self) -> usize {
        self.world.size() as usize
    }

    fn swap(&mut self, out: &[Parcel], into: &mut [Parcel]) {
        let (world, receives) = (&self.world, into.len());
        let mut done = Vec::new();
        multiple_scope(out.len() + receives, |scope, requests| {
            for parcel in into {
                let other = world.process_at_rank(parcel.rank as i32);
                requests.add(other.immediate_receive_into(scope, &mut parcel.numbers[..]));
            }
            for parcel in out {
                let other = world.process_at_rank(parcel.rank as i32);
                requests.add(other.immediate_send(scope, &parcel.numbers[..]));
            }
            requests.wait_all(&mut done);
        });
        for (_, status, numbers) in &done[..receives] {
            let received = status.count(f64::equivalent_datatype()) as usize;
            assert_eq!(received, numbers.len(), "two ranks list other contacts across their border");
        }
    }

    fn gather(&mut self, numbers: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.ranks() * numbers.len()];
        self.world.all_gather_into(numbers, &mut all[..]);
        all
    }

    fn deliver(&mut self, messages: Messages) -> Messages {
        let mut sent = vec![0u64; self.ranks()];
        let mut received = sent.clone();
        // A message of no bytes is a message, too.
        messages.iter().for_each(|(rank, message)| sent[*rank] = message.len() as u64 + 1);
        self.world.all_to_all_into(&sent[..], &mut received[..]);
        let from = received.into_iter().enumerate().filter(|(_, bytes)| *bytes > 0);
        let mut delivered: Messages = from.map(|(rank, bytes)| (rank, vec![0; bytes as usize - 1])).collect();
        let world = &self.world;
        let mut done = Vec::new();
        multiple_scope(messages.len() + delivered.len(), |scope, requests| {
            for (rank, bytes) in &mut delivered {
                let other = world.process_at_rank(*rank as i32);
                for piece in bytes.chunks_mut(LARGEST_PIECE) {
                    requests.add(other.immediate_receive_into(scope, piece));
                }
            }
            for (rank, bytes) in &messages {
                let other = world.process_at_rank(*rank as i32);
                for piece in bytes.chunks(LARGEST_PIECE) {
                    requests.add(other.immediate_send(scope, piece));
                }
            }
            requests.wait_all(&mut done);
        });
        delivered
    }
}
