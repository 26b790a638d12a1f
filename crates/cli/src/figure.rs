//! Figures as files: a picture, beside it the data of the picture, and its caption if that is not drawn.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use xrsim_figures::{Figure, FigureError, Format, Sheet, render_on};

use super::message::Failure;
use super::output::{self, Complete, OutputFile, OutputSet};

/// Options of commands that write figures.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Figures")]
pub(super) struct PictureOptions {
    /// Width of figures for print, such as 3.35in, 85mm, 8.5cm or 241pt: type of 7.2 pt, PNG of 300 dots per inch,
    /// and the title in FIGURE.txt instead of the picture.
    #[arg(long, value_name = "LENGTH", value_parser = sheet)]
    pub width: Option<Sheet>,
    /// Leave title and notes out of figures; FIGURE.txt beside them has these texts.
    #[arg(long)]
    pub no_title: bool,
}

/// Units of lengths \[pt\].
const UNITS: [(&str, f64); 4] =
    [("in", 72.0), ("mm", 72.0 / 25.4), ("cm", 72.0 / 2.54), ("pt", 1.0)];

/// Reads the width of a printed page.
fn sheet(text: &str) -> Result<Sheet, String> {
    let expected = "expected a number and in, mm, cm or pt, such as 3.35in";
    let unit = UNITS.iter().find_map(|(unit, pt)| Some((text.strip_suffix(unit)?, pt)));
    let (number, pt) = unit.ok_or(expected)?;
    let number: f64 = number.trim().parse().map_err(|_| expected)?;
    let (least, most) = Sheet::WIDTHS_PT;
    let allowed = || format!("allowed is a width from {}in to {}in", least / 72.0, most / 72.0);
    Sheet::printed(number * pt).ok_or_else(allowed)
}

impl PictureOptions {
    /// The page of the figures.
    pub(super) fn sheet(&self) -> Sheet {
        let sheet = self.width.unwrap_or_default();
        if self.no_title { sheet.untitled() } else { sheet }
    }

    /// Files of a figure at `path`: the picture, its data with the ending `.csv`, and its caption with the ending
    /// `.txt` if it is not drawn.
    pub(super) fn files(&self, path: &Path) -> Vec<PathBuf> {
        let mut files = vec![path.into(), path.with_extension("csv")];
        if !self.sheet().is_titled() {
            files.push(path.with_extension("txt"));
        }
        files
    }

    /// Writes `figure` to `path` in the format of its ending, with its files beside it.
    ///
    /// # Errors
    ///
    /// Returns a failure if the ending is unknown, if the data cannot be drawn, or if a file cannot be
    /// written.
    pub(super) fn write(&self, path: &Path, figure: &dyn Figure) -> Result<(), Failure> {
        self.stage(path, figure)?.into_iter().try_for_each(Complete::rename)
    }

    /// Writes the files of `figure` completely, but does not move them to their places.
    ///
    /// # Errors
    ///
    /// Returns a failure as [`PictureOptions::write`] does.
    pub(super) fn stage(&self, path: &Path, figure: &dyn Figure) -> Result<Vec<Complete>, Failure> {
        let picture = self.drawn(figure, format(path)?)?;
        let files = self.files(path);
        let mut staged = vec![bytes(&files[0], &picture)?];
        staged
            .push(output::write_csv_to(OutputFile::create(&files[1])?, data(figure))?.complete()?);
        if let Some(place) = files.get(2) {
            staged.push(bytes(place, caption(figure).as_bytes())?);
        }
        Ok(staged)
    }

    /// Adds `figure` to `set` in every format under the name `stem`, with its files.
    ///
    /// # Errors
    ///
    /// Returns a failure if the data cannot be drawn, or if a file cannot be written.
    pub(super) fn add(
        &self,
        set: &mut OutputSet,
        stem: &str,
        formats: &[Format],
        figure: &dyn Figure,
    ) -> Result<(), Failure> {
        self.add_picture(set, stem, formats, figure)?;
        set.csv(&format!("{stem}.csv"), data(figure))
    }

    /// Adds `figure` to `set` as [`PictureOptions::add`] does, without its data.
    ///
    /// # Errors
    ///
    /// Returns a failure if the data cannot be drawn, or if a file cannot be written.
    pub(super) fn add_picture(
        &self,
        set: &mut OutputSet,
        stem: &str,
        formats: &[Format],
        figure: &dyn Figure,
    ) -> Result<(), Failure> {
        for &format in formats {
            set.bytes(&format!("{stem}.{}", format.extension()), &self.drawn(figure, format)?)?;
        }
        match self.sheet().is_titled() {
            true => Ok(()),
            false => set.bytes(&format!("{stem}.txt"), caption(figure).as_bytes()),
        }
    }

    /// Names of the files of [`PictureOptions::add`].
    pub(super) fn names(&self, stem: &str, formats: &[Format]) -> Vec<String> {
        let pictures = formats.iter().map(|format| format!("{stem}.{}", format.extension()));
        let caption = (!self.sheet().is_titled()).then(|| format!("{stem}.txt"));
        pictures.chain([format!("{stem}.csv")]).chain(caption).collect()
    }

    /// Draws the picture.
    fn drawn(&self, figure: &dyn Figure, format: Format) -> Result<Vec<u8>, Failure> {
        render_on(&self.sheet(), figure, format).map_err(|error| match error {
            FigureError::Narrow { .. } => Failure::Argument(format!("--width: {error}")),
            error => super::argument(error),
        })
    }
}

fn bytes(place: &Path, bytes: &[u8]) -> Result<Complete, Failure> {
    OutputFile::create(place)?.with(|out| out.write_all(bytes))?.complete()
}

fn caption(figure: &dyn Figure) -> String {
    format!("{}\n", figure.texts().sentences())
}

fn data(figure: &dyn Figure) -> (Vec<String>, Vec<Vec<String>>) {
    let rows = figure.rows();
    (rows.header.iter().map(|name| (*name).to_string()).collect(), rows.rows)
}

/// Returns the format for the ending of `path`.
fn format(path: &Path) -> Result<Format, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let format = Format::ALL.iter().find(|format| format.extension().eq_ignore_ascii_case(ending));
    format.copied().ok_or_else(|| {
        Failure::Argument(format!("{}: a figure ends in .svg, .pdf or .png", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_has_a_unit() {
        for text in ["3.35in", "85.09mm", "8.509cm", "241.2pt", "241.2 pt"] {
            let width = sheet(text).expect("a width").width_pt();
            assert!((width - 241.2).abs() < 1e-9, "{text}: {width}");
        }
        for text in ["3.35", "in", "3,35in", "1in", "11in", "-3in", "infin", "NaNpt", ""] {
            assert!(sheet(text).is_err(), "{text}");
        }
    }
}
