//! Page of the comparisons with reference data.

use std::error::Error;

use xrsim::validate::cross::Summary;
use xrsim::validate::{self, Verdict};

use super::markdown::{Page, plain};

/// What no reference exists for; by hand.
const OPEN: &[(&str, &str)] = &[
    (
        "scores under `principled`",
        "The paper's figures come from the artifact, so that no published number has these rules. Tests check them against \
         the definitions.",
    ),
    (
        "energies of one layer in joules",
        "They follow from the energy table of a platform. Eyeriss is the only measured chip for a comparison.",
    ),
    (
        "areas",
        "They are within 30 % of the chips that the technologies are fitted to; errors for other chips may be larger.",
    ),
    (
        "scenarios on a device",
        "No headset publishes the schedules of its accelerators. Sensor rates, dependencies and deadlines are those of the paper.",
    ),
];

/// The page.
///
/// # Errors
///
/// An error if a comparison cannot be made, or if one differs.
pub(super) fn page() -> Result<String, Box<dyn Error>> {
    let all = validate::all()?;
    if all.n_different() > 0 {
        return Err(format!("{} comparisons differ: xrsim validate", all.n_different()).into());
    }
    let equal = all.comparisons.iter().filter(|it| it.verdict == Verdict::Equal).count();
    let mut page = Page::new(
        "Validation",
        &format!(
            "{equal} of {} comparisons with reference data are equal within their tolerances; the differences of \
             the others are stated. `xrsim validate` repeats all comparisons.",
            all.comparisons.len()
        ),
    );
    let row = |it: &validate::Comparison| {
        vec![plain(&it.what), plain(it.with), plain(&it.result), it.verdict.to_string()]
    };
    page.table(
        &["comparison", "with", "result", "verdict"],
        &all.comparisons.iter().map(row).collect::<Vec<_>>(),
    );
    page.heading(2, "Other cost models, RTL and chips");
    page.paragraph(
        "Every number is compared separately. [Cost of a layer](../explanation/cost-model-loop-nest.md), section 10.4, \
         has the tolerances and the rules that lead from our number to the number of the other side; [Validation](../explanation/validation.md) \
         says what is not known of Gemmini, NVDLA and Rockchip's chips.",
    );
    let rows: Vec<_> = Summary::of(&all.numbers).iter().map(row_of).collect();
    page.table(
        &[
            "with",
            "quantity",
            "numbers",
            "equal",
            "within",
            "by rule",
            "not reproduced",
            "geo-mean",
            "mean error",
            "median error",
            "Spearman",
        ],
        &rows,
    );
    page.heading(2, "Not validated");
    let rows: Vec<_> = OPEN.iter().map(|(what, why)| vec![(*what).into(), (*why).into()]).collect();
    page.table(&["part", "reason, and how wrong it could be"], &rows);
    Ok(page.finish())
}

fn row_of(it: &Summary) -> Vec<String> {
    let within = match it.tolerance {
        0.0 => it.n_within.to_string(),
        tolerance => format!("{} ({} %)", it.n_within, 100.0 * tolerance),
    };
    let percent =
        |error: Option<f64>| error.map_or("-".into(), |it| format!("{:.1} %", 100.0 * it));
    let ratio = |ratio: Option<f64>| ratio.map_or("-".into(), |it| format!("{it:.3}"));
    let [n, equal, by_rule, open] =
        [it.n, it.n_equal, it.n_by_rule, it.n_open].map(|n| n.to_string());
    let mut cells = vec![plain(it.source), plain(it.quantity), n, equal, within, by_rule, open];
    cells.extend([ratio(it.geometric_mean()), percent(it.mean_error())]);
    cells.extend([percent(it.median_error()), ratio(it.spearman())]);
    cells
}
