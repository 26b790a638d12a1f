//! Words for the names of columns and keys: the one table that pages, figures and LaTeX share. Columns of results bring
//! their label, unit and meaning along; those that only tables have are in [`WORDS`]; the name of any other key is split
//! into words and a unit.

use std::borrow::Cow;

use xrsim_model::column::Column;
use xrsim_sim::bounds::ClassBounds;
use xrsim_sim::metrics::{DeviceMetrics, RunMetrics};
use xrsim_sim::score::Score;

/// Words for a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// Heading without the unit.
    pub(crate) label: Cow<'static, str>,
    /// Unit, such as `mJ`; empty for pure numbers.
    pub(crate) unit: &'static str,
    /// Meaning; empty if the words say it.
    pub(crate) help: &'static str,
}

/// Name, label, unit and meaning of columns that only tables have.
const WORDS: [(&str, &str, &str, &str); 54] = [
    ("pes", "PEs", "", "processing elements of the whole system"),
    ("latency_p99_ms", "Latency p99", "ms", ""),
    ("half_width", "±", "", "half of the 95 % interval of the mean"),
    ("difference", "Difference", "", "mean of the paired differences"),
    (
        "difference_half_width",
        "± of the difference",
        "",
        "half of the 95 % interval of the difference",
    ),
    ("d_z", "Effect size d_z", "", "mean of the paired differences over their standard deviation"),
    ("p_holm", "p (Holm)", "", "paired t-test, corrected by Holm for the number of tests"),
    ("wins", "Best alone", "", "configurations in which the scheduler is the best alone"),
    (
        "ties",
        "Best with others",
        "",
        "configurations in which the scheduler is the best together with others",
    ),
    ("won", "Won", "", "share of runs in which the first is better on the same requests"),
    ("tied", "Tied", "", "share of runs in which both are equal on the same requests"),
    ("lost", "Lost", "", "share of runs in which the first is worse on the same requests"),
    ("miss_ratio", "Missed frames", "", "share of frames that were late, dropped or lost"),
    (
        "gap_to_bound",
        "Gap to the bound",
        "",
        "share of the upper bound of the class of the scheduler that is missed",
    ),
    ("bound", "Bound", "", "the upper bound that is nearest"),
    ("bound_for", "Bound for", "", "class of schedulers for which the bound holds"),
    ("first", "First", "", ""),
    ("second", "Second", "", ""),
    ("groups", "Groups", "", "numbers of the bars that join the scheduler with others"),
    ("name", "Name", "", ""),
    ("equal", "Equal designs", "", "number of other designs that are equally good"),
    ("question", "Question", "", ""),
    ("value", "Value", "", "value of the first objective"),
    ("stop", "Search ended", "", ""),
    ("gap_percent", "Gap", "%", "distance to the largest bound that the search left open"),
    (
        "certificate",
        "Bound, any scheduler",
        "",
        "no system of the space exceeds it under any scheduler",
    ),
    (
        "certificate_keeping",
        "Bound, requests stay",
        "",
        "no system of the space exceeds it under schedulers that keep a request where it began",
    ),
    ("simulated", "Systems simulated", "", ""),
    ("systems", "Systems", "", "systems of the space"),
    ("excluded_by", "Excluded by", "", "why the system was not simulated in all draws"),
    ("draws", "Draws", "", "number of random draws"),
    ("edp_mj_ms", "Energy × delay", "mJ ms", ""),
    ("power_with_leakage_mw", "Power with leakage", "mW", ""),
    ("missed", "Missed frames", "", "frames that were late, dropped or lost"),
    ("first_low", "First, low", "", "lower end of the 95 % interval"),
    ("first_high", "First, high", "", "upper end of the 95 % interval"),
    ("alike", "Alike", "", "share of draws in which the system is at most 0.01 below the best"),
    ("alike_low", "Alike, low", "", "lower end of the 95 % interval"),
    ("alike_high", "Alike, high", "", "upper end of the 95 % interval"),
    ("score_p5", "Score, 5th percentile", "", ""),
    ("score_p95", "Score, 95th percentile", "", ""),
    (
        "decisive_constant",
        "Decides most",
        "",
        "constant whose rank correlation with the lead is farthest from 0",
    ),
    ("factor", "Setting", "", "the setting that is varied"),
    ("base", "Base", "", "value of the setting without the change"),
    ("level", "Level", "", "value of the setting with the change"),
    ("change", "Change of score", "", "level minus base on equal draws"),
    ("low", "Low", "", "lower end of the 95 % interval"),
    ("high", "High", "", "upper end of the 95 % interval"),
    ("told_apart", "Told apart from 0", "", "whether the 95 % interval of the change leaves 0 out"),
    (
        "energy_ratio",
        "Energy, × base",
        "",
        "energy for each executed request over that of the base",
    ),
    ("energy_mj_per_executed", "Energy per executed request", "mJ", ""),
    (
        "left_out",
        "Left out",
        "",
        "configurations that have no score under the setting or under the base",
    ),
    ("tau", "Tau", "", "Kendall's rank correlation of the systems with the base"),
    ("best", "Best", "", "system of the highest mean score"),
];

