//! Tables of cases for the loop-nest cost model, as CSV: layer, mapping and machine of every case, and
//! the expected results (docs/explanation/cost-model-loop-nest.md, section 11).
//!
//! The header decides the kind of a table. A table with a column `dataflow` has dense layers on the
//! machine of the published study; any other table has mappings as text. Columns of inputs with defaults
//! are optional. Every other column is compared. Lists are joined by `;`, outermost level first.

mod inputs;
mod mapping;
mod outputs;

use std::sync::Arc;

use super::cost_csv::{Row, rows};
use super::{ConfigError, Problem, Source, nearest};

pub use mapping::parse_mapping;

use inputs::{CASE_INPUTS, Cells, STUDY_INPUTS};
use outputs::{Case, Column};

/// Result of the comparison of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Line of the case, counted from 1.
    pub line: usize,
    /// The first column that differs; `None` if all are equal.
    pub difference: Option<Difference>,
}

/// A column whose value differs from the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Name of the column.
    pub column: String,
    /// Value in the table.
    pub expected: String,
    /// Value of the model.
    pub found: String,
}

/// Evaluates and compares every case of a table. Whole numbers must be equal, energies within 1e-9
/// relatively.
///
/// # Errors
///
/// [`ConfigError::Invalid`] with every problem of the header, or with every problem of the inputs of all
/// rows if the header is right. An illegal mapping is no error but a difference, unless the column `legal`
/// expects it.
pub fn check(source: &Arc<Source>) -> Result<Vec<Verdict>, ConfigError> {
    check_text(source.text()).map_err(|mut problems| {
        problems.sort_by_key(|problem| problem.span.start);
        ConfigError::Invalid { file: Arc::clone(source), problems }
    })
}

fn check_text(text: &str) -> Result<Vec<Verdict>, Vec<Problem>> {
    let mut rows = rows(text);
    let Some(header) = rows.next() else {
        return Err(vec![Problem::new(0..0, "the table is empty")]);
    };
    let table = Table::read(&header)?;
    let mut verdicts = Vec::new();
    let mut problems = Vec::new();
    let mut lines = Lines::new(text);
    for row in rows {
        match table.case(&row) {
            Ok(case) => {
                let difference = table.compare(&row, &case);
                verdicts.push(Verdict { line: lines.at(row.line().start), difference });
            }
            Err(found) => problems.extend(found),
        }
    }
    if verdicts.is_empty() && problems.is_empty() {
        problems.push(Problem::new(text.len()..text.len(), "the table has no rows"));
    }
    if problems.is_empty() { Ok(verdicts) } else { Err(problems) }
}

/// Line numbers of increasing byte offsets.
pub(super) struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    /// The lines of `text`.
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// Line, counted from 1, of byte `offset`. Offsets must not decrease from call to call.
    pub(super) fn at(&mut self, offset: usize) -> usize {
        self.line += self.text[self.at..offset].matches('\n').count();
        self.at = offset;
        self.line
    }
}

/// The header of a table.
struct Table {
    /// Names of all columns, in order.
    names: Vec<String>,
    /// Compared columns with their positions.
    outputs: Vec<(usize, Column)>,
    /// Whether layers are those of the published study.
    is_study: bool,
}

impl Table {
    fn read(header: &Row<'_>) -> Result<Self, Vec<Problem>> {
        let names: Vec<String> = header.cells.iter().map(str::to_owned).collect();
        let is_study = names.iter().any(|name| name == "dataflow");
        let (all, needed) = if is_study { STUDY_INPUTS } else { CASE_INPUTS };
        let mut problems = Vec::new();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                problems.push(header.problem(index, format!("column `{name}` is named twice")));
            }
        }
        for name in needed.iter().filter(|&name| !names.iter().any(|known| known == name)) {
            problems.push(Problem::new(header.line(), format!("no column `{name}`")));
        }
        let mut outputs = Vec::new();
        for (index, name) in
            names.iter().enumerate().filter(|(_, name)| !all.contains(&name.as_str()))
        {
            match Column::parse(name, is_study) {
                Some(column) => outputs.push((index, column)),
                None => problems.push(unknown(header, index, all)),
            }
        }
        if problems.is_empty() { Ok(Self { names, outputs, is_study }) } else { Err(problems) }
    }

    /// Reads the inputs of a row and evaluates them.
    fn case(&self, row: &Row<'_>) -> Result<Case, Vec<Problem>> {
        row.check_width(self.names.len()).map_err(|problem| vec![problem])?;
        let mut cells = Cells::new(&self.names, row);
        let inputs = if self.is_study { cells.study() } else { cells.case() };
        cells.finish(inputs).map(Case::new)
    }

    /// The first output of a row that differs from the model.
    fn compare(&self, row: &Row<'_>, case: &Case) -> Option<Difference> {
        self.outputs.iter().find_map(|(index, column)| {
            let expected = &row.cells[*index];
            let found = case.differs(column, expected)?;
            let column = self.names[*index].clone();
            Some(Difference { column, expected: expected.to_owned(), found })
        })
    }
}

fn unknown(header: &Row<'_>, index: usize, inputs: &[&'static str]) -> Problem {
    let name = &header.cells[index];
    let problem = header.problem(index, format!("unknown column `{name}`"));
    match nearest(name, inputs.iter().copied().chain(outputs::names())) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "N,G,K,C,Yo,Xo,R,S,pes,mapping,macs_executed,L0_send_w,legal\n";

    fn check_lines(rows: &str) -> Result<Vec<Verdict>, String> {
        let source = Source::new("cases.csv", format!("{HEADER}{rows}"));
        check(&source).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_are_equal_or_say_where_they_are_not() {
        // 2 x 3 MACs on 2 PEs, each with an output channel: every weight is sent once.
        let row = "1,1,2,3,1,1,1,1,2,\"SpatialMap(1,1) K;\"";
        let verdicts = check_lines(&format!("{row},6,6,1\n{row},6,7,1\n")).expect("it is read");
        assert_eq!(verdicts[0], Verdict { line: 2, difference: None });
        let difference =
            Difference { column: "L0_send_w".into(), expected: "7".into(), found: "6".into() };
        assert_eq!(verdicts[1], Verdict { line: 3, difference: Some(difference) });
    }

    #[test]
    fn problems_carry_line_and_column() {
        let error = check_lines("1,1,2,x,1,1,1,1,2,Spatial(1) K,6,6,1\n").expect_err("two cells");
        assert!(error.contains("cases.csv:2:7: "), "{error}");
        assert!(error.contains("cases.csv:2:19: "), "{error}");
    }

    #[test]
    fn a_wrong_header_is_refused() {
        let source = Source::new("cases.csv", "N,G,K,C,Yo,Xo,R,pes,mapping,pes,cycels\n");
        let error = check(&source).expect_err("three columns are wrong").to_string();
        assert!(error.contains("no column `S`"), "{error}");
        assert!(error.contains("column `pes` is named twice"), "{error}");
        assert!(error.contains("did you mean `cycles`?"), "{error}");
        let empty = check(&Source::new("cases.csv", "")).expect_err("nothing is there");
        assert!(empty.to_string().contains("the table is empty"));
    }
}
