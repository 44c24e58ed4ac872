//! Matrix of a local problem: square blocks, in rows of contacts.

use crate::error::Error;

/// Matrix W of blocks of `dimension` × `dimension` numbers. Blocks that are zero are left out, those of the diagonal are always there.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockMatrix {
    dimension: usize,
    /// First block of each row beside the diagonal; one more than there are rows.
    starts: Vec<u32>,
    /// Column of each block beside the diagonal.
    columns: Vec<u32>,
    /// Numbers of these blocks, block by block and row by row.
    blocks: Vec<f64>,
    /// Numbers of the blocks of the diagonal.
    diagonal: Vec<f64>,
}

/// Number of a matrix, with its row and its column.
pub type MatrixEntry = (u32, u32, f64);

impl BlockMatrix {
    /// Makes the matrix of this many rows of blocks from its numbers; several of one place are summed.
    ///
    /// # Errors
    /// A sentence about the first number that is outside of the matrix.
    pub fn from_entries(
        dimension: usize,
        contacts: usize,
        mut entries: Vec<MatrixEntry>,
    ) -> Result<BlockMatrix, String> {
        let size = dimension * contacts;
        let is_outside = |&&(row, column, _): &&MatrixEntry| row.max(column) as usize >= size;
        if let Some((row, column, _)) = entries.iter().find(is_outside) {
            return Err(format!("row {row}, column {column}, and the matrix has {size} of each, from 0"));
        }
        let block_of =
            |&(row, column, _): &MatrixEntry| (row as usize / dimension, column as usize / dimension);
        entries.retain(|entry| entry.2 != 0.0);
        entries.sort_by_key(block_of); // stable: sums have the order of the file
        let area = dimension * dimension;
        let mut matrix = BlockMatrix {
            dimension,
            starts: vec![0; contacts + 1],
            columns: Vec::new(),
            blocks: Vec::new(),
            diagonal: vec![0.0; contacts * area],
        };
        for of_block in entries.chunk_by(|a, b| block_of(a) == block_of(b)) {
            let (row, column) = block_of(&of_block[0]);
            let block = if row == column {
                &mut matrix.diagonal[row * area..][..area]
            } else {
                matrix.starts[row + 1] += 1;
                matrix.columns.push(column as u32);
                matrix.blocks.resize(matrix.columns.len() * area, 0.0);
                let last = matrix.blocks.len() - area;
                &mut matrix.blocks[last..]
            };
            for &(row, column, value) in of_block {
                block[(row as usize % dimension) * dimension + column as usize % dimension] += value;
            }
        }
        (0..contacts).for_each(|row| matrix.starts[row + 1] += matrix.starts[row]);
        Ok(matrix)
    }

