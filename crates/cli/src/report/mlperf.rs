//! Pages of the results of `xrsim mlperf --out`.

use std::path::{Path, PathBuf};

use xrsim_mlperf::logs::files;
use xrsim_model::text::counted;
use xrsim_report::html::mlperf::{Files, Header, Kind, Place, Tests};

use super::super::argument;
use super::super::message::Failure;
use super::super::record::Recorded;
use super::{Made, Text, read};

/// Largest total size of the files of a folder \[byte\]; a browser holds the part that the page shows.
const MAX_BYTES: u64 = 64 << 20;

/// The page of the tests of a folder.
///
/// # Errors
///
/// A file that is absent, invalid or of other tests than the rest, or files that are too large.
pub(super) fn page(mut reader: Reader<'_>, kind: Kind) -> Result<Made, Failure> {
    reader.recorded.iter().for_each(Recorded::warn);
    reader.recorded.iter().try_for_each(|it| it.check_all(reader.folder))?;
    let header = reader.header.take();
    let header = header.map(|it| Header::read(it.source())).transpose().map_err(argument)?;
    let table = reader.text(kind.file())?;
    let tests = Tests::read(kind, table.source(), header).map_err(argument)?;
    let texts: Vec<_> = tests.places().map(|it| reader.test(&it)).collect::<Result<_, _>>()?;
    let files: Vec<_> = texts.iter().map(TestTexts::files).collect();
    let html = tests.page(&files).map_err(argument)?;
    Ok(Made { html, contents: counted(tests.count(), "test") })
}

/// The files of a test.
struct TestTexts {
    summary: Text,
    curve: Option<Text>,
}

impl TestTexts {
    fn files(&self) -> Files<'_> {
        Files { summary: &self.summary.text, curve: self.curve.as_ref().map(Text::source) }
    }
}

/// Reader of files up to a total size.
pub(super) struct Reader<'a> {
    folder: &'a Path,
    left: u64,
    /// The record of the tests, if there is one.
    header: Option<Text>,
    /// Files that the folder has to have, if they are recorded.
    recorded: Option<Recorded>,
}

impl<'a> Reader<'a> {
    /// Reader of `folder`, which may have other results than tests.
    ///
    /// # Errors
    ///
    /// A record of tests that cannot be read or was changed.
    pub(super) fn new(folder: &'a Path) -> Result<Self, Failure> {
        let mut reader = Self { folder, left: MAX_BYTES, header: None, recorded: None };
        if !Kind::ALL.into_iter().any(|kind| reader.has(kind.file())) {
            return Ok(reader);
        }
        reader.header = reader.text_if_any(files::RECORD)?;
        let recorded = |header: &Text| Recorded::parse(&folder.join(files::RECORD), &header.text);
        reader.recorded = reader.header.as_ref().map(recorded).transpose()?;
        Ok(reader)
    }

    fn test(&mut self, place: &Place) -> Result<TestTexts, Failure> {
        let file = |name: &str| format!("{}/{name}", place.folder);
        let summary = self.text(&file(files::SUMMARY))?;
        let curve = match place.may_have_curve {
            true => self.text_if_any(&file(files::CURVE))?,
            false => None,
        };
        Ok(TestTexts { summary, curve })
    }

    fn text(&mut self, name: &str) -> Result<Text, Failure> {
        let path: PathBuf = self.folder.join(name);
        let read = read(&path, self.left, Some(&too_large()))?;
        self.left -= read.text.len() as u64;
        if let Some(recorded) = &self.recorded {
            read.check(name, recorded)?;
        }
        Ok(read)
    }

    fn text_if_any(&mut self, name: &str) -> Result<Option<Text>, Failure> {
        match self.has(name) {
            true => self.text(name).map(Some),
            false => Ok(None),
        }
    }

    /// Whether the tests have a file called `name`; files of other commands do not count.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_of_tests = self.recorded.as_ref().is_none_or(|recorded| recorded.has(name));
        is_of_tests && self.folder.join(name).exists()
    }
}

fn too_large() -> String {
    let mib = MAX_BYTES >> 20;
    format!("with this file, the results are larger than {mib} MiB; make a page of fewer tests")
}
