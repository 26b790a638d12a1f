//! Results as columns in memory, for other programs and languages.
//!
//! Columns are those of the CSV files, with the same names, order and values. Numbers that are absent have no
//! value, texts that are absent are empty. Texts are encoded by a dictionary: a column has its words once, and for
//! each row the place of one.

mod runs;

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher as _;

use ::csv::ReaderBuilder;
use thiserror::Error;

use xrsim_model::text::in_line;
use xrsim_model::units::SimTime;

use super::cells::RunTable;
use super::fields::{Cells, Nature};

pub use runs::ColumnsOfRuns;

/// A table in columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Columns {
    columns: Vec<Column>,
    n_rows: usize,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Column {
    /// Name.
    pub name: Box<str>,
    /// Value of each row.
    pub values: Values,
    /// A bit for each row, the first row in bit 0 of the first byte: 1 where there is a value. `None` if every
    /// row has one. Numbers without a value are NaN, whole numbers 0.
    pub validity: Option<Vec<u8>>,
    /// Number of rows without a value.
    pub n_absent: usize,
}

/// Values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers.
    Number(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Texts.
    Text(Texts),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Number(values) => values.len(),
            Self::Whole(values) => values.len(),
            Self::Text(texts) => texts.codes.len(),
        }
    }
}

/// Texts by a dictionary.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Texts {
    /// Place of the word of each row.
    pub codes: Vec<i32>,
    /// End of each word in `bytes`, after a 0.
    pub ends: Vec<i64>,
    /// All words, one after another, in UTF-8.
    pub bytes: Vec<u8>,
}

impl Texts {
    /// Every word, in order of first use.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.ends.windows(2).map(|ends| {
            let [start, end] = [ends[0], ends[1]].map(|it| usize::try_from(it).unwrap_or(0));
            std::str::from_utf8(&self.bytes[start..end]).unwrap_or_default()
        })
    }

    /// Texts of these words; `None` if a code is not that of a word.
    pub fn of(codes: Vec<i32>, words: &[impl AsRef<str>]) -> Option<Self> {
        let is_word = |code: &i32| usize::try_from(*code).is_ok_and(|code| code < words.len());
        if !codes.iter().all(is_word) {
            return None;
        }
        let (mut ends, mut bytes) = (vec![0], Vec::new());
        for word in words {
            bytes.extend_from_slice(word.as_ref().as_bytes());
            ends.push(bytes.len() as i64);
        }
        Some(Self { codes, ends, bytes })
    }

    /// Number of words.
    pub fn n_words(&self) -> usize {
        self.ends.len().saturating_sub(1)
    }
}

/// A table of results that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct ColumnsError {
    /// Line, counted from 1.
    pub line: u64,
    /// Reason.
    pub reason: String,
}

