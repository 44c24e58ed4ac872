//! Share: what one of several ranks counts of a state that they have in common.
//!
//! Quantities are sums and extremes over grains and contacts. On one process they cover all of them. A rank covers its own grains and the
//! contacts that it counts, and [`Share::sum`] and its like join the results of all ranks: these call the same functions in the same order,
//! and each has the number of the whole scene.

use std::fmt;
use std::sync::Arc;

use glam::{DMat3, DVec3};

/// Connection of the ranks that share a state.
pub trait Link: Send + Sync {
    /// Whether this is the first rank, which writes the results.
    fn is_first(&self) -> bool;

    /// Returns the numbers of all ranks on each of them, rank after rank; all ranks give as many.
    fn gather(&self, numbers: &[f64]) -> Vec<f64>;

    /// Takes bytes to the first rank, where `take` gets those of the others in the order of the ranks.
    fn collect(&self, bytes: Vec<u8>, take: &mut dyn FnMut(Vec<u8>));

    /// Makes each number its sum over all ranks, added up in the order of the ranks.
    fn sum_each(&self, numbers: &mut [f64]) {
        self.join(numbers, 0.0, |sum, number| sum + number);
    }

    /// Makes each number the largest over all ranks; not a number where none of them is one.
    fn largest_each(&self, numbers: &mut [f64]) {
        self.join(numbers, f64::NAN, f64::max);
    }

    /// Joins the numbers of all ranks, one after the other, to the `start`.
    fn join(&self, numbers: &mut [f64], start: f64, join: fn(f64, f64) -> f64) {
        for numbers in numbers.chunks_mut(AT_ONCE) {
            let all = self.gather(numbers);
            numbers.fill(start);
            for of_rank in all.chunks_exact(numbers.len()) {
                numbers.iter_mut().zip(of_rank).for_each(|(joined, number)| *joined = join(*joined, *number));
            }
        }
    }
}

/// What a process counts of a state: everything, or the share of one of several ranks.
#[derive(Clone, Default)]
pub struct Share(Option<Arc<OfRank>>);

struct OfRank {
    /// Whether the rank owns each grain that it holds.
    owned: Vec<bool>,
    link: Box<dyn Link>,
}

/// A group of real numbers: a number, a vector, a tensor, a list.
pub trait Numbers: Copy {
    /// The numbers one after the other.
    fn list(&mut self) -> &mut [f64];
}

impl Numbers for f64 {
    fn list(&mut self) -> &mut [f64] {
        std::slice::from_mut(self)
    }
}

impl Numbers for DVec3 {
    fn list(&mut self) -> &mut [f64] {
        self.as_mut()
    }
}

impl Numbers for DMat3 {
    fn list(&mut self) -> &mut [f64] {
        self.as_mut()
    }
}

impl<const N: usize> Numbers for [f64; N] {
    fn list(&mut self) -> &mut [f64] {
        self
    }
}

/// Bits of a digit, by which the `n`th value of all ranks is found, and digits of a number.
const BITS: u32 = 4;
const DIGITS: u32 = u64::BITS / BITS;

/// Numbers that are joined at once: each rank gets those of all ranks.
const AT_ONCE: usize = 4096;

impl Share {
    /// Share of a rank that owns these of the grains that it holds.
    pub fn of_rank(owned: Vec<bool>, link: Box<dyn Link>) -> Share {
        Share(Some(Arc::new(OfRank { owned, link })))
    }

    /// Whether this process has the whole state.
    pub fn is_whole(&self) -> bool {
        self.0.is_none()
    }

    /// Whether this process writes the results.
    pub fn is_first(&self) -> bool {
        self.0.as_ref().is_none_or(|rank| rank.link.is_first())
    }

    /// Whether this process counts a grain.
    pub fn counts(&self, grain: usize) -> bool {
        self.0.as_ref().is_none_or(|rank| rank.owned[grain])
    }

    /// Sums over all ranks.
    pub fn sum<T: Numbers>(&self, mut numbers: T) -> T {
        self.sum_each(numbers.list());
        numbers
    }

    /// As [`Link::sum_each`].
    pub fn sum_each(&self, numbers: &mut [f64]) {
        if let Some(rank) = &self.0 {
            rank.link.sum_each(numbers);
        }
    }

    /// Sum of a count over all ranks.
    pub fn total(&self, count: usize) -> usize {
        self.sum(count as f64) as usize
    }

    /// Largest of the numbers of all ranks; not a number where none of them is one.
    pub fn largest(&self, mut number: f64) -> f64 {
        self.largest_each(number.list());
        number
    }

    /// Smallest of the numbers of all ranks; not a number where none of them is one.
    pub fn smallest(&self, number: f64) -> f64 {
        -self.largest(-number)
    }

    /// As [`Link::largest_each`].
    pub fn largest_each(&self, numbers: &mut [f64]) {
        if let Some(rank) = &self.0 {
            rank.link.largest_each(numbers);
        }
    }

