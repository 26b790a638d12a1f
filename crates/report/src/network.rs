//! Facts that follow from the layers of a network and are not in its file.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use xrsim_model::model::{Connections, Network, Parameter};

/// A network and its published size.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The network.
    pub network: &'a Network,
    /// Parameters that are not weights of a layer.
    pub other_parameters: u64,
    /// Number of them that vanish if batch normalisations are folded into the layers before.
    pub batch_norm_channels: u64,
    /// Published parameters.
    pub published_parameters: Option<u64>,
    /// Published multiply-accumulates.
    pub published_macs: Option<u64>,
    /// Comparison with executed code.
    pub trace: Option<Trace<'a>>,
}

/// Comparison of the layers with multiply-accumulates with those of executed code.
#[derive(Debug, Clone, Copy)]
pub struct Trace<'a> {
    /// Code.
    pub code: &'a str,
    /// Number of equal layers; 0 if only totals were compared.
    pub layers: u32,
    /// Number of layers with equal sources; `None` if they were not compared.
    pub edges: Option<u32>,
    /// Limit of the comparison; empty for none.
    pub remark: &'a str,
}

impl Facts<'_> {
    /// Lines of comments in YAML: values of parameters that extents depend on, layers by class in order of
    /// first use, weights with their size at their bits, parameters without batch normalisations if those
    /// fold away, parameters, and multiply-accumulates. A published number follows the computed one, with the deviation of the
    /// computed one from it. A comparison with executed code ends them.
    pub fn to_comments(self) -> String {
        if self.network.is_measured() {
            return "# measured as a whole: its costs are rows of a table\n".into();
        }
        let mut text = self.parameter_values();
        let weights = self.network.weights();
        let (mebibytes, bits) = (self.weight_mebibytes(), self.weight_bits());
        text += &format!(
            "# {} layers: {}\n# weights: {} ({mebibytes:.3} MiB at {bits})\n",
            grouped(self.network.layers().len() as u64),
            self.classes(),
            grouped(weights),
        );
        if self.batch_norm_channels > 0 {
            let folded = self.parameters().saturating_sub(self.batch_norm_channels);
            text += &format!("# parameters, batch normalisations folded: {}\n", grouped(folded));
        }
        let parameters = against(self.parameters(), self.published_parameters);
        let macs = against(self.network.macs(), self.published_macs);
        text += &format!("# parameters: {parameters}\n# multiply-accumulates: {macs}\n");
        if self.network.connections() == Connections::Incomplete {
            text += "# connections are incomplete: shapes between layers are not checked\n";
        }
        if let Some(trace) = self.trace {
            text += &format!("# traced from {}: {}\n", trace.code, self.verdict(trace));
        }
        text
    }

    /// Size of the weights, where their bits are left to the hardware at 8.
    fn weight_mebibytes(&self) -> f64 {
        let own = self.network.layers().iter().filter(|layer| !layer.shares_weights);
        let bits = own.map(|layer| {
            layer.operator.weights() as f64 * f64::from(layer.bits.weights.unwrap_or(8))
        });
        bits.sum::<f64>() / 8.0 / f64::from(1 << 20)
    }

    /// Bits of the weights in words.
    fn weight_bits(&self) -> String {
        let of_layers = self.network.layers().iter().filter(|layer| layer.operator.weights() > 0);
        let bits = of_layers.map(|layer| layer.bits.weights.unwrap_or(8));
        let bits: Vec<_> = bits.collect::<BTreeSet<_>>().iter().map(u32::to_string).collect();
        if bits.is_empty() { "8 bit".into() } else { format!("{} bit", bits.join(" and ")) }
    }

    /// A line for every parameter that extents depend on.
    fn parameter_values(&self) -> String {
        let line = |it: &Parameter| {
            let (low, high) = it.allowed.clone().into_inner();
            let default = match it.is_default() {
                true => "default".into(),
                false => format!("default {}", grouped(it.default.into())),
            };
            let reason =
                if it.reason.is_empty() { String::new() } else { format!(": {}", it.reason) };
            let [value, low, high] = [it.value, low, high].map(|it| grouped(it.into()));
            format!("# with {} {value}, from {low} to {high} ({default}{reason})\n", it.name)
        };
        self.network.parameters().iter().map(line).collect()
    }

    /// Number of layers with multiply-accumulates.
    fn mac_layers(&self) -> usize {
        self.network.layers().iter().filter(|it| it.operator.macs() > 0).count()
    }

    /// Comparison with executed code in words.
    fn verdict(&self, trace: Trace<'_>) -> String {
        let known = grouped(self.mac_layers() as u64);
        let mut text = match trace.layers {
            0 => "totals only".into(),
            n if n as usize == self.mac_layers() => {
                format!("every operator equal, {known} with multiply-accumulates")
            }
            n => format!(
                "{} of {known} operators with multiply-accumulates equal",
                grouped(n.into())
            ),
        };
        match trace.edges {
            Some(n) if n == trace.layers => text += ", and their sources",
            Some(n) => text += &format!(", and the sources of {}", grouped(n.into())),
            None if trace.layers > 0 => text += "; sources not compared",
            None => {}
        }
        match trace.remark {
            "" => text,
            remark => format!("{text} ({remark})"),
        }
    }

    /// Comparison with executed code in one word: equal layers of all, `totals`, or `-` for none.
    pub fn traced(&self) -> String {
        match self.trace {
            None => "-".into(),
            Some(Trace { layers: 0, .. }) => "totals".into(),
            Some(Trace { layers, .. }) => format!("{layers}/{}", self.mac_layers()),
        }
    }

    fn parameters(&self) -> u64 {
        self.network.weights().saturating_add(self.other_parameters)
    }

    /// Parameters and multiply-accumulates in one line, with their deviations.
    pub fn summary(&self) -> String {
        format!(
            "{} parameters; {} MACs",
            against(self.parameters(), self.published_parameters),
            against(self.network.macs(), self.published_macs)
        )
    }

    fn classes(&self) -> String {
        let mut counts: Vec<(&str, u64)> = Vec::new();
        for layer in self.network.layers() {
            let name = layer.operator.name();
            match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => counts.push((name, 1)),
            }
        }
        let class = |(name, count): &(&str, u64)| format!("{} {name}", grouped(*count));
        counts.iter().map(class).collect::<Vec<_>>().join(", ")
    }
}

