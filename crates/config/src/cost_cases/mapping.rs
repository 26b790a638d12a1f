//! Mappings as text: directives, each followed by a semicolon. Text from `//` to the end of the line is a
//! comment.

use std::ops::Range;

use crate::maestro::{Notation, parse_directive, split};
use crate::{At, Problem};
use xrsim_model::dataflow::Directives;

/// Reads the levels of a mapping. There is at least one level on chip, which may have no directives.
///
/// # Errors
///
/// The first problem of every directive, with its bytes in `text`; if there is none, every misplaced
/// `OffChip` and every spatial map before it.
pub fn parse_mapping(text: &str) -> Result<Directives, Vec<Problem>> {
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    let bare = without_comments(text);
    let mut start = 0;
    for statement in bare.split_inclusive(';') {
        let span = trimmed(statement.trim_end_matches(';'), start);
        start += statement.len();
        if span.is_empty() {
            continue;
        }
        match parse_directive(&bare[span.clone()], Notation::Full) {
            Ok(line) => lines.push(At { span, value: line }),
            Err(problem) => {
                let Range { start, end } = problem.span;
                let span = span.start + start..span.start + end;
                problems.push(Problem { span, ..problem });
            }
        }
    }
    if problems.is_empty() {
        split(0..0, lines).map(|lines| lines.to_domain())
    } else {
        Err(problems)
    }
}

/// `text` with comments replaced by spaces, so that byte positions stay the same.
fn without_comments(text: &str) -> String {
    let line = |line: &str| match line.find("//") {
        Some(at) => {
            let end = if line.ends_with('\n') { "\n" } else { "" };
            line[..at].to_owned() + &" ".repeat(line.len() - at - end.len()) + end
        }
        None => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Byte range of `words`, which start at `start`, without the white space around them.
fn trimmed(words: &str, start: usize) -> Range<usize> {
    let from = start + words.len() - words.trim_start().len();
    from..from + words.trim().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_split_at_clusters() {
        let text = "TemporalMap(Sz(R)+1, 1) Y; // rows\nCluster(4,P);SpatialMap(1,1) X';";
        let levels = parse_mapping(text).expect("it is well formed").levels;
        let lines: Vec<Vec<_>> = levels
            .iter()
            .map(|level| level.directives.iter().map(ToString::to_string).collect())
            .collect();
        assert_eq!(lines, [["TemporalMap(Sz(R)+1,1) Y"], ["SpatialMap(1,1) X'"]]);
        let units: Vec<_> =
            levels.iter().map(|level| level.units.and_then(|it| it.fixed())).collect();
        assert_eq!(units, [None, Some(4)]);
    }

    #[test]
    fn maps_before_off_chip_are_those_above_the_shared_memory() {
        let text =
            "TemporalMap(4,4) K; TemporalMap(2,2) C; OffChip; SpatialMap(1,1) K; Cluster(4,P)";
        let Directives { off_chip, levels } = parse_mapping(text).expect("it is well formed");
        let lines: Vec<_> = off_chip.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["TemporalMap(4,4) K", "TemporalMap(2,2) C"]);
        let counts: Vec<_> = levels.iter().map(|level| level.directives.len()).collect();
        assert_eq!(counts, [1, 0]);
    }

    #[test]
    fn a_misplaced_off_chip_is_refused_at_its_place() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let problems = parse_mapping(text).expect_err("it is misplaced");
            let found: Vec<_> = problems
                .iter()
                .map(|problem| (&text[problem.span.clone()], problem.message.as_str()))
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        let after = "`OffChip` after a cluster; it stands before the first cluster";
        check("SpatialMap(1,1) K; Cluster(4); SpatialMap(1,1) C; OffChip", &[("OffChip", after)]);
        let second = "a second `OffChip`; a dataflow has at most one";
        check("TemporalMap(1,1) K; OffChip; TemporalMap(1,1) C; OffChip", &[("OffChip", second)]);
        let none = "`OffChip` without a temporal map before it";
        check("OffChip; SpatialMap(1,1) K", &[("OffChip", none)]);
        let spatial = "`SpatialMap(1,1) K` above the shared memory; only temporal maps stand before \
                       `OffChip`";
        let text = "TemporalMap(1,1) C; SpatialMap(1,1) K; OffChip; TemporalMap(1,1) Y'";
        check(text, &[("SpatialMap(1,1) K", spatial)]);
    }

    #[test]
    fn problems_carry_their_place() {
        let text = "TemporalMap(1,1) Q;  Spatial(1,1) K; SpatialMap(0,1) K; Cluster(x)";
        let problems = parse_mapping(text).expect_err("all four are wrong");
        let found: Vec<_> = problems.iter().map(|problem| &text[problem.span.clone()]).collect();
        assert_eq!(found, ["Q", "Spatial", "0", "x"]);
    }
}
