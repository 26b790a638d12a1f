//! Hardware files.
//!
//! ```text
//! file := ( "Accelerator" name "{" (key value)* "}" )*
//! ```

use crate::{Problem, Source};
use xrsim_model::hardware::platform::Instance;
use xrsim_model::hardware::{Accelerator, Memory, Noc};
use xrsim_model::units::Bytes;

use crate::hardware::{MAX_BANDWIDTH, MAX_LATENCY};

use super::parser::{Contents, Parser, quote};
use super::token::Token;

const KEYWORDS: &[&str] = &[
    "Accelerator",
    "num_pes",
    "offchip_bw",
    "top_noc_bw",
    "top_noc_latency",
    "top_noc_multicast",
    "col_noc_bw",
    "col_noc_latency",
    "col_noc_multicast",
    "global_shared_memory",
    "PE_local_memory",
];
const KEYS: &[&str] = KEYWORDS.split_at(1).1;
const ACCELERATOR: Contents =
    Contents { what: "an accelerator", items: KEYS, outer: &["Accelerator"] };

/// Largest memory \[byte\].
const MAX_MEMORY: u64 = 1 << 48;

/// DRAM bandwidth of every published hardware file [byte/cycle]; default of a file that gives none.
const DRAM_BANDWIDTH: u64 = 128;
/// Largest published shared memory, 8 MiB as in section 4.1 of the paper; default of a
/// file that gives none.
const SHARED_MEMORY: Bytes = Bytes::new(8 << 20);
/// Smallest published scratchpad; default of a file that gives none.
const SCRATCHPAD: Bytes = Bytes::new(8 << 10);

/// Reads the accelerators of a file.
///
/// Bandwidths and latencies of the on-chip network keep the order of the file, `top` and `col` alike
/// (normally top, then col). Latency is 1 cycle where the file gives none. An accelerator has
/// multicast if the file gives it for either network; the only value is `True`.
///
/// # Errors
///
/// Every problem of the file in order of position, at most a hundred.
pub fn parse_hardware(source: &Source) -> Result<Vec<Instance>, Vec<Problem>> {
    let mut instances = Vec::new();
    let mut parser = Parser::new(source.text(), KEYWORDS);
    parser.file("Accelerator", |parser, keyword| {
        instances.extend(accelerator(parser, keyword));
    });
    parser.finish(instances)
}

fn accelerator<'a>(parser: &mut Parser<'a>, keyword: Token<'a>) -> Option<Instance> {
    let header = parser.named_header(keyword)?;
    let mut given = Given::default();
    parser.block(&header, &ACCELERATOR, |parser, key| given.read(parser, key));
    for (key, is_given) in [
        ("num_pes", given.get("num_pes").is_some()),
        ("top_noc_bw", given.ending("_noc_bw").next().is_some()),
    ] {
        if !is_given {
            let message = format!("accelerator {} has no `{key}`", quote(header.name));
            parser.report(Problem::new(header.name_span.clone(), message));
        }
    }
    given.instance(header.name)
}

/// Keys and values in the order of the file; a `True` is 1.
#[derive(Default)]
struct Given<'a>(Vec<(&'a str, u64)>);

impl<'a> Given<'a> {
    fn read(&mut self, parser: &mut Parser<'a>, key: Token<'a>) {
        parser.refuse_second(key, self.get(key.text).is_some());
        // A wrong value is reported, so its substitute does not matter.
        let value = read_value(parser, key.text).unwrap_or(1);
        self.0.push((key.text, value));
    }

    fn get(&self, key: &str) -> Option<u64> {
        self.ending(key).next()
    }

    fn ending(&self, suffix: &str) -> impl Iterator<Item = u64> {
        let keys = self.0.iter().filter(move |(key, _)| key.ends_with(suffix));
        keys.map(|&(_, value)| value)
    }

    fn instance(&self, name: &str) -> Option<Instance> {
        let bandwidths: Vec<_> = self.ending("_noc_bw").collect();
        let latencies: Vec<_> = self.ending("_noc_latency").collect();
        let mut noc = Noc::of_bandwidths(&bandwidths)?;
        noc.set(&latencies, |level, it| level.latency = it);
        noc.set(&[self.ending("_multicast").next().is_some()], |level, it| level.multicast = it);
        Some(Instance {
            name: name.into(),
            pes: u32::try_from(self.get("num_pes")?).ok()?,
            noc,
            memory: Memory::new(
                self.get("global_shared_memory").map_or(SHARED_MEMORY, Bytes::new),
                self.get("PE_local_memory").map_or(SCRATCHPAD, Bytes::new),
                self.get("offchip_bw").unwrap_or(DRAM_BANDWIDTH),
            ),
        })
    }
}

