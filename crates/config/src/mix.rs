//! Styles written in place: `WS:3 + OS:1` stands for a `style:` file.

use std::sync::Arc;

use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::{Share, Style, System};

use super::extensions::names_a_file;
use super::yaml::read::printable;

/// Largest share of the PEs, as in `style:` files.
const MAX_SHARE: u32 = 1024;

/// Accelerator of a mix: its dataflow, and its share of all resources.
pub(super) struct Part<'t> {
    pub(super) dataflow: &'t str,
    share: u32,
}

/// Whether `reference` is a mix: parts joined by `+`, each `dataflow` or `dataflow:share`.
pub(super) fn is_mix(reference: &str) -> bool {
    let file = names_a_file(reference);
    reference.contains(" + ") || !file && reference.contains(['+', ':'])
}

/// Parts of the mix `text`.
///
/// # Errors
///
/// A message about the first invalid part.
pub(super) fn parse(text: &str) -> Result<Vec<Part<'_>>, String> {
    let parts: Vec<_> = text.split('+').map(part).collect::<Result<_, _>>()?;
    if parts.len() > System::MAX_ACCELERATORS {
        let (found, max) = (parts.len(), System::MAX_ACCELERATORS);
        return Err(format!("{found} accelerators; at most {max} are allowed"));
    }
    Ok(parts)
}

fn part(piece: &str) -> Result<Part<'_>, String> {
    let (dataflow, share) = piece.rsplit_once(':').unwrap_or((piece, "1"));
    let number = share.trim().parse().ok().filter(|share| (1..=MAX_SHARE).contains(share));
    let dataflow = dataflow.trim();
    match number {
        Some(share) if !dataflow.is_empty() => Ok(Part { dataflow, share }),
        _ => Err(format!(
            "expected a dataflow and its share of the PEs from 1 to {MAX_SHARE}, such as `WS:3`, \
             found `{}`",
            printable(piece.trim())
        )),
    }
}

/// Style of `parts` with their `dataflows`; its name is the mix as it would be written.
pub(super) fn style(parts: &[Part<'_>], dataflows: Vec<Arc<Dataflow>>) -> Style {
    let name = |part: &Part<'_>| format!("{}:{}", part.dataflow, part.share);
    let name = parts.iter().map(name).collect::<Vec<_>>().join(" + ");
    let mixed = dataflows.iter().any(|dataflow| *dataflow != dataflows[0]);
    let class = match dataflows.len() {
        1 => "FDA",
        _ if mixed => "HDA",
        _ => "SFDA",
    };
    let shares = dataflows.into_iter().zip(parts);
    let shares = shares.map(|(dataflow, part)| Share::of_all(dataflow, part.share)).collect();
    Style::new(name, class, shares)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(text: &str) -> String {
        match parse(text) {
            Ok(parts) => {
                let parts = parts.iter().map(|part| format!("{}={}", part.dataflow, part.share));
                parts.collect::<Vec<_>>().join(" ")
            }
            Err(message) => message,
        }
    }

    #[test]
    fn mixes_are_distinguished_from_names_and_files() {
        for mix in
            ["WS:3 + OS:1", "WS:3+OS:1", "WS+OS", "WS:1", "my/flow.yaml:3", "a.yaml + b.yaml"]
        {
            assert!(is_mix(mix), "{mix}");
        }
        for name in ["A", "three_unequal", "my/system.yaml", "a+b.yaml", "Dual:4K.m"] {
            assert!(!is_mix(name), "{name}");
        }
    }

    #[test]
    fn parts_have_a_share_of_one_by_default() {
        assert_eq!(shares("WS:3 + OS"), "WS=3 OS=1");
        assert_eq!(shares("my/flow.yaml:1024"), "my/flow.yaml=1024");
        let expected =
            "expected a dataflow and its share of the PEs from 1 to 1024, such as `WS:3`, found";
        for (text, part) in
            [("WS:0", "WS:0"), ("WS +", ""), (":3", ":3"), ("A + B:x", "B:x"), ("A:1025", "A:1025")]
        {
            assert_eq!(shares(text), format!("{expected} `{part}`"));
        }
    }
}
