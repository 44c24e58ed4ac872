//! Connections of the server that are open: a bounded number, with a bounded number of bytes that are not yet sent.
//!
//! The server is on the machine of its clients, where an answer takes a fraction of a second. So a connection that is in the way is an old
//! one: first the oldest whose request has not come, then the oldest of all. It is closed, whatever it waits for.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

/// Largest number of connections. Some systems let a program open 256 files.
const MOST: usize = 192;
/// Largest number of bytes of answers that wait for slow readers; one answer may be larger.
const MOST_BYTES: usize = 1 << 30;

/// Connections that are open.
#[derive(Debug, Default)]
pub(super) struct Guests {
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    /// Number of the next connection.
    next: u64,
    /// Connections by number: the first is the oldest.
    open: BTreeMap<u64, Guest>,
}

/// A connection.
#[derive(Debug, Default)]
struct Guest {
    /// `None` until the task runs.
    task: Option<AbortHandle>,
    /// Whether its request has come.
    has_asked: bool,
    /// Size of its answer \[bytes\].
    bytes: usize,
}

/// Place of a connection, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    guests: Arc<Guests>,
    number: u64,
}

impl Guests {
    /// Lets one more connection in. `talk` makes its task.
    pub(super) fn admit<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        talk: impl FnOnce(Seat) -> F,
    ) {
        let number = {
            let mut list = self.list();
            list.next += 1;
            let number = list.next;
            list.open.insert(number, Guest::default());
            number
        };
        let task = tokio::spawn(talk(Seat { guests: Arc::clone(self), number })).abort_handle();
        let mut list = self.list();
        if let Some(guest) = list.open.get_mut(&number) {
            guest.task = Some(task);
        }
        while list.open.len() > MOST {
            list.dismiss_one();
        }
    }

    /// Closes the connection that is most in the way.
    pub(super) fn dismiss_one(&self) {
        self.list().dismiss_one();
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    fn dismiss_one(&mut self) {
        let waits = self.open.iter().find(|(_, guest)| !guest.has_asked);
        let chosen = waits.or(self.open.iter().next()).map(|(&number, _)| number);
        chosen.into_iter().for_each(|number| self.dismiss(number));
    }

    fn dismiss(&mut self, number: u64) {
        if let Some(task) = self.open.remove(&number).and_then(|guest| guest.task) {
            task.abort();
        }
    }

    /// Closes the oldest connections with an answer while all answers but that of `last` leave no room for it.
    fn make_room_for(&mut self, last: u64) {
        while self.open.values().map(|guest| guest.bytes).sum::<usize>() > MOST_BYTES {
            let mut slow = self.open.iter().filter(|(number, guest)| **number != last && guest.bytes > 0);
            let Some((&number, _)) = slow.next() else { return };
            self.dismiss(number);
        }
    }
}

impl Seat {
    /// Notes that the request has come.
    pub(super) fn asks(&self) {
        if let Some(guest) = self.guests.list().open.get_mut(&self.number) {
            guest.has_asked = true;
        }
    }

    /// Notes the size of the answer \[bytes\], which is sent from now on.
    pub(super) fn is_sent(&self, bytes: usize) {
        let mut list = self.guests.list();
        if let Some(guest) = list.open.get_mut(&self.number) {
            guest.bytes = bytes;
        }
        list.make_room_for(self.number);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.guests.list().open.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections in which those of `asked` have sent their request, and the answers have these sizes.
    fn list(asked: &[bool], bytes: &[usize]) -> List {
        let guest = |(i, (&has_asked, &bytes))| (i as u64, Guest { task: None, has_asked, bytes });
        List { next: asked.len() as u64, open: asked.iter().zip(bytes).enumerate().map(guest).collect() }
    }

    fn left(list: &List) -> Vec<u64> {
        list.open.keys().copied().collect()
    }

    #[test]
    fn who_has_not_asked_goes_first_and_then_the_oldest() {
        let mut list = list(&[true, false, true, false], &[0; 4]);
        let mut order = vec![left(&list)];
        for _ in 0..4 {
            list.dismiss_one();
            order.push(left(&list));
        }
        assert_eq!(order, [vec![0, 1, 2, 3], vec![0, 2, 3], vec![0, 2], vec![2], vec![]]);
    }

    #[test]
    fn slow_readers_make_room_for_a_new_answer_which_may_be_larger_than_all_room() {
        let half = MOST_BYTES / 2;
        let mut three = list(&[true; 3], &[half, half, 1]);
        three.make_room_for(2);
        assert_eq!(left(&three), [1, 2]);
        let mut large = list(&[true; 3], &[0, 1, 3 * half]);
        large.make_room_for(2);
        assert_eq!(left(&large), [0, 2], "a request without an answer holds nothing");
    }
}
