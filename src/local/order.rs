//! Orders in which the contacts of a local problem are visited.

use std::borrow::Cow;

use super::LocalProblem;
use super::matrix::BlockMatrix;

/// Order in which sweeps visit the contacts of a local problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContactOrder {
    /// As they are stored.
    Stored,
    /// Colour by colour; contacts of a colour have no block of W in common, so that they may be solved at once.
    Coloured,
}

impl ContactOrder {
    /// All orders.
    pub const ALL: [ContactOrder; 2] = [ContactOrder::Stored, ContactOrder::Coloured];

    /// Word on the command line and in results.
    pub fn word(self) -> &'static str {
        match self {
            ContactOrder::Stored => "stored",
            ContactOrder::Coloured => "coloured",
        }
    }
}

/// A problem in the order in which its contacts are visited.
#[derive(Debug)]
pub(super) struct Ordered<'a> {
    pub problem: Cow<'a, LocalProblem>,
    /// Number of each contact in the problem as it was given.
    order: Vec<u32>,
    /// First contact of each colour, and the end; without colours each contact is one.
    pub colours: Vec<u32>,
}

impl<'a> Ordered<'a> {
    /// Brings a problem into an order.
    pub fn new(problem: &'a LocalProblem, order: ContactOrder) -> Ordered<'a> {
        let contacts = problem.contacts();
        match order {
            ContactOrder::Stored => Ordered {
                problem: Cow::Borrowed(problem),
                order: (0..contacts as u32).collect(),
                colours: (0..=contacts as u32).collect(),
            },
            ContactOrder::Coloured => {
                let (order, colours) = coloured(&problem.matrix);
                let d = problem.dimension();
                let of = |list: &[f64]| order.iter().map(|&contact| list[contact as usize]).collect();
                let q = order.iter().flat_map(|&contact| &problem.q[contact as usize * d..][..d]).copied();
                let problem = LocalProblem {
                    matrix: problem.matrix.reordered(&order),
                    q: q.collect(),
                    friction: of(&problem.friction),
                    rolling: of(&problem.rolling),
                };
                Ordered { problem: Cow::Owned(problem), order, colours }
            }
        }
    }

    /// Numbers of the contacts in the order of the problem as it was given, from those in this order.
    pub fn as_given(&self, numbers: &[f64]) -> Vec<f64> {
        let d = self.problem.dimension();
        let mut given = vec![0.0; numbers.len()];
        for (&contact, numbers) in self.order.iter().zip(numbers.chunks(d)) {
            given[contact as usize * d..][..d].copy_from_slice(numbers);
        }
        given
    }

    /// Numbers of the contacts in this order, from those in the order of the problem as it was given.
    pub fn in_this_order(&self, numbers: &[f64]) -> Vec<f64> {
        let d = self.problem.dimension();
        self.order.iter().flat_map(|&contact| &numbers[contact as usize * d..][..d]).copied().collect()
    }
}

/// Contacts by colours, and the first of each colour and the end: a contact takes the lowest colour that none of its neighbours has.
fn coloured(matrix: &BlockMatrix) -> (Vec<u32>, Vec<u32>) {
    const NONE: u32 = u32::MAX;
    let contacts = matrix.contacts();
    let mut colours = vec![NONE; contacts];
    let mut seen: Vec<usize> = Vec::new();
    for contact in 0..contacts {
        for &neighbour in matrix.neighbours(contact) {
            let colour = colours[neighbour as usize];
            if colour != NONE {
                seen[colour as usize] = contact;
            }
        }
        let free = seen.iter().position(|&last| last != contact).unwrap_or(seen.len());
        if free == seen.len() {
            seen.push(NONE as usize);
        }
        colours[contact] = free as u32;
    }
    let mut order: Vec<u32> = (0..contacts as u32).collect();
    order.sort_by_key(|&contact| colours[contact as usize]);
    let mut starts = vec![0u32; seen.len() + 1];
    colours.iter().for_each(|&colour| starts[colour as usize + 1] += 1);
    (1..starts.len()).for_each(|colour| starts[colour] += starts[colour - 1]);
    (order, starts)
}
