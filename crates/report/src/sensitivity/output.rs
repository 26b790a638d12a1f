//! Sensitivities as CSV and JSON.

use serde_json::{Value, json};

use xrsim_model::statistics::{Fraction, Summary};
use xrsim_model::text::cell;

use super::{Effect, Levels, PARTS, Screened, is_told_apart};

/// Header and rows of a CSV file.
type Csv = (Vec<String>, Vec<Vec<String>>);

/// A row for every level of every factor. Rankings have three columns for each number of PEs.
pub fn levels_csv(levels: &Levels) -> Csv {
    let mut header: Vec<String> =
        ["factor", "unit", "base", "level", "score", "change", "low", "high"]
            .map(String::from)
            .to_vec();
    header.push("told_apart".into());
    header.extend(PARTS.map(|(name, _)| format!("{name}_change")));
    header.extend(["energy_mj_per_executed", "energy_ratio", "executed"].map(String::from));
    for ranking in &levels.base.rankings {
        header.extend(["tau", "best"].map(|name| format!("{name}_{}", ranking.pes)));
    }
    header.extend(["left_out", "reason"].map(String::from));
    let n_columns = header.len();
    let mut rows = Vec::new();
    for factor in &levels.factors {
        for (level, effect) in &factor.levels {
            let mut row =
                vec![factor.key.into(), factor.unit.into(), factor.base.clone(), level.clone()];
            match effect {
                Ok(effect) => row.extend(cells(effect)),
                Err(reason) => {
                    row.resize(n_columns - 1, String::new());
                    row.push(reason.clone());
                }
            }
            rows.push(row);
        }
    }
    (header, rows)
}

fn cells(effect: &Effect) -> Vec<String> {
    let mut cells = vec![cell(effect.score)];
    cells.extend(change_cells(&effect.change));
    cells.extend(effect.parts.map(cell));
    cells.extend([effect.energy_mj, effect.energy_ratio, effect.executed].map(cell));
    for ranking in &effect.rankings {
        cells.extend([ranking.tau.map_or_else(String::new, cell), ranking.best.clone()]);
    }
    cells.push(effect.n_left_out.to_string());
    cells.push(effect.reason.clone().unwrap_or_default());
    cells
}

/// Mean, both ends of the 95 % interval, and whether it is told apart from 0.
fn change_cells(change: &Summary) -> [String; 4] {
    let interval = change.interval(Fraction::P95);
    let end = |end: Option<f64>| end.map_or_else(String::new, cell);
    [
        cell(change.mean),
        end(interval.map(|it| it.low)),
        end(interval.map(|it| it.high)),
        is_told_apart(change).to_string(),
    ]
}

/// The same numbers as one document.
pub fn levels_json(levels: &Levels) -> Value {
    let factor = |factor: &super::FactorEffect| {
        let level = |(level, effect): &(String, Result<Effect, String>)| match effect {
            Ok(effect) => {
                let mut object = effect_json(effect);
                object["level"] = json!(level);
                object
            }
            Err(reason) => json!({ "level": level, "reason": reason }),
        };
        json!({
            "factor": factor.key, "unit": factor.unit, "base": factor.base,
            "levels": factor.levels.iter().map(level).collect::<Vec<_>>(),
        })
    };
    json!({
        "configurations": levels.n_configurations, "replications": levels.n_replications,
        "base": effect_json(&levels.base), "skipped": skipped(&levels.skipped),
        "factors": levels.factors.iter().map(factor).collect::<Vec<_>>(),
    })
}

fn effect_json(effect: &Effect) -> Value {
    let ranking = |it: &super::Ranking| json!({ "pes": it.pes, "tau": it.tau, "best": it.best });
    let mut object = change_json(&effect.change);
    object["score"] = json!(effect.score);
    for ((name, _), change) in PARTS.iter().zip(effect.parts) {
        object[format!("{name}_change")] = json!(change);
    }
    object["energy_mj_per_executed"] = json!(effect.energy_mj);
    object["energy_ratio"] = json!(effect.energy_ratio);
    object["executed"] = json!(effect.executed);
    object["rankings"] = effect.rankings.iter().map(ranking).collect();
    object["left_out"] = json!(effect.n_left_out);
    if let Some(reason) = &effect.reason {
        object["reason"] = json!(reason);
    }
    object
}

fn change_json(change: &Summary) -> Value {
    let interval = change.interval(Fraction::P95);
    json!({
        "change": change.mean, "low": interval.map(|it| it.low), "high": interval.map(|it| it.high),
        "told_apart": is_told_apart(change),
    })
}

fn skipped(skipped: &[(&str, String)]) -> Value {
    skipped.iter().map(|(key, reason)| json!({ "factor": key, "reason": reason })).collect()
}

/// A row for every factor of a screening design.
pub fn screening_csv(screened: &Screened) -> Csv {
    let mut header: Vec<String> =
        ["factor", "low_level", "high_level", "change", "low", "high", "told_apart"]
            .map(String::from)
            .to_vec();
    header.extend(PARTS.map(|(name, _)| format!("{name}_change")));
    let row = |effect: &super::MainEffect| {
        let mut row = vec![effect.key.to_string()];
        row.extend(effect.levels.clone());
        row.extend(change_cells(&effect.change));
        row.extend(effect.parts.map(cell));
        row
    };
    (header, screened.effects.iter().map(row).collect())
}

/// The same numbers as one document.
pub fn screening_json(screened: &Screened) -> Value {
    let effect = |effect: &super::MainEffect| {
        let mut object = change_json(&effect.change);
        object["factor"] = json!(effect.key);
        object["levels"] = json!(effect.levels);
        for ((name, _), change) in PARTS.iter().zip(effect.parts) {
            object[format!("{name}_change")] = json!(change);
        }
        object
    };
    json!({
        "design": "Plackett-Burman, folded over: resolution IV", "runs": screened.n_points,
        "configurations": screened.n_configurations, "left_out": screened.n_left_out,
        "reason": screened.reason, "replications": screened.n_replications,
        "skipped": skipped(&screened.skipped),
        "effects": screened.effects.iter().map(effect).collect::<Vec<_>>(),
    })
}
