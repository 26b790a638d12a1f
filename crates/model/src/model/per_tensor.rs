//! The tensors of a layer by their role, and records with a value for each.

use std::ops::{AddAssign, Index, IndexMut};

/// Role of a tensor in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TensorRole {
    /// Input activations; of a matrix product the first operand.
    Input,
    /// Weights; of a matrix product the second operand, which may be activations too.
    Weight,
    /// Output activations, and their partial sums.
    Output,
}

impl TensorRole {
    /// Every role, in the order of [`PerTensor::into_array`].
    pub const ALL: [Self; 3] = [Self::Input, Self::Weight, Self::Output];
}

/// A value for each tensor of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct PerTensor<T> {
    /// Value of the input.
    pub input: T,
    /// Value of the weights.
    pub weight: T,
    /// Value of the output.
    pub output: T,
}

impl<T> PerTensor<T> {
    /// The same value for every tensor.
    pub const fn splat(value: T) -> Self
    where
        T: Copy,
    {
        Self { input: value, weight: value, output: value }
    }

    /// A value for each tensor, computed from its role.
    pub fn from_fn(mut value: impl FnMut(TensorRole) -> T) -> Self {
        let [input, weight, output] = TensorRole::ALL.map(&mut value);
        Self { input, weight, output }
    }

    /// `change` of every value.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerTensor<U> {
        PerTensor {
            input: change(self.input),
            weight: change(self.weight),
            output: change(self.output),
        }
    }

    /// References to the values.
    pub const fn each_ref(&self) -> PerTensor<&T> {
        PerTensor { input: &self.input, weight: &self.weight, output: &self.output }
    }

    /// Values of input, weights and output, in this order.
    pub fn into_array(self) -> [T; 3] {
        [self.input, self.weight, self.output]
    }
}

impl<T> From<[T; 3]> for PerTensor<T> {
    /// Values of input, weights and output, in this order.
    fn from([input, weight, output]: [T; 3]) -> Self {
        Self { input, weight, output }
    }
}

impl<T> Index<TensorRole> for PerTensor<T> {
    type Output = T;

    #[inline]
    fn index(&self, role: TensorRole) -> &T {
        match role {
            TensorRole::Input => &self.input,
            TensorRole::Weight => &self.weight,
            TensorRole::Output => &self.output,
        }
    }
}

impl<T> IndexMut<TensorRole> for PerTensor<T> {
    #[inline]
    fn index_mut(&mut self, role: TensorRole) -> &mut T {
        match role {
            TensorRole::Input => &mut self.input,
            TensorRole::Weight => &mut self.weight,
            TensorRole::Output => &mut self.output,
        }
    }
}

/// A value for each operand of a layer: the tensors that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct PerOperand<T> {
    /// Value of the input, or of the first operand of a matrix product.
    pub input: T,
    /// Value of the weights, or of the second operand of a matrix product.
    pub weight: T,
}

impl<T> PerOperand<T> {
    /// `change` of both values.
    #[inline]
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerOperand<U> {
        PerOperand { input: change(self.input), weight: change(self.weight) }
    }

    /// Values of input and weights, in this order.
    pub fn into_array(self) -> [T; 2] {
        [self.input, self.weight]
    }
}

impl<T> From<[T; 2]> for PerOperand<T> {
    /// Values of input and weights, in this order.
    fn from([input, weight]: [T; 2]) -> Self {
        Self { input, weight }
    }
}

impl PerOperand<u64> {
    /// Sum of both values.
    #[inline]
    pub const fn sum(self) -> u64 {
        self.input + self.weight
    }
}

impl AddAssign for PerOperand<u64> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.weight += other.weight;
    }
}
