//! Page of joint draws of the constants of the model, from the files of `xrsim sensitivity --joint --out`.

use xrsim_figures::{Caption, Quantity, Tornado, TornadoBar, TornadoRow};

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
         of the base. first: share of draws in which no other system scores more; alike: share in which it is at most 0.01 \
         below the best; low, high: 95 % intervals; decisive_constant: the constant whose rank correlation with the lead \
         over the best of the others is farthest from 0, empty if chance explains all.",
    );
    draw(&mut section, &chart(files.places)?, files.places)?;
    let n_systems = systems.rows.len();
    section.add("Systems over all draws", &(systems.header, systems.rows));
    let article = Article {
        title: "Order of systems while constants are uncertain".into(),
        summary: format!("{n_systems} systems under joint draws of all constants"),
        sections: vec![section],
        facts: facts(files.record.text),
    };
    Ok((article.page(), n_systems))
}

fn chart(source: Source<'_>) -> Result<Tornado, ReadError> {
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
    let caption = Caption::titled("How often every system is the best; whiskers: 95 % intervals");
    Ok(Tornado { caption, axis, series, rows })
}