impl Columns {
    /// Columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| *column.name == *name)
    }

    /// The table of a CSV file of results. A column has whole numbers or numbers if every cell is one or empty, and
    /// not every cell is empty; other columns have texts. Columns that the tables of the library know have the type
    /// that they have there: names stay texts if they look like numbers, scores stay numbers if all are whole.
    ///
    /// # Errors
    ///
    /// [`ColumnsError`] if the text is no CSV, or a row has more or fewer cells than the first one.
    pub fn from_csv(text: &str) -> Result<Self, ColumnsError> {
        let mut reader = ReaderBuilder::new().has_headers(true).from_reader(text.as_bytes());
        let failure = |error: ::csv::Error| {
            let line = error.position().map_or(1, ::csv::Position::line);
            ColumnsError { line, reason: error.to_string() }
        };
        let names: Vec<String> =
            reader.headers().map_err(failure)?.iter().map(Into::into).collect();
        let refuse = |line: u64, reason: String| Err(ColumnsError { line, reason });
        if let Some(at) = text.find('\0') {
            let line = 1 + text[..at].matches('\n').count() as u64;
            return refuse(line, "a NUL character, which no table of results has".into());
        }
        if names.is_empty() {
            return refuse(1, "there are no columns".into());
        }
        let mut known = HashSet::new();
        if let Some(twice) = names.iter().find(|name| !known.insert(*name)) {
            return refuse(1, format!("two columns are called `{}`", in_line(twice)));
        }
        let mut texts: Vec<Dictionary> = names.iter().map(|_| Dictionary::default()).collect();
        let mut record = ::csv::StringRecord::new();
        let mut n_rows = 0;
        while reader.read_record(&mut record).map_err(failure)? {
            for (cell, text) in record.iter().zip(&mut texts) {
                text.push(cell);
            }
            n_rows += 1;
        }
        let columns = names.iter().zip(texts).map(|(name, text)| text.into_typed(name)).collect();
        Ok(Self { columns, n_rows })
    }

    /// A table of columns with their values and validity; `None` if they are not of one length.
    pub fn of_parts(parts: Vec<(String, Values, Option<Vec<u8>>)>) -> Option<Self> {
        let n_rows = parts.first().map_or(0, |(_, values, _)| values.len());
        let column = |(name, values, validity): (String, Values, Option<Vec<u8>>)| {
            let is_whole = values.len() == n_rows
                && validity.as_ref().is_none_or(|bits| bits.len() == n_rows.div_ceil(8));
            let is_absent = |row: &usize| {
                validity.as_ref().is_some_and(|bits| bits[row / 8] & (1 << (row % 8)) == 0)
            };
            let n_absent = if is_whole { (0..n_rows).filter(is_absent).count() } else { 0 };
            is_whole.then(|| Column { name: name.into(), values, validity, n_absent })
        };
        let columns = parts.into_iter().map(column).collect::<Option<_>>()?;
        Some(Self { columns, n_rows })
    }

    /// A column for each of these texts, in rows; for lists of things that have names.
    pub fn of_rows<'t>(names: &[&str], rows: impl IntoIterator<Item = Vec<&'t str>>) -> Self {
        let mut texts: Vec<Dictionary> = names.iter().map(|_| Dictionary::default()).collect();
        let mut n_rows = 0;
        for row in rows {
            let cells = row.into_iter().chain(std::iter::repeat(""));
            texts.iter_mut().zip(cells).for_each(|(text, cell)| text.push(cell));
            n_rows += 1;
        }
        let column = |(name, text): (&&str, Dictionary)| Column {
            name: (*name).into(),
            values: Values::Text(text.texts),
            validity: None,
            n_absent: 0,
        };
        Self { columns: names.iter().zip(texts).map(column).collect(), n_rows }
    }
}

/// Nature of a column of this name in a file of results, if the tables of the library know it.
fn known_nature(name: &str) -> Option<Nature> {
    if ["id", "check", "task", "layer"].contains(&name) {
        return Some(Nature::Text);
    }
    let tables = [RunTable::Inferences, RunTable::Scores].map(RunTable::columns).into_iter();
    let mut known = RunTable::label().chain(tables.flatten());
    known.find(|column| column.name == name).map(|column| column.nature)
}

/// Words of a column by their hash, while rows are added.
#[derive(Debug, Clone)]
struct Dictionary {
    texts: Texts,
    /// Codes by hash of the word.
    known: HashMap<u64, Vec<i32>>,
    hasher: RandomState,
}

/// Words of a column that are looked at without their hash.
const FEW: usize = 8;

impl Default for Dictionary {
    fn default() -> Self {
        let texts = Texts { codes: Vec::new(), ends: vec![0], bytes: Vec::new() };
        Self { texts, known: HashMap::new(), hasher: RandomState::new() }
    }
}

impl Dictionary {
    fn word(&self, code: i32) -> &[u8] {
        let at = usize::try_from(code).unwrap_or(0);
        let [start, end] = [self.texts.ends[at], self.texts.ends[at + 1]];
        let [start, end] = [start, end].map(|it| usize::try_from(it).unwrap_or(0));
        &self.texts.bytes[start..end]
    }

    fn push(&mut self, text: &str) {
        // Most columns have a few words.
        let few = self.texts.n_words().min(FEW) as i32;
        if let Some(code) = (0..few).find(|&code| self.word(code) == text.as_bytes()) {
            self.texts.codes.push(code);
            return;
        }
        let hash = self.hasher.hash_one(text);
        let alike = self.known.get(&hash).into_iter().flatten().copied();
        let code = alike.into_iter().find(|&code| self.word(code) == text.as_bytes());
        let code = code.unwrap_or_else(|| {
            let code = i32::try_from(self.texts.n_words()).unwrap_or(i32::MAX);
            self.texts.bytes.extend_from_slice(text.as_bytes());
            self.texts.ends.push(self.texts.bytes.len() as i64);
            self.known.entry(hash).or_default().push(code);
            code
        });
        self.texts.codes.push(code);
    }

