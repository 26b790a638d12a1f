//! The published artifact's own text format: networks, dataflows and hardware in `.m` files.
//!
//! Words are separated by blanks, line ends and any of `, - > ( ) : ;`; braces stand alone; a word
//! that starts with `//` begins a comment. The artifact accepts unknown words, missing braces, keys given twice and sizes of
//! zero, and silently misreads them; they are errors here.

mod dataflows;
mod format;
mod hardware;
mod layers;
mod levels;
mod networks;
mod parser;
mod scenario;
mod token;

pub use dataflows::parse_dataflows;
pub(crate) use dataflows::parse_directive;
pub(super) use format::FORMAT;
pub use hardware::parse_hardware;
pub use levels::{Line, Notation, assemble, split};
pub(crate) use networks::parse_networks;
pub use scenario::scenario;

use super::{Problem, Source};

use parser::{advice, quote};
use token::Tokens;

/// Blocks of a `.m` file, which all have one keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Blocks {
    /// `Network` blocks: a usage scenario, or networks alone.
    Networks,
    /// `Dataflow` blocks.
    Dataflows,
    /// `Accelerator` blocks.
    Hardware,
}

impl Blocks {
    /// All of them with the keyword of a block.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Networks, "Network"),
        (Self::Dataflows, "Dataflow"),
        (Self::Hardware, "Accelerator"),
    ];
}

/// Blocks of a file, by its first word.
///
/// # Errors
///
/// Returns a problem if that word is not one of the three keywords, or if the file is empty.
pub(crate) fn detect(source: &Source) -> Result<Blocks, Problem> {
    let words = Blocks::ALL.map(|(_, word)| word);
    let Some(first) = Tokens::new(source.text()).next() else {
        let end = source.text().len();
        return Err(Problem::new(end..end, "the file is empty").help(advice("", &words)));
    };
    let found = Blocks::ALL.iter().find(|(_, word)| *word == first.text);
    found.map(|&(blocks, _)| blocks).ok_or_else(|| {
        let message = format!("the file starts with {}", quote(first.text));
        Problem::new(first.span(), message).help(advice(first.text, &words))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    const NETWORKS: &str = "Network a-b { // first\n FPS: 3\n Layer l { Type: CONV\n Stride { X 2 }\n \
        Dimensions: { N: 1, K: 2, C: 3, Y': 4, X: 5, R: 1, S: 1 } }\n}\n\
        Network c { Dependency { b } Probability: 0.5 FPS 3\n Layer l { Type: DSCONV\n \
        Dimensions { K 2 C 3 Y 4 X 5 R 1 S 1 } } }\n";
    const DATAFLOWS: &str = "Dataflow { TemporalMap(1,1) Y'; //'\n SpatialMap(1,1) K; Cluster(16,P);\n \
        SpatialMap(1,1) C; }\n";
    const HARDWARE: &str = "Accelerator Acc0 { num_pes: 64 top_noc_bw: 128 top_noc_latency: 1\n \
        top_noc_multicast: True col_noc_bw: 64 global_shared_memory: 8 // MiB\n }\n";

    /// Everything that a text can be read as; it must come to an end with values or with problems
    /// whose places lie in the text.
    fn read(text: &str) {
        let source = Source::new("f.m", text);
        let directive =
            parse_directive(text, Notation::Full).map(|_| ()).map_err(|problem| vec![problem]);
        let kind = detect(&source).map(|_| ()).map_err(|problem| vec![problem]);
        let results = [
            directive,
            kind,
            parse_networks(&source).map(|_| ()),
            parse_dataflows(&source).map(|_| ()),
            parse_hardware(&source).map(|_| ()),
            scenario(&source, "s").map(|_| ()),
        ];
        for problems in results.into_iter().filter_map(Result::err) {
            assert!((1..=100).contains(&problems.len()));
            for problem in problems {
                assert!(text.get(problem.span.clone()).is_some(), "{problem:?}");
                assert!(!problem.message.contains('\n'));
            }
        }
    }

    #[test]
    fn the_samples_are_right() {
        let source = |text| Source::new("f.m", text);
        assert!(scenario(&source(NETWORKS), "s").is_ok());
        assert!(parse_dataflows(&source(DATAFLOWS)).is_ok());
        assert!(parse_hardware(&source(HARDWARE)).is_ok());
    }

    #[test]
    fn the_first_word_tells_the_blocks() {
        let blocks = |text| detect(&Source::new("f.m", text));
        assert_eq!(blocks(NETWORKS), Ok(Blocks::Networks));
        assert_eq!(blocks(DATAFLOWS), Ok(Blocks::Dataflows));
        assert_eq!(blocks(HARDWARE), Ok(Blocks::Hardware));
        let problem = blocks("\n// c\nDatflow {").unwrap_err();
        assert_eq!((problem.span, &*problem.message), (6..13, "the file starts with `Datflow`"));
        assert_eq!(blocks(" // only a comment").unwrap_err().message, "the file is empty");
    }

    #[test]
    fn every_truncation_and_deletion_is_read_to_the_end() {
        for text in [NETWORKS, DATAFLOWS, HARDWARE] {
            for end in 0..text.len() {
                read(&text[..end]);
                read(&text[end..]);
                read(&format!("{}{}", &text[..end], &text[end + 1..]));
            }
        }
    }

    #[test]
    fn absurd_files_are_read_in_bounded_time() {
        let repeated = [
            "{ ",
            "} ",
            "Network ",
            "Network a { ",
            "Layer l { ",
            "a ",
            "a{",
            "Dependency { a ",
            "Dimensions { K 1 ",
            "Cluster(1,P) ",
            "Dataflow { ",
            "num_pes ",
            "// x\n",
        ];
        for piece in repeated {
            read(&piece.repeat(20_000));
            read(&format!("{NETWORKS}{}", piece.repeat(20_000)));
        }
        read(&"x".repeat(1 << 20));
        read(&format!("Network {} {{", "é".repeat(1 << 19)));
    }

    fn word() -> impl Strategy<Value = String> {
        let words: Vec<&str> = NETWORKS
            .split_inclusive(char::is_whitespace)
            .chain(DATAFLOWS.split_inclusive(char::is_whitespace))
            .chain(HARDWARE.split_inclusive(char::is_whitespace))
            .chain(["0 ", "99999999999999999999 ", "é ", "\u{feff}", "{}", "//", "\r\n", "' "])
            .collect();
        prop_oneof![
            9 => proptest::sample::select(words).prop_map(str::to_owned),
            1 => any::<String>(),
        ]
    }

    /// Problems as text, a line each: line, column, message and help.
    pub(super) fn shown(source: &Source, problems: &[Problem]) -> Vec<String> {
        let shown = |problem: &Problem| {
            let (line, column) = source.position(problem.span.start);
            let help = problem.help.as_deref().unwrap_or("-");
            format!("{line}:{column} {} ({help})", problem.message)
        };
        problems.iter().map(shown).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(debug_assertions) { 500 } else { 2_000 },
            rng_seed: RngSeed::Fixed(2023),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_sequence_of_words_is_read_to_the_end(
            words in proptest::collection::vec(word(), 0..120),
        ) {
            read(&words.concat());
        }
    }
}
