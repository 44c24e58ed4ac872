//! Groups: values sorted by the number of their group, by a counting sort.

/// Values group by group; within a group they keep the order in which they came.
pub(super) struct Groups<T> {
    /// Index of the first value of each group in `values`, and the end of the last group.
    pub starts: Vec<u32>,
    /// Values of all groups.
    pub values: Vec<T>,
}

impl<T: Copy + Default> Groups<T> {
    /// Sorts values into `count` groups; `members` are pairs of group number and value.
    pub fn new(count: usize, members: impl Iterator<Item = (usize, T)> + Clone) -> Groups<T> {
        let mut starts = vec![0u32; count + 1];
        members.clone().for_each(|(group, _)| starts[group + 1] += 1);
        (0..count).for_each(|group| starts[group + 1] += starts[group]);
        let mut next = starts.clone();
        let mut values = vec![T::default(); starts[count] as usize];
        for (group, value) in members {
            values[next[group] as usize] = value;
            next[group] += 1;
        }
        Groups { starts, values }
    }

    /// Values of one group.
    pub fn of(&self, group: usize) -> &[T] {
        &self.values[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}