fn read_value(parser: &mut Parser<'_>, key: &str) -> Option<u64> {
    let allowed = match key {
        "num_pes" => 1..=Accelerator::MAX_PES.into(),
        "global_shared_memory" | "PE_local_memory" => 1..=MAX_MEMORY,
        "top_noc_latency" | "col_noc_latency" => 0..=MAX_LATENCY,
        "top_noc_multicast" | "col_noc_multicast" => return read_true(parser, key),
        _ => 1..=MAX_BANDWIDTH,
    };
    parser.number(key, allowed)
}

/// The one value of a multicast key that the artifact reads.
fn read_true(parser: &mut Parser<'_>, key: &str) -> Option<u64> {
    let help = "allowed: True; the artifact reads no other word, so leave the key out to say no";
    let found = parser.word(key, || help.into())?;
    if found.text != "True" {
        let message = format!("{key} is {}", quote(found.text));
        parser.report(Problem::new(found.span(), message).help(help));
    }
    Some(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xrsim_model::hardware::NocLevel;

    fn check(text: &str, expected: &[&str]) {
        let source = Source::new("hw.m", text);
        let problems = parse_hardware(&source).expect_err("the text has problems");
        let found: Vec<_> = problems
            .iter()
            .map(|problem| {
                let (line, column) = source.position(problem.span.start);
                format!("{line}:{column} {}", problem.message)
            })
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn bandwidths_and_latencies_keep_the_order_of_the_file() {
        let text = "Accelerator Acc0_2K {\n num_pes: 2048\n col_noc_latency: 3\n col_noc_bw: 64\n \
                    top_noc_bw: 128\n top_noc_latency: 0\n top_noc_multicast: True\n \
                    offchip_bw: 32\n global_shared_memory: 2097152 // 2 MiB\n \
                    PE_local_memory: 8192\n}\n";
        let instances = parse_hardware(&Source::new("hw.m", text)).unwrap();
        let mut noc = Noc::of_bandwidths(&[64, 128]).unwrap();
        noc.set(&[3, 0], |level, it| level.latency = it);
        let expected = Instance {
            name: "Acc0_2K".into(),
            pes: 2048,
            noc,
            memory: Memory::new(Bytes::new(2 << 20), Bytes::new(8192), 32),
        };
        assert_eq!(instances, [expected]);
    }

    #[test]
    fn pes_and_one_bandwidth_are_enough() {
        let text = "Accelerator a { num_pes 4 col_noc_bw 2 }";
        let instances = parse_hardware(&Source::new("hw.m", text)).unwrap();
        let mut level = NocLevel::new(2);
        level.multicast = false;
        assert_eq!(instances[0].noc.levels(), [level]);
    }

    #[test]
    fn multicast_can_only_be_true() {
        let file = |word| {
            format!("Accelerator a {{ num_pes 4 top_noc_bw 2\n top_noc_multicast: {word} }}")
        };
        assert!(parse_hardware(&Source::new("hw.m", file("True"))).is_ok());
        check(&file("False"), &["2:21 top_noc_multicast is `False`"]);
        check(&file("true"), &["2:21 top_noc_multicast is `true`"]);
        check(&file(""), &["2:22 top_noc_multicast is missing"]);
    }

    #[test]
    fn problems_are_all_reported() {
        check(
            "Accelerator {\n num_pes: 0\n num_pes: 16777217\n top_noc_width: 3\n}\nAccelerator b \
             {\n num_pes 1\n PE_local_memory 18446744073709551616\n}\nnum_pes 3\n",
            &[
                "1:1 `Accelerator` without a name",
                "1:1 accelerator `` has no `top_noc_bw`",
                "2:11 num_pes is `0`",
                "3:2 `num_pes` is given twice",
                "3:11 num_pes is `16777217`",
                "4:2 `top_noc_width` does not belong into an accelerator",
                "6:13 accelerator `b` has no `top_noc_bw`",
                "8:18 PE_local_memory is `18446744073709551616`",
                "10:1 `num_pes` does not belong into the top level of the file",
            ],
        );
    }
}
