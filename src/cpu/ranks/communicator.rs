//! Communication between ranks: what the engine asks of a message-passing library, and the ranks of one process.

use std::sync::mpsc::{Receiver, Sender, channel};

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

/// A rank that is a thread of this process.
pub struct Thread {
    rank: usize,
    /// To each rank, and from each rank.
    to: Vec<Sender<Message>>,
    from: Vec<Receiver<Message>>,
}

enum Message {
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
    fn send(&self, rank: usize, message: Message) {
        assert!(self.to[rank].send(message).is_ok(), "rank {rank} has ended");
    }

    fn receive(&self, rank: usize) -> Message {
        self.from[rank].recv().unwrap_or_else(|_| panic!("rank {rank} has ended"))
    }

    fn receive_numbers(&self, rank: usize) -> Vec<f64> {
        match self.receive(rank) {
            Message::Numbers(numbers) => numbers,
            Message::Bytes(_) => panic!("rank {rank} is at another place of the program"),
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
        out.iter().for_each(|parcel| self.send(parcel.rank, Message::Numbers(parcel.numbers.clone())));
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
        (0..self.ranks()).for_each(|rank| self.send(rank, Message::Numbers(numbers.to_vec())));
        (0..self.ranks()).flat_map(|rank| self.receive_numbers(rank)).collect()
    }

    fn deliver(&mut self, messages: Messages) -> Messages {
        let mut bytes: Vec<Option<Vec<u8>>> = vec![None; self.ranks()];
        messages.into_iter().for_each(|(rank, message)| bytes[rank] = Some(message));
        bytes.into_iter().enumerate().for_each(|(rank, bytes)| self.send(rank, Message::Bytes(bytes)));
        let receive = |rank: usize| match self.receive(rank) {
            Message::Bytes(bytes) => bytes.map(|bytes| (rank, bytes)),
            Message::Numbers(_) => panic!("rank {rank} is at another place of the program"),
        };
        (0..self.ranks()).filter_map(receive).collect()
    }
}