    /// Number of rows and columns of a block.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of rows of blocks.
    pub fn contacts(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of blocks that are not zero, and those of the diagonal.
    pub fn block_count(&self) -> usize {
        self.columns.len() + self.contacts()
    }

    /// Columns of the blocks beside the diagonal in a row.
    pub fn neighbours(&self, row: usize) -> &[u32] {
        &self.columns[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// The matrix with blocks of a known size.
    ///
    /// # Panics
    /// If they have another size.
    pub fn rows<const D: usize>(&self) -> BlockRows<'_, D> {
        assert_eq!(self.dimension, D, "size of the blocks");
        BlockRows {
            starts: &self.starts,
            columns: &self.columns,
            blocks: squares(&self.blocks),
            diagonal: squares(&self.diagonal),
        }
    }

    /// All blocks by rows and columns: row, column, numbers row by row.
    pub fn blocks_by_rows(&self) -> impl Iterator<Item = (usize, u32, &[f64])> {
        let area = self.dimension * self.dimension;
        (0..self.contacts()).flat_map(move |row| {
            let own = row as u32;
            let range = self.starts[row] as usize..self.starts[row + 1] as usize;
            let beside =
                range.map(move |block| (row, self.columns[block], &self.blocks[block * area..][..area]));
            let (before, after) = (beside.clone(), beside);
            let diagonal = (row, own, &self.diagonal[row * area..][..area]);
            before
                .take_while(move |block| block.1 < own)
                .chain([diagonal])
                .chain(after.skip_while(move |block| block.1 < own))
        })
    }

    /// All numbers that are not zero, by rows and columns.
    pub fn entries(&self) -> Vec<MatrixEntry> {
        let d = self.dimension as u32;
        let of_block = |(row, column, block): (usize, u32, &[f64])| {
            let place = |(i, &value): (usize, &f64)| {
                (row as u32 * d + i as u32 / d, column * d + i as u32 % d, value)
            };
            block.iter().enumerate().map(place).filter(|entry| entry.2 != 0.0).collect::<Vec<MatrixEntry>>()
        };
        let mut entries: Vec<MatrixEntry> = self.blocks_by_rows().flat_map(of_block).collect();
        entries.sort_unstable_by_key(|&(row, column, _)| (row, column));
        entries
    }

    /// The matrix with its contacts in another order: row k is row `order[k]` of this one.
    pub fn reordered(&self, order: &[u32]) -> BlockMatrix {
        let mut place_of = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(place, &row)| place_of[row as usize] = place as u32);
        let area = self.dimension * self.dimension;
        let mut matrix = BlockMatrix {
            dimension: self.dimension,
            starts: vec![0],
            columns: Vec::with_capacity(self.columns.len()),
            blocks: Vec::with_capacity(self.blocks.len()),
            diagonal: Vec::with_capacity(self.diagonal.len()),
        };
        for &row in order {
            let row = row as usize;
            let mut blocks: Vec<(u32, usize)> = (self.starts[row] as usize..self.starts[row + 1] as usize)
                .map(|block| (place_of[self.columns[block] as usize], block))
                .collect();
            blocks.sort_unstable();
            for (column, block) in blocks {
                matrix.columns.push(column);
                matrix.blocks.extend(&self.blocks[block * area..][..area]);
            }
            matrix.diagonal.extend(&self.diagonal[row * area..][..area]);
            matrix.starts.push(matrix.columns.len() as u32);
        }
        matrix
    }

    /// Refuses a matrix that no bodies have: with a negative number on its diagonal.
    ///
    /// # Errors
    /// [`Error::Unusable`] with the place of the first such number.
    pub fn check(&self, origin: &str) -> Result<(), Error> {
        let d = self.dimension;
        let of = |block: &[f64]| block.iter().step_by(d + 1).copied().collect::<Vec<f64>>();
        let diagonal: Vec<f64> = self.diagonal.chunks(d * d).flat_map(of).collect();
        let largest = diagonal.iter().copied().fold(0.0, f64::max);
        match diagonal.iter().position(|&value| value < -ROUNDING * largest) {
            None => Ok(()),
            Some(row) => Err(Error::Unusable {
                origin: origin.to_owned(),
                found: format!("the diagonal of W is {:e} in row {row}", diagonal[row]),
                advice: "expected W = H M⁻¹ Hᵀ of bodies, with no negative diagonal".into(),
            }),
        }
    }

    /// Largest difference of the matrix from its transpose, over its largest number \[-\].
    pub fn asymmetry(&self) -> f64 {
        let of = |entries: Vec<MatrixEntry>| {
            entries.into_iter().map(|(row, column, value)| ((row, column), value))
        };
        let numbers: std::collections::HashMap<(u32, u32), f64> = of(self.entries()).collect();
        let mirrored = |&(row, column): &(u32, u32)| numbers.get(&(column, row)).copied().unwrap_or(0.0);
        let largest = numbers.values().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let off = numbers.iter().map(|(place, value)| (value - mirrored(place)).abs()).fold(0.0, f64::max);
        if largest > 0.0 { off / largest } else { 0.0 }
    }
}

/// Size of a negative number on the diagonal, over the largest of it, that is taken for rounding \[-\].
const ROUNDING: f64 = 1e-9;

/// Squares of `D` × `D` numbers, row by row.
fn squares<const D: usize>(numbers: &[f64]) -> &[[[f64; D]; D]] {
    numbers.as_chunks::<D>().0.as_chunks::<D>().0
}

/// Matrix W with blocks of a known size.
#[derive(Debug, Clone, Copy)]
pub struct BlockRows<'a, const D: usize> {
    starts: &'a [u32],
    columns: &'a [u32],
    blocks: &'a [[[f64; D]; D]],
    diagonal: &'a [[[f64; D]; D]],
}

impl<const D: usize> BlockRows<'_, D> {
    /// Block of the diagonal in a row.
    pub fn diagonal(&self, row: usize) -> &[[f64; D]; D] {
        &self.diagonal[row]
    }

    /// Velocity of a contact without its own impulse: q and what the impulses of all others add.
    #[inline(always)]
    pub fn free(&self, row: usize, q: &[f64; D], impulses: &[[f64; D]]) -> [f64; D] {
        let range = self.starts[row] as usize..self.starts[row + 1] as usize;
        let mut sums = *q;
        for (&column, block) in self.columns[range.clone()].iter().zip(&self.blocks[range]) {
            add_product(&mut sums, block, &impulses[column as usize]);
        }
        sums
    }

    /// Velocity of a contact.
    #[inline(always)]
    pub fn velocity(&self, row: usize, q: &[f64; D], impulses: &[[f64; D]]) -> [f64; D] {
        let mut sums = self.free(row, q, impulses);
        add_product(&mut sums, &self.diagonal[row], &impulses[row]);
        sums
    }
}

/// Adds a block times a vector.
#[inline(always)]
fn add_product<const D: usize>(sums: &mut [f64; D], block: &[[f64; D]; D], vector: &[f64; D]) {
    for (sum, row) in sums.iter_mut().zip(block) {
        *sum += row.iter().zip(vector).map(|(a, b)| a * b).sum::<f64>();
    }
}
