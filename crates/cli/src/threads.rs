//! Threads of runs: one per core, or the number in `RAYON_NUM_THREADS`.

use std::env;
use std::hint::black_box;

use rayon::ThreadPoolBuilder;

use xrsim_model::text;

use super::message::Failure;

/// Environment variable with the number of threads.
const VARIABLE: &str = "RAYON_NUM_THREADS";

/// Most threads. Results do not depend on their number, and more threads than cores gain nothing.
const MOST: usize = 1024;

/// Stack of a thread \[byte\], and what a thread takes while it starts.
const STACK: usize = 2 << 20;
const TAKEN: usize = STACK + STACK / 4;

/// Memory that a thread gets at once, and does not give back \[byte\].
const HEAP: usize = 8 << 20;

/// Lets the calling thread keep memory. The allocator of glibc asks the system for a few pages at a time on all threads
/// but the first, and gives back what is free, until a large block was freed. What is reserved here is not touched.
pub(super) fn keep_memory() {
    for bytes in [2 * HEAP, HEAP] {
        // Without it, the thread has less memory or waits for it longer.
        let _ = black_box(Vec::<u8>::new()).try_reserve_exact(bytes);
    }
}

/// Starts the threads. A command calls this before it reads or computes anything.
///
/// # Errors
///
/// Returns a failure if the number is not allowed, or if the system cannot start so many threads.
pub(super) fn start() -> Result<(), Failure> {
    let text = env::var_os(VARIABLE).unwrap_or_default();
    let n_threads = number(&text.to_string_lossy()).map_err(Failure::Argument)?;
    let refused = |error: &str| {
        let n_threads =
            if n_threads == 0 { "one thread per core".into() } else { count(n_threads) };
        Failure::Output(format!(
            "cannot start {n_threads}: {error}; set {VARIABLE} to a smaller number"
        ))
    };
    // A thread that starts while no memory is left would end the process. What is reserved here is not touched.
    if black_box(Vec::<u8>::new()).try_reserve_exact(n_threads * TAKEN).is_err() {
        return Err(refused("their stacks do not fit into memory"));
    }
    let builder = ThreadPoolBuilder::new().num_threads(n_threads).stack_size(STACK);
    let builder = builder.start_handler(|_| keep_memory());
    builder.build_global().map_err(|error| refused(&error.to_string()))
}

fn count(n_threads: usize) -> String {
    format!("{n_threads} thread{}", if n_threads == 1 { "" } else { "s" })
}

/// Reads the number of threads in `text`. An empty text means 0, one thread per core.
fn number(text: &str) -> Result<usize, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let number = text.trim().parse().ok().filter(|number| *number <= MOST);
    number.ok_or_else(|| {
        format!(
            "{VARIABLE} is `{}`; allowed is a whole number from 1 to {MOST}, or 0 for one thread per core",
            text::in_line(text)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_threads_has_a_limit_that_is_named() {
        assert_eq!(number(""), Ok(0));
        assert_eq!(number("0"), Ok(0));
        assert_eq!(number(" 1024"), Ok(1024));
        for text in ["1025", "20000", "-1", "2.0", "two", "99999999999999999999"] {
            let expected = format!(
                "RAYON_NUM_THREADS is `{text}`; allowed is a whole number from 1 to 1024, or 0 for one \
                 thread per core"
            );
            assert_eq!(number(text), Err(expected));
        }
    }
}