/// Endings of names, each with the unit that it says and words in its place.
const ENDINGS: [(&str, &str, &str); 17] = [
    ("_bytes_per_cycle", "byte/cycle", ""),
    ("_pj_per_byte", "pJ/byte", " energy"),
    ("_pj_per_cycle", "pJ/cycle", " energy"),
    ("_pj_per_bit", "pJ/bit", " energy"),
    ("_gb_per_s", "GB/s", ""),
    ("_per_ms", "1/ms", ""),
    ("_cycles", "cycle", ""),
    ("_percent", "%", ""),
    ("_mm2", "mm2", ""),
    ("_kib", "KiB", ""),
    ("_mhz", "MHz", ""),
    ("_mj", "mJ", ""),
    ("_mw", "mW", ""),
    ("_ms", "ms", ""),
    ("_us", "us", ""),
    ("_qps", "1/s", ""),
    ("_pj", "pJ", " energy"),
];

/// Words for the column or key called `name`.
pub(crate) fn of(name: &str) -> Words {
    if let Some(words) = in_table(name) {
        return words;
    }
    let all = RunMetrics::COLUMNS.iter().find(|it| it.name == name).map(from_column);
    let all = all.or_else(|| DeviceMetrics::column(name).map(from_column));
    let all = all.or_else(|| Score::column(name).map(from_column));
    let bound = || ClassBounds::COLUMNS.iter().find(|it| it.name == name).map(from_column);
    all.or_else(bound).unwrap_or_else(|| of_key(name))
}

fn in_table(name: &str) -> Option<Words> {
    let known = WORDS.iter().find(|(known, ..)| *known == name);
    known.map(|&(_, label, unit, help)| Words { label: label.into(), unit, help })
}

fn from_column<T>(column: &Column<T>) -> Words {
    Words { label: column.label.into(), unit: column.unit, help: column.help }
}

/// Words for a key: its name without group and unit. A number at the end is that of PEs.
fn of_key(key: &str) -> Words {
    if let Some((name, pes)) = key.rsplit_once('_')
        && pes.bytes().all(|it| it.is_ascii_digit())
        && let Some(words) = in_table(name)
    {
        return Words { label: format!("{}, {pes} PEs", words.label).into(), ..words };
    }
    let (name, unit) = named(key);
    let label = if name.chars().count() > 1 { capitalised(&name) } else { name };
    Words { label: label.into(), unit, help: "" }
}

/// A text with a capital at its beginning.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Name of a setting in a figure, without group and unit, and its unit.
pub(crate) fn named(key: &str) -> (String, &'static str) {
    let name = key.rsplit_once('.').map_or(key, |(_, name)| name);
    let ending = ENDINGS.iter().find_map(|(end, unit, words)| {
        let name = name.strip_suffix(end).filter(|it| !it.is_empty())?;
        Some((name, *unit, *words))
    });
    let (name, unit, words) = ending.unwrap_or((name, "", ""));
    let name = format!("{}{words}", name.replace('_', " "));
    // Abbreviations are in capitals.
    (name.split(' ').map(word).collect::<Vec<_>>().join(" "), unit)
}