    /// The column with the values that its words are.
    fn into_typed(self, name: &str) -> Column {
        let words: Vec<&str> = self.texts.words().collect();
        let all = |is: fn(&str) -> bool| words.iter().all(|word| word.is_empty() || is(word));
        let (is_empty, is_whole) = (all(|_| false), all(|word| whole(word).is_some()));
        let is_number = is_whole || all(|word| number(word).is_some());
        let nature = match known_nature(name) {
            Some(Nature::Whole) if is_whole => Nature::Whole,
            // A seed may be too large for a column of whole numbers. It stays exact as text.
            Some(Nature::Whole) if all(is_digits) => Nature::Text,
            Some(Nature::Number) if is_number => Nature::Number,
            Some(Nature::Text) => Nature::Text,
            _ if is_empty => Nature::Text,
            _ if is_whole => Nature::Whole,
            _ if is_number => Nature::Number,
            _ => Nature::Text,
        };
        let mut builder = Builder::new(name, nature, self.texts.codes.len());
        let codes = self.texts.codes.iter().map(|code| usize::try_from(*code).unwrap_or(0));
        match nature {
            Nature::Text => {
                let values = Values::Text(self.texts);
                return Column { name: name.into(), values, validity: None, n_absent: 0 };
            }
            Nature::Whole => {
                let values: Vec<_> = words.iter().map(|word| whole(word)).collect();
                codes.for_each(|code| builder.signed(values[code]));
            }
            Nature::Number => {
                let values: Vec<_> = words.iter().map(|word| number(word)).collect();
                codes.for_each(|code| builder.number(values[code]));
            }
        }
        builder.finish()
    }
}

fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|it| it.is_ascii_digit())
}

fn whole(word: &str) -> Option<i64> {
    let is_whole = is_digits(word.strip_prefix('-').unwrap_or(word));
    word.parse().ok().filter(|_| is_whole)
}

fn number(word: &str) -> Option<f64> {
    let is_number = word.starts_with(|it: char| it.is_ascii_digit() || "+-.".contains(it))
        || ["inf", "nan", "NaN"].contains(&word);
    word.parse().ok().filter(|_| is_number)
}

/// A column while it is made.
#[derive(Debug, Clone)]
struct Builder {
    name: Box<str>,
    values: Growing,
    /// A bit for each row, once a row has no value.
    validity: Vec<u8>,
    n_absent: usize,
    n_rows: usize,
}

#[derive(Debug, Clone)]
enum Growing {
    Text(Box<Dictionary>),
    Number(Vec<f64>),
    Whole(Vec<i64>),
}

impl Builder {
    fn new(name: &str, nature: Nature, n_rows: usize) -> Self {
        let values = match nature {
            Nature::Text => Growing::Text(Box::default()),
            Nature::Number => Growing::Number(Vec::with_capacity(n_rows)),
            Nature::Whole => Growing::Whole(Vec::with_capacity(n_rows)),
        };
        Self { name: name.into(), values, validity: Vec::new(), n_absent: 0, n_rows: 0 }
    }

    fn signed(&mut self, value: Option<i64>) {
        if let Growing::Whole(values) = &mut self.values {
            values.push(value.unwrap_or(0));
        }
        self.note(value.is_some());
    }

    /// Adds the last value, which is there, `n` times.
    fn repeat_last(&mut self, n: usize) {
        fn repeat<T: Copy>(values: &mut Vec<T>, n: usize) {
            if let Some(&last) = values.last() {
                values.resize(values.len() + n, last);
            }
        }
        match &mut self.values {
            Growing::Text(dictionary) => repeat(&mut dictionary.texts.codes, n),
            Growing::Number(values) => repeat(values, n),
            Growing::Whole(values) => repeat(values, n),
        }
        self.n_rows += n;
    }

    fn note(&mut self, is_there: bool) {
        let (byte, bit) = (self.n_rows / 8, self.n_rows % 8);
        if !is_there && self.n_absent == 0 {
            self.validity = vec![u8::MAX; byte + 1];
        }
        if self.n_absent > 0 || !is_there {
            self.validity.resize(byte + 1, u8::MAX);
            if !is_there {
                self.validity[byte] &= !(1 << bit);
                self.n_absent += 1;
            }
        }
        self.n_rows += 1;
    }

