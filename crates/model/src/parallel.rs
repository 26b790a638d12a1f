//! Work on all threads.
//!
//! The work is called through a pointer, so that one copy of the machinery of threads serves all callers: of a
//! call of rayon with a closure of its own the compiler makes 26 KB. An item takes microseconds at least.

use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

/// Does the `work` 0 to `n` - 1.
pub fn for_each(n: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(work);
}

/// Results of `work` for 0 to `n` - 1, in order.
pub fn map_indices<T: Send + Sync>(n: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let results: Vec<OnceLock<T>> = (0..n).map(|_| OnceLock::new()).collect();
    for_each(n, &|index| drop(results[index].set(work(index))));
    let results = results.into_iter().map(OnceLock::into_inner);
    results.map(|result| result.expect("every index was worked on")).collect()
}

/// Results of `work` for `items`, in order.
pub fn map<'i, I: Sync, T: Send + Sync>(
    items: &'i [I],
    work: impl Fn(&'i I) -> T + Sync,
) -> Vec<T> {
    map_indices(items.len(), |index| work(&items[index]))
}

/// Does the `work` 0 to `n` - 1. A thread takes the first that no other has, so that what is done is at any time
/// nearly the beginning. No work begins after one that breaks.
pub fn about_in_order(n: usize, work: &(dyn Fn(usize) -> ControlFlow<()> + Sync)) {
    let (next, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    for_each(rayon::current_num_threads().min(n), &|_| {
        while !is_over.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= n || work(index).is_break() {
                is_over.store(true, Ordering::Relaxed);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order() {
        assert_eq!(map(&[3, 1, 2], |it| 10 * it), [30, 10, 20]);
        assert_eq!(map_indices(0, |index| index), Vec::<usize>::new());
    }

    #[test]
    fn no_work_begins_after_one_that_breaks() {
        let n_done = AtomicUsize::new(0);
        about_in_order(1000, &|_| {
            n_done.fetch_add(1, Ordering::Relaxed);
            ControlFlow::Break(())
        });
        assert!(n_done.into_inner() <= rayon::current_num_threads());
    }
}
