//! Distinct items of short sequences.

/// Distinct items in order of first use.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    distinct_by(items, T::eq)
}

/// Items in order of first use, the first of those that are the same.
pub fn distinct_by<T>(
    items: impl IntoIterator<Item = T>,
    is_same: impl Fn(&T, &T) -> bool,
) -> Vec<T> {
    let mut distinct: Vec<T> = Vec::new();
    for item in items {
        if !distinct.iter().any(|known| is_same(known, &item)) {
            distinct.push(item);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_equal_items_stays() {
        assert_eq!(distinct([2, 1, 2, 3, 1]), [2, 1, 3]);
        assert_eq!(distinct_by([12, 5, 22, 15], |a, b| a % 10 == b % 10), [12, 5]);
    }
}