    fn finish(mut self) -> Column {
        self.validity.resize(self.n_rows.div_ceil(8), u8::MAX);
        let values = match self.values {
            Growing::Number(values) => Values::Number(values),
            Growing::Whole(values) => Values::Whole(values),
            Growing::Text(dictionary) => Values::Text(dictionary.texts),
        };
        let validity = (self.n_absent > 0).then_some(self.validity);
        Column { name: self.name, values, validity, n_absent: self.n_absent }
    }
}

impl Cells for Builder {
    fn whole(&mut self, value: u64) {
        match &mut self.values {
            Growing::Whole(values) => match i64::try_from(value) {
                Ok(value) => {
                    values.push(value);
                    self.note(true);
                }
                // A seed may be as large. The column becomes text.
                Err(_) => {
                    let texts = values.iter().map(i64::to_string).collect::<Vec<_>>();
                    let mut dictionary = Dictionary::default();
                    texts.iter().for_each(|text| dictionary.push(text));
                    self.values = Growing::Text(Box::new(dictionary));
                    self.text(&value.to_string());
                }
            },
            Growing::Text(_) => self.text(&value.to_string()),
            Growing::Number(_) => self.number(Some(value as f64)),
        }
    }

    fn number(&mut self, value: Option<f64>) {
        match &mut self.values {
            Growing::Number(values) => values.push(value.unwrap_or(f64::NAN)),
            Growing::Whole(values) => values.push(value.unwrap_or(0.0) as i64),
            Growing::Text(dictionary) => {
                dictionary.push(&value.map(|value| value.to_string()).unwrap_or_default());
            }
        }
        self.note(value.is_some());
    }

    fn time(&mut self, time: Option<SimTime>) {
        // The value of the text with six decimals.
        self.number(time.map(|time| time.ns() as f64 / 1e6));
    }

    fn text(&mut self, text: &str) {
        if let Growing::Text(dictionary) = &mut self.values {
            dictionary.push(text);
        }
        self.n_rows += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_decide_the_kind_of_a_column() {
        let text = "a,b,c,d,model,e\n1,1.5,x,,7,1\n-2,,\"y,\nz\",,8,\n";
        let columns = Columns::from_csv(text).expect("it is CSV");
        assert_eq!(columns.n_rows(), 2);
        let of = |name| columns.column(name).expect("it is there");
        assert_eq!(of("a").values, Values::Whole(vec![1, -2]));
        let Values::Number(b) = &of("b").values else { panic!("numbers") };
        assert!(b[0] == 1.5 && b[1].is_nan());
        assert_eq!(of("b").validity.as_deref(), Some(&[0b1111_1101][..]));
        let words = |name| match &of(name).values {
            Values::Text(texts) => texts.words().map(String::from).collect::<Vec<_>>(),
            _ => panic!("text"),
        };
        assert_eq!(words("c"), ["x", "y,\nz"]);
        assert_eq!(words("d"), [""]);
        assert_eq!(words("model"), ["7", "8"]);
        assert_eq!((of("e").n_absent, &of("e").values), (1, &Values::Whole(vec![1, 0])));
    }

    #[test]
    fn known_columns_have_the_type_that_results_have() {
        let text = format!(
            "seed,energy_mj,score,big,scheduler\n{},0,,{},1\n7,1,,3,2\n",
            u64::MAX,
            i64::MAX
        );
        let columns = Columns::from_csv(&text).expect("it is CSV");
        let of = |name| &columns.column(name).expect("it is there").values;
        let Values::Text(seeds) = of("seed") else { panic!("text") };
        assert_eq!(seeds.words().collect::<Vec<_>>(), ["18446744073709551615", "7"]);
        assert_eq!(of("energy_mj"), &Values::Number(vec![0.0, 1.0]));
        assert!(
            matches!(of("score"), Values::Number(values) if values.iter().all(|it| it.is_nan()))
        );
        assert_eq!(of("big"), &Values::Whole(vec![i64::MAX, 3]));
        assert!(matches!(of("scheduler"), Values::Text(_)));
    }

    #[test]
    fn a_row_of_another_length_is_refused_with_its_line() {
        for (text, line, words) in [
            ("a,a\n1,2\n", 1, "two columns are called `a`"),
            ("", 1, "there are no columns"),
            ("a,b\n1,\0\n", 2, "a NUL character"),
        ] {
            let error = Columns::from_csv(text).expect_err("it is no table");
            assert!(error.line == line && error.reason.contains(words), "{error:?}");
        }
        let error = Columns::from_csv("a,b\n1,2\n3\n").expect_err("a cell is missing");
        assert_eq!(error.line, 3);
    }
}