    /// The `n`th value, from 0, of the values of all ranks in ascending order; there are more than `n`.
    ///
    /// Ranks find it digit by digit, from the numbers of values that have each digit.
    pub fn nth(&self, values: &mut [f64], n: usize) -> f64 {
        if self.is_whole() {
            return *values.select_nth_unstable_by(n, f64::total_cmp).1;
        }
        let (mut found, mut below) = (0, n as f64);
        for digit in (0..DIGITS).rev() {
            let mut counts = [0.0; 1 << BITS];
            let is_like = |key: &u64| digit + 1 == DIGITS || (key ^ found) >> (BITS * (digit + 1)) == 0;
            for key in values.iter().map(|value| ascending(*value)).filter(is_like) {
                counts[(key >> (BITS * digit)) as usize % counts.len()] += 1.0;
            }
            self.sum_each(&mut counts);
            let mut value = 0;
            while value + 1 < counts.len() && below >= counts[value] {
                below -= counts[value];
                value += 1;
            }
            found |= (value as u64) << (BITS * digit);
        }
        of_ascending(found)
    }

    /// Takes bytes to the first rank, where `take` gets those of the others in the order of the ranks.
    pub fn collect(&self, bytes: Vec<u8>, take: &mut dyn FnMut(Vec<u8>)) {
        if let Some(rank) = &self.0 {
            rank.link.collect(bytes, take);
        }
    }
}

/// Whole number that is as much larger as the value is in the order of [`f64::total_cmp`].
fn ascending(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_sign_negative() { !bits } else { bits | 1 << 63 }
}

/// Value of such a whole number.
fn of_ascending(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 0 { !key } else { key & !(1 << 63) })
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_whole() { "Share(all)" } else { "Share(of a rank)" })
    }
}

impl PartialEq for Share {
    // A share says who counts what, which is nothing of the state itself.
    fn eq(&self, _: &Share) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Barrier, Mutex};
    use std::thread;

    /// Ranks that are threads: each posts its numbers, waits for all, and reads those of all.
    struct Threads {
        rank: usize,
        posts: Arc<Vec<Mutex<Vec<f64>>>>,
        barrier: Arc<Barrier>,
    }

    impl Link for Threads {
        fn is_first(&self) -> bool {
            self.rank == 0
        }

        fn gather(&self, numbers: &[f64]) -> Vec<f64> {
            *self.posts[self.rank].lock().expect("a post") = numbers.to_vec();
            self.barrier.wait();
            let all = self.posts.iter().flat_map(|post| post.lock().expect("a post").clone()).collect();
            self.barrier.wait();
            all
        }

        fn collect(&self, _: Vec<u8>, _: &mut dyn FnMut(Vec<u8>)) {}
    }

    /// What `work` returns on each of as many ranks as there are parts; it gets the share and the part of its rank.
    fn on_ranks<T: Send>(parts: &[Vec<f64>], work: impl Fn(&Share, &[f64]) -> T + Sync) -> Vec<T> {
        let posts = Arc::new(parts.iter().map(|_| Mutex::default()).collect::<Vec<_>>());
        let barrier = Arc::new(Barrier::new(parts.len()));
        thread::scope(|scope| {
            let mut running = Vec::new();
            for (rank, part) in parts.iter().enumerate() {
                let link = Threads { rank, posts: posts.clone(), barrier: barrier.clone() };
                let (share, work) = (Share::of_rank(Vec::new(), Box::new(link)), &work);
                running.push(scope.spawn(move || work(&share, part)));
            }
            running.into_iter().map(|thread| thread.join().expect("a rank")).collect()
        })
    }

    #[test]
    fn every_rank_has_the_sums_and_extremes_of_all() {
        let parts = [vec![1.0, -2.0], vec![], vec![4.0]];
        let found = on_ranks(&parts, |share, part| {
            let most = part.iter().copied().fold(f64::NAN, f64::max);
            let least = part.iter().copied().fold(f64::NAN, f64::min);
            (share.sum(part.iter().sum::<f64>()), share.largest(most), share.smallest(least))
        });
        assert_eq!(found, [(3.0, 4.0, -2.0); 3]);
        let none = on_ranks(&[vec![], vec![]], |share, _| share.largest(f64::NAN).is_nan());
        assert_eq!(none, [true; 2], "no rank has a value");
        let long: Vec<f64> = (0..AT_ONCE + 3).map(|i| i as f64).collect();
        let sums = on_ranks(&[long.clone(), long.clone()], |share, part| {
            let mut sums = part.to_vec();
            share.sum_each(&mut sums);
            sums
        });
        assert!(sums.iter().all(|sums| sums.iter().zip(&long).all(|(sum, number)| *sum == 2.0 * number)));
        let vectors =
            on_ranks(&parts, |share, part| share.sum(part.len() as f64 * DVec3::new(1.0, 2.0, 3.0)));
        assert_eq!(vectors, [DVec3::new(3.0, 6.0, 9.0); 3]);
    }

    #[test]
    fn the_nth_value_of_all_ranks_is_that_of_one_list() {
        let parts =
            [vec![0.5, -1e-300, 7.0, 7.0, f64::INFINITY], vec![], vec![-3.25, 0.0, -0.0, 7.0, 1e9, -1e-300]];
        let mut all = parts.concat();
        all.sort_unstable_by(f64::total_cmp);
        for (n, value) in all.iter().enumerate() {
            let found = on_ranks(&parts, |share, part| share.nth(&mut part.to_vec(), n).to_bits());
            assert_eq!(found, [value.to_bits(); 3], "value {n}");
            assert_eq!(Share::default().nth(&mut parts.concat(), n).to_bits(), value.to_bits());
        }
    }
}
