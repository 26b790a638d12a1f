//! Page of joint draws of the constants of the model, from the files of `xrsim sensitivity --joint --out`.

use xrsim_figures::{Caption, Quantity, Tornado, TornadoBar, TornadoRow};

use crate::table::whole_percent;

use super::article::{Article, Section};
use super::comparison::{Table, draw, parsed, problem};
use super::sweep::facts;
use super::{ReadError, Source};

/// The files of joint draws.
#[derive(Debug, Clone, Copy)]
pub struct JointFiles<'a> {
    /// `joint.json`.
    pub record: Source<'a>,
    /// `joint.csv`.
    pub systems: Source<'a>,
    /// `places.csv`, the data of the figure.
    pub places: Source<'a>,
    /// The command that wrote the folder, if it is known.
    pub command: Option<&'a str>,
}

/// Page of joint draws, and the number of systems.
///
/// # Errors
///
/// The first place at which a file differs from those of `xrsim sensitivity --joint --out`.
pub fn joint_page(files: &JointFiles<'_>) -> Result<(String, usize), ReadError> {
    let systems = Table::read(files.systems, &["system", "draws", "first"])?;
    let mut section = Section::new(
        "systems",
        "Systems",
        "All constants were drawn at once, the same for every system, with one draw of the load each; mappings are those \
         of the base. First: share of draws in which no other system scores more. Alike: share in which it is at most 0.01 \
         below the best. Low and high are the ends of 95 % intervals. Decides most: the constant whose rank correlation with \
         the lead over the best of the others is farthest from 0, empty if chance explains all.",
    );
    let title = "How often every system is the best; whiskers: 95 % intervals";
    draw(&mut section, &chart(files.places, title)?, files.places)?;
    let n_systems = systems.rows.len();
    let share = |name: &str| {
        let share = systems.place(name).and_then(|at| systems.rows.first()?[at].parse().ok());
        share.map_or("-".into(), whole_percent)
    };
    let summary = systems.rows.first().map_or(String::new(), |row| {
        format!(
            "{} scores the most in {} of the joint draws of all constants, of {n_systems} systems, and is at most 0.01 below \
             the best in {}.",
            row[0],
            share("first"),
            share("alike")
        )
    });
    section.add("Systems over all draws", &(systems.header, systems.rows));
    let article = Article {
        title: "Order of systems while constants are uncertain".into(),
        summary,
        command: files.command.map(String::from),
        sections: vec![section],
        facts: facts(files.record.text),
    };
    Ok((article.page(), n_systems))
}

/// The chart of bars in the rows of `source`, with a title.
pub(super) fn chart(source: Source<'_>, title: &str) -> Result<Tornado, ReadError> {
    let table = Table::read(source, &["row", "series", "label", "value", "low", "high"])?;
    let mut series: Vec<String> = Vec::new();
    let mut rows: Vec<TornadoRow> = Vec::new();
    for (at, cells) in table.rows.iter().enumerate() {
        let of_series = series.iter().position(|it| *it == cells[1]).unwrap_or_else(|| {
            series.push(cells[1].clone());
            series.len() - 1
        });
        if rows.last().is_none_or(|row| row.name != cells[0]) {
            rows.push(TornadoRow { name: cells[0].clone(), bars: Vec::new() });
        }
        let number = |cell: usize| match cells[cell].as_str() {
            "" => Ok(None),
            text => parsed(source, at, text).map(Some),
        };
        let value = number(3)?;
        let bar = TornadoBar {
            series: of_series,
            label: cells[2].clone(),
            value: value.ok_or_else(|| problem(source, at + 2, "a bar has a value".into()))?,
            range: number(4)?.zip(number(5)?),
        };
        if let Some(row) = rows.last_mut() {
            row.bars.push(bar);
        }
    }
    let axis = Quantity::new(series.join(", "), "");
    Ok(Tornado { caption: Caption::titled(title), axis, series, rows })
}
