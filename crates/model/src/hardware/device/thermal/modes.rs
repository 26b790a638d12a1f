//! Modes of a thermal network: temperatures as a sum of parts that decay each at its own rate.

use super::{Link, NodeId, ThermalNode};

/// Modes of a network, from the eigenvalues and eigenvectors of its symmetric matrix:
///
/// ```text
/// A = S^-1 G S^-1 = Q diag(rate) Q^T        S = diag(sqrt C_i)
/// z = Q^T S (T - T_ambient)                 T - T_ambient = S^-1 Q z
/// u = Q^T S^-1 P                            dz_k/dt = u_k - rate_k z_k
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Modes {
    rates: Vec<f64>,
    /// Square roots of the heat capacities, by node.
    roots: Vec<f64>,
    /// Part of the eigenvector of each mode at each node; entry `[mode][node]`, in one list.
    vectors: Vec<f64>,
    /// The same by the square roots.
    rises: Vec<f64>,
}

impl Modes {
    /// Modes of a network.
    pub(super) fn of(nodes: &[ThermalNode], links: &[Link]) -> Self {
        let n = nodes.len();
        let roots: Vec<_> = nodes.iter().map(|node| node.j_per_k.sqrt()).collect();
        let mut matrix = Square::zero(n);
        for (index, node) in nodes.iter().enumerate() {
            matrix.add(index, index, node.to_air);
        }
        for link in links {
            let [one, other] = link.between.map(NodeId::index);
            matrix.add(one, one, link.w_per_k);
            matrix.add(other, other, link.w_per_k);
            matrix.add(one, other, -link.w_per_k);
            matrix.add(other, one, -link.w_per_k);
        }
        for row in 0..n {
            for column in 0..n {
                matrix.entries[row * n + column] /= roots[row] * roots[column];
            }
        }
        let vectors = jacobi(&mut matrix);
        let rates = (0..n).map(|k| matrix.at(k, k)).collect();
        let by_mode = (0..n).flat_map(|mode| (0..n).map(move |node| (node, mode)));
        let vectors: Vec<_> = by_mode.map(|(node, mode)| vectors.at(node, mode)).collect();
        let of_nodes = roots.iter().cycle();
        let rises = vectors.iter().zip(of_nodes).map(|(it, root)| it / root).collect();
        Self { rates, roots, vectors, rises }
    }

    /// Rate of decay of each mode \[1/s\].
    pub fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// Rise of the temperature of each node \[K\] for each unit of `mode`, and change of `mode` each second for each watt in
    /// that node: the two are equal.
    #[inline]
    pub fn rises(&self, mode: usize) -> &[f64] {
        let n = self.roots.len();
        &self.rises[mode * n..(mode + 1) * n]
    }

    /// Entry of [`Modes::rises`].
    #[inline]
    pub fn rise(&self, mode: usize, node: NodeId) -> f64 {
        self.rises(mode)[node.index()]
    }

    /// Value of `mode` for each kelvin that `node` is above the air.
    pub fn content(&self, mode: usize, node: NodeId) -> f64 {
        self.vectors[mode * self.roots.len() + node.index()] * self.roots[node.index()]
    }
}

/// A square matrix.
struct Square {
    n: usize,
    entries: Vec<f64>,
}

impl Square {
    fn zero(n: usize) -> Self {
        Self { n, entries: vec![0.0; n * n] }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.n + column]
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.n + column] += value;
    }

    /// Turns two entries by the angle with this cosine and sine.
    fn turn(&mut self, one: usize, other: usize, (c, s): (f64, f64)) {
        let (x, y) = (self.entries[one], self.entries[other]);
        self.entries[one] = c * x - s * y;
        self.entries[other] = s * x + c * y;
    }
}

/// Sweeps after which every matrix of 16 rows is diagonal; usually 8 are enough.
const MAX_SWEEPS: usize = 100;

/// Makes the symmetric `matrix` diagonal by cyclic Jacobi rotations. Returns the eigenvectors in columns.
fn jacobi(matrix: &mut Square) -> Square {
    let n = matrix.n;
    let mut vectors = Square::zero(n);
    (0..n).for_each(|k| vectors.add(k, k, 1.0));
    let pairs = || (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q)));
    for _ in 0..MAX_SWEEPS {
        let off: f64 = pairs().map(|(p, q)| matrix.at(p, q).powi(2)).sum();
        if off < 1e-300 {
            break;
        }
        for (p, q) in pairs() {
            let apq = matrix.at(p, q);
            if apq == 0.0 {
                continue;
            }
            let theta = (matrix.at(q, q) - matrix.at(p, p)) / (2.0 * apq);
            let tangent = match theta == 0.0 {
                true => 1.0,
                false => theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt()),
            };
            let c = 1.0 / (tangent * tangent + 1.0).sqrt();
            let turn = (c, tangent * c);
            for k in 0..n {
                matrix.turn(k * n + p, k * n + q, turn);
            }
            for k in 0..n {
                matrix.turn(p * n + k, q * n + k, turn);
            }
            for k in 0..n {
                vectors.turn(k * n + p, k * n + q, turn);
            }
        }
    }
    vectors
}
