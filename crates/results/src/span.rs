//! The least and the largest of some numbers, in words.

/// The least and the largest of some numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span<T>(Option<[T; 2]>);

impl<T> Default for Span<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: PartialOrd + Copy> Span<T> {
    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The largest number.
    pub fn largest(&self) -> Option<T> {
        self.0.map(|[_, largest]| largest)
    }

    /// Adds a number.
    pub fn hold(&mut self, number: T) {
        let [least, largest] = self.0.unwrap_or([number; 2]);
        let least = if number < least { number } else { least };
        let largest = if number > largest { number } else { largest };
        self.0 = Some([least, largest]);
    }

    /// One number, or two that are printed in different ways with `to` between them; empty without numbers.
    pub fn words(&self, text: impl Fn(&T) -> String) -> String {
        let Some([least, largest]) = self.0.map(|it| it.each_ref().map(text)) else {
            return String::new();
        };
        if least == largest { least } else { format!("{least} to {largest}") }
    }
}
