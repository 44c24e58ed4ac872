//! Values in groups: a counting sort.

/// Values group by group, those of each in the order in which they came.
pub(super) struct Groups<T> {
    /// Where each group starts in `values`, and where the last one ends.
    pub starts: Vec<u32>,
    /// The values.
    pub values: Vec<T>,
}

impl<T: Copy + Default> Groups<T> {
    /// So many groups, of values that come with the number of their group.
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

    /// The values of a group.
    pub fn of(&self, group: usize) -> &[T] {
        &self.values[self.starts[group] as usize..self.starts[group + 1] as usize]
    }
}