/// A computed number, followed by the published one.
fn against(found: u64, published: Option<u64>) -> String {
    let mut text = grouped(found);
    if let Some(published) = published {
        let deviation = found as f64 / published as f64 - 1.0;
        // Adding zero removes the sign of a negative zero.
        let deviation_percent = (deviation * 1000.0).round() / 10.0 + 0.0;
        let published = grouped(published);
        write!(text, "; published {published}, deviation {deviation_percent:+.1} %")
            .expect("writing to a string");
    }
    text
}

/// Digits in groups of three.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let head = (digits.len() - 1) % 3 + 1;
    let mut text = digits[..head].to_string();
    for group in (head..digits.len()).step_by(3) {
        text.push(',');
        text.push_str(&digits[group..group + 3]);
    }
    text
}

#[cfg(test)]
mod tests {
    use xrsim_model::model::{
        ConvShape, Layer, MatmulShape, Network, Operator, VectorOp, VectorShape,
    };

    use super::*;

    #[test]
    fn numbers_are_grouped_from_the_right() {
        let numbers = [0, 12, 123, 1234, 123_456, 1_234_567];
        let texts = numbers.map(grouped);
        assert_eq!(texts, ["0", "12", "123", "1,234", "123,456", "1,234,567"]);
    }

    /// Two 1x1 convolutions of 4 x 4 channels at 8x8 positions, the second with the weights of the
    /// first: 2 x 1,024 multiply-accumulates, 16 weights. A sum: neither. A product of 1 x 64 with
    /// 64 x 2: 128 of both.
    #[test]
    fn facts_count_shared_weights_once() {
        let conv = ConvShape { k: 4, c: 4, y: 8, x: 8, ..ConvShape::UNIT };
        let sum = VectorShape::new(VectorOp::Add, 512, 256, 1);
        let product = MatmulShape { instances: 1, rows: 1, k: 2, c: 64, activations: false };
        let mut layers: Vec<_> =
            [conv.into(), conv.into(), Operator::Vector(sum), Operator::Matmul(product)]
                .map(|operator: Operator| Layer::new("", operator))
                .into();
        layers[1].shares_weights = true;
        let facts = Facts {
            network: &Network::new("", layers).expect("four good layers"),
            other_parameters: 6,
            batch_norm_channels: 2,
            published_parameters: Some(120),
            published_macs: None,
            trace: None,
        };
        assert_eq!(
            facts.to_comments(),
            "# 4 layers: 2 CONV, 1 add, 1 GEMM\n\
             # weights: 144 (0.000 MiB at 8 bit)\n\
             # parameters, batch normalisations folded: 148\n\
             # parameters: 150; published 120, deviation +25.0 %\n\
             # multiply-accumulates: 2,176\n"
        );
    }

    #[test]
    fn a_trace_says_what_was_compared() {
        let product = MatmulShape { instances: 1, rows: 1, k: 2, c: 64, activations: false };
        let sum = VectorShape::new(VectorOp::Add, 4, 2, 1);
        let operators =
            [Operator::Matmul(product), Operator::Matmul(product), Operator::Vector(sum)];
        let layers = operators.map(|operator| Layer::new("", operator));
        let network = Network::new("", layers.into()).expect("three good layers");
        let of = |layers, edges, remark| {
            let facts = Facts {
                network: &network,
                other_parameters: 0,
                batch_norm_channels: 0,
                published_parameters: None,
                published_macs: None,
                trace: Some(Trace { code: "code", layers, edges, remark }),
            };
            let last = facts.to_comments().lines().last().map(String::from);
            (facts.traced(), last.expect("several lines"))
        };
        for (found, cell, line) in [
            (of(0, None, ""), "totals", "totals only"),
            (
                of(1, None, "backbone"),
                "1/2",
                "1 of 2 operators with multiply-accumulates equal; sources not compared (backbone)",
            ),
            (
                of(2, Some(1), ""),
                "2/2",
                "every operator equal, 2 with multiply-accumulates, and the sources of 1",
            ),
            (
                of(2, Some(2), ""),
                "2/2",
                "every operator equal, 2 with multiply-accumulates, and their sources",
            ),
        ] {
            assert_eq!(found, (cell.into(), format!("# traced from code: {line}")));
        }
    }
}
