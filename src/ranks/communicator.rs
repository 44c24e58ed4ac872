//! Communication between ranks: what the engine asks of a message-passing library, and the ranks of one process.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::share::Link;

/// Numbers that go to one rank, or come from it.
#[derive(Debug, Clone, Default)]
pub struct Parcel {
    /// The other rank.
    pub rank: usize,
    /// The numbers; the receiver knows how many there are.
    pub numbers: Vec<f64>,
}

/// Messages of any length, each with the rank that it goes to, or that it came from.
pub type Messages = Vec<(usize, Vec<u8>)>;

/// Connection of a rank with the others. All ranks call the same functions in the same order. Where a rank ends before its time, the
/// others end as well.
pub trait Communicator: Send {
    /// Number of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn ranks(&self) -> usize;

    /// Sends parcels to some ranks, and fills those in `into` with what their ranks send to this one.
    ///
    /// # Panics
    /// When a rank sends more or fewer numbers than its parcel has.
    fn swap(&mut self, out: &[Parcel], into: &mut [Parcel]);

    /// Returns the numbers of all ranks on each of them, rank after rank; all ranks give as many.
    fn gather(&mut self, numbers: &[f64]) -> Vec<f64>;

    /// Delivers messages, at most one to each rank, and returns those that others send to this rank, ascending by rank.
    fn deliver(&mut self, messages: Messages) -> Messages;
}

/// A connection that several owners have in common.
#[derive(Clone)]
pub struct Shared {
    rank: usize,
    ranks: usize,
    connection: Arc<Mutex<Box<dyn Communicator>>>,
}

impl Shared {
    /// Shares a connection.
    pub fn new(connection: Box<dyn Communicator>) -> Shared {
        let (rank, ranks) = (connection.rank(), connection.ranks());
        Shared { rank, ranks, connection: Arc::new(Mutex::new(connection)) }
    }

    /// Number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// As [`Communicator::swap`].
    pub fn swap(&self, out: &[Parcel], into: &mut [Parcel]) {
        self.connection().swap(out, into);
    }

    /// As [`Communicator::deliver`].
    pub fn deliver(&self, messages: Messages) -> Messages {
        self.connection().deliver(messages)
    }

    /// The connection. A thread that panics while it holds it ends all ranks.
    fn connection(&self) -> MutexGuard<'_, Box<dyn Communicator>> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that the first rank collects at once, unless one rank alone has more.
const COLLECTED_AT_ONCE: f64 = 256e6;

impl Link for Shared {
    fn is_first(&self) -> bool {
        self.rank == 0
    }

    fn gather(&self, numbers: &[f64]) -> Vec<f64> {
        self.connection().gather(numbers)
    }

    fn collect(&self, bytes: Vec<u8>, take: &mut dyn FnMut(Vec<u8>)) {
        let sizes = self.gather(&[bytes.len() as f64]);
        let mut own = Some(bytes);
        let mut first = 1;
        while first < self.ranks {
            let mut size = 0.0;
            let fits = |rank: &usize| {
                size += sizes[*rank];
                *rank == first || size <= COLLECTED_AT_ONCE
            };
            let senders = first..first + (first..self.ranks).take_while(fits).count();
            let sent = own.take_if(|_| senders.contains(&self.rank)).map(|bytes| (0, bytes));
            self.deliver(sent.into_iter().collect()).into_iter().for_each(|(_, bytes)| take(bytes));
            first = senders.end;
        }
    }
}

/// A rank that is a thread of this process.
pub struct Thread {
    rank: usize,
    /// To each rank, and from each rank.
    to: Vec<Sender<RankMessage>>,
    from: Vec<Receiver<RankMessage>>,
}

enum RankMessage {
    Numbers(Vec<f64>),
    Bytes(Option<Vec<u8>>),
}

/// Connects this many threads of a process; each takes one of the connections.
pub fn threads(ranks: usize) -> Vec<Thread> {
    let mut threads: Vec<Thread> =
        (0..ranks).map(|rank| Thread { rank, to: Vec::new(), from: Vec::new() }).collect();
    for from in 0..ranks {
        for to in 0..ranks {
            let (sender, receiver) = channel();
            threads[from].to.push(sender);
            threads[to].from.push(receiver);
        }
    }
    threads
}

impl Thread {
    fn send(&self, rank: usize, message: RankMessage) {
        assert!(self.to[rank].send(message).is_ok(), "rank {rank} has ended");
    }

    fn receive(&self, rank: usize) -> RankMessage {
        self.from[rank].recv().unwrap_or_else(|_| panic!("rank {rank} has ended"))
    }

    fn receive_numbers(&self, rank: usize) -> Vec<f64> {
        match self.receive(rank) {
            RankMessage::Numbers(numbers) => numbers,
            RankMessage::Bytes(_) => panic!("rank {rank} is at another place of the program"),
        }
    }
}

impl Communicator for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.to.len()
    }

    fn swap(&mut self, out: &[Parcel], into: &mut [Parcel]) {
        out.iter().for_each(|parcel| self.send(parcel.rank, RankMessage::Numbers(parcel.numbers.clone())));
        for parcel in into {
            let numbers = self.receive_numbers(parcel.rank);
            assert_eq!(
                numbers.len(),
                parcel.numbers.len(),
                "two ranks list other contacts across their border"
            );
            parcel.numbers = numbers;
        }
    }

    fn gather(&mut self, numbers: &[f64]) -> Vec<f64> {
        (0..self.ranks()).for_each(|rank| self.send(rank, RankMessage::Numbers(numbers.to_vec())));
        (0..self.ranks()).flat_map(|rank| self.receive_numbers(rank)).collect()
    }

    fn deliver(&mut self, messages: Messages) -> Messages {
        let mut bytes: Vec<Option<Vec<u8>>> = vec![None; self.ranks()];
        messages.into_iter().for_each(|(rank, message)| bytes[rank] = Some(message));
        bytes.into_iter().enumerate().for_each(|(rank, bytes)| self.send(rank, RankMessage::Bytes(bytes)));
        let receive = |rank: usize| match self.receive(rank) {
            RankMessage::Bytes(bytes) => bytes.map(|bytes| (rank, bytes)),
            RankMessage::Numbers(_) => panic!("rank {rank} is at another place of the program"),
        };
        (0..self.ranks()).filter_map(receive).collect()
    }
}
