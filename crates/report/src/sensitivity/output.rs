//! Sensitivities as CSV and JSON.

use serde_json::{Map, Value, json};

use crate::table::{Rows, cell_if_any};
use xrsim_model::statistics::{Fraction, Summary};

use super::{Effect, Levels, MainEffect, PARTS, Screened, is_told_apart};

/// A name, and its value as the cell of a file and in JSON.
type Field = (String, String, Value);

fn number(name: &str, value: Option<f64>) -> Field {
    (name.into(), cell_if_any(value), json!(value))
}

fn object(fields: Vec<Field>) -> Map<String, Value> {
    fields.into_iter().map(|(name, _, value)| (name, value)).collect()
}

/// Mean, both ends of the 95 % interval, whether it is told apart from 0, and changes of the parts of the score.
fn change(change: &Summary, parts: &[f64; PARTS.len()]) -> Vec<Field> {
    let interval = change.interval(Fraction::P95);
    let told_apart = is_told_apart(change);
    let mut fields = vec![
        number("change", Some(change.mean)),
        number("low", interval.map(|it| it.low)),
        number("high", interval.map(|it| it.high)),
        ("told_apart".into(), told_apart.to_string(), json!(told_apart)),
    ];
    let parts = PARTS.iter().zip(parts);
    fields.extend(parts.map(|((name, _), part)| number(&format!("{name}_change"), Some(*part))));
    fields
}

fn effect(effect: &Effect) -> Vec<Field> {
    let mut fields = vec![number("score", Some(effect.score))];
    fields.extend(change(&effect.change, &effect.parts));
    fields.extend([
        number("energy_mj_per_executed", Some(effect.energy_mj)),
        number("energy_ratio", Some(effect.energy_ratio).filter(|it| it.is_finite())),
        number("executed", Some(effect.executed)),
    ]);
    fields
}

/// A row for every level of every factor. Rankings have three columns for each number of PEs.
pub fn levels_csv(levels: &Levels) -> Rows {
    let mut header = ["factor", "unit", "base", "level"].map(String::from).to_vec();
    header.extend(effect(&levels.base).into_iter().map(|(name, ..)| name));
    for ranking in &levels.base.rankings {
        header.extend(["tau", "best"].map(|name| format!("{name}_{}", ranking.pes)));
    }
    header.extend(["left_out", "reason"].map(String::from));
    let mut rows = Vec::new();
    for factor in &levels.factors {
        for (level, found) in &factor.levels {
            let mut row =
                vec![factor.key.into(), factor.unit.into(), factor.base.clone(), level.clone()];
            match found {
                Ok(found) => {
                    row.extend(effect(found).into_iter().map(|(_, cell, _)| cell));
                    for ranking in &found.rankings {
                        row.extend([cell_if_any(ranking.tau), ranking.best.clone()]);
                    }
                    row.push(found.n_left_out.to_string());
                    row.push(found.reason.clone().unwrap_or_default());
                }
                Err(reason) => {
                    row.resize(header.len() - 1, String::new());
                    row.push(reason.clone());
                }
            }
            rows.push(row);
        }
    }
    (header, rows)
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

fn effect_json(of: &Effect) -> Value {
    let ranking = |it: &super::Ranking| json!({ "pes": it.pes, "tau": it.tau, "best": it.best });
    let mut object = object(effect(of));
    object.insert("rankings".into(), of.rankings.iter().map(ranking).collect());
    object.insert("left_out".into(), json!(of.n_left_out));
    object.extend(of.reason.iter().map(|reason| ("reason".into(), json!(reason))));
    object.into()
}

fn skipped(skipped: &[(&str, String)]) -> Value {
    skipped.iter().map(|(key, reason)| json!({ "factor": key, "reason": reason })).collect()
}

/// A row for every factor of a screening design.
pub fn screening_csv(screened: &Screened) -> Rows {
    let names = change(&Summary::default(), &Default::default()).into_iter().map(|(name, ..)| name);
    let header = ["factor", "low_level", "high_level"].map(String::from).into_iter();
    let row = |effect: &MainEffect| {
        let mut row = vec![effect.key.to_string()];
        row.extend(effect.levels.clone());
        row.extend(change(&effect.change, &effect.parts).into_iter().map(|(_, cell, _)| cell));
        row
    };
    (header.chain(names).collect(), screened.effects.iter().map(row).collect())
}

/// The same numbers as one document.
pub fn screening_json(screened: &Screened) -> Value {
    let effect = |effect: &MainEffect| {
        let mut object = object(change(&effect.change, &effect.parts));
        object.insert("factor".into(), json!(effect.key));
        object.insert("levels".into(), json!(effect.levels));
        Value::from(object)
    };
    json!({
        "design": "Plackett-Burman, folded over: resolution IV", "runs": screened.n_points,
        "configurations": screened.n_configurations, "left_out": screened.n_left_out,
        "reason": screened.reason, "replications": screened.n_replications,
        "skipped": skipped(&screened.skipped),
        "effects": screened.effects.iter().map(effect).collect::<Vec<_>>(),
    })
}
