//! Typed indices. Each one indexes exactly one kind of table, so that `latency[model][accel]`
//! cannot be transposed silently.

/// Declares an index type over `u32`.
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id of table row `index`.
            ///
            /// # Panics
            ///
            /// If `index` does not fit into 32 bits; tables are bounded far below that on input.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("tables hold fewer than 2^32 rows"))
            }

            /// The table row.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A model of a scenario, in the order of the scenario file.
    ModelId
);
index!(
    /// A sub-accelerator of a system, in the order of the system file.
    AccelId
);
index!(
    /// An input stream of a scenario.
    StreamId
);
index!(
    /// A frame of one model, counted from 0 at that model's own rate.
    FrameId
);
index!(
    /// A request of a run, in order of arrival.
    RequestId
);
index!(
    /// An operating point of an accelerator, in ascending order of clock.
    PointId
);
index!(
    /// Variant of a model that a request runs, such as a batch of several samples: a row of a
    /// [`CostTable`](crate::cost::CostTable). A [`ModelId`] stands for its network.
    WorkId
);

impl From<ModelId> for WorkId {
    fn from(model: ModelId) -> Self {
        Self(model.0)
    }
}