fn word(word: &str) -> String {
    match word {
        "dram" | "pe" => word.to_uppercase(),
        "noc" => "NoC".into(),
        "pes" => "PEs".into(),
        "macs" => "MACs".into(),
        "mac" => "MAC".into(),
        "qoe" => "QoE".into(),
        "realtime" => "real time".into(),
        _ => word.into(),
    }
}

/// The words and the unit of a column: `Energy [mJ]`.
pub(crate) fn heading(name: &str) -> String {
    let Words { label, unit, .. } = of(name);
    if unit.is_empty() { label.into() } else { format!("{label} [{unit}]") }
}

/// A text with words in place of the names of columns and keys in it, which have an underscore.
pub(crate) fn in_text(text: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let mut written = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (before, found) = rest.split_at(start);
        let end = found.find(|c| !is_part(c)).unwrap_or(found.len());
        let name = found[..end].trim_end_matches('.');
        written.push_str(before);
        let is_name = name.contains('_') && name.starts_with(|c: char| c.is_ascii_lowercase());
        // Names of scenarios and networks have an underscore, too; words for keys are known, or have a unit or a group.
        let words = of(name);
        let is_known =
            is_name && (!words.unit.is_empty() || !words.help.is_empty() || name.contains('.'));
        match is_known {
            true => written.push_str(&lowered(&words.label)),
            false => written.push_str(name),
        }
        rest = &found[name.len().max(1)..];
        if name.is_empty() {
            written.push_str(&found[..1]);
        }
    }
    written + rest
}

/// A label within a sentence: without a capital, unless it is an abbreviation.
pub(crate) fn lowered(label: &str) -> String {
    let mut letters = label.chars();
    let first_word = label.split(' ').next().unwrap_or_default();
    match letters.next() {
        Some(first) if !first_word.chars().skip(1).any(char::is_uppercase) => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => label.into(),
    }
}

/// A value of the column called `name`, as it is said within a sentence: `area 268.9 mm2`.
pub(crate) fn spoken(name: &str, value: &str) -> String {
    let Words { label, unit, .. } = of(name);
    match name {
        "system" | "scheduler" | "platform" => value.into(),
        "pes" => format!("{value} PEs"),
        _ => format!("{} {value} {unit}", lowered(&label)).trim_end().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_results_bring_their_words_and_other_keys_are_split() {
        for (name, expected) in [
            ("energy_mj", "Energy [mJ]"),
            ("latency_p99_ms", "Latency p99 [ms]"),
            ("p_holm", "p (Holm)"),
            ("hardware.noc_bandwidth_bytes_per_cycle", "NoC bandwidth [byte/cycle]"),
            ("pes", "PEs"),
            ("tau_4096", "Tau, 4096 PEs"),
            ("score.k_per_ms", "k [1/ms]"),
            ("_ms", " ms"),
            ("", ""),
        ] {
            assert_eq!(heading(name), expected, "{name}");
        }
    }

    #[test]
    fn names_in_a_sentence_become_words_and_other_words_stay() {
        let text =
            "best VR_gaming: score_executed_mean 0.9, less energy_per_frame_mj. AR_gaming ± a_b µ.";
        let words = lowered(&of("score_executed_mean").label);
        let energy = lowered(&of("energy_per_frame_mj").label);
        assert_eq!(
            in_text(text),
            format!("best VR_gaming: {words} 0.9, less {energy}. AR_gaming ± a_b µ.")
        );
        assert_eq!(in_text("..a.. "), "..a.. ");
        assert_eq!(in_text("by hardware.noc_latency_cycles."), "by NoC latency.");
        assert_eq!(spoken("area_mm2", "61"), format!("{} 61 mm2", lowered(&of("area_mm2").label)));
    }

    #[test]
    fn names_of_settings_have_neither_group_nor_unit() {
        let name = |key| named(key).0;
        assert_eq!(name("hardware.dram_bandwidth_bytes_per_cycle"), "DRAM bandwidth");
        assert_eq!(name("hardware.noc_pj_per_byte"), "NoC energy");
        assert_eq!(name("hardware.mac_pj"), "MAC energy");
        assert_eq!(name("score.k_per_ms"), "k");
        assert_eq!(name("pes"), "PEs");
    }
}
