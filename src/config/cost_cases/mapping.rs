//! Mappings as text: directives, each followed by a semicolon. Text from `//` to the end of the line is a
//! comment.

use std::ops::Range;

use crate::config::Problem;
use crate::config::maestro::{DirectiveOrCluster, Notation, parse_directive};
use crate::dataflow::ClusterLevel;

/// Reads the levels of a mapping. There is at least one level, which may have no directives.
///
/// # Errors
///
/// The first problem of every directive, with its bytes in `text`.
pub fn parse_mapping(text: &str) -> Result<Vec<ClusterLevel>, Vec<Problem>> {
    let mut levels = vec![ClusterLevel { units: None, directives: Vec::new() }];
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
            Ok(DirectiveOrCluster::Cluster(units)) => {
                levels.push(ClusterLevel { units: Some(units), directives: Vec::new() });
            }
            Ok(DirectiveOrCluster::Directive(directive)) => {
                levels.last_mut().expect("there is one").directives.push(directive);
            }
            Err(problem) => {
                let Range { start, end } = problem.span;
                let span = span.start + start..span.start + end;
                problems.push(Problem { span, ..problem });
            }
        }
    }
    if problems.is_empty() { Ok(levels) } else { Err(problems) }
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
        let levels = parse_mapping(text).expect("it is well formed");
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
    fn problems_carry_their_place() {
        let text = "TemporalMap(1,1) Q;  Spatial(1,1) K; SpatialMap(0,1) K; Cluster(x)";
        let problems = parse_mapping(text).expect_err("all four are wrong");
        let found: Vec<_> = problems.iter().map(|problem| &text[problem.span.clone()]).collect();
        assert_eq!(found, ["Q", "Spatial", "0", "x"]);
    }
}
