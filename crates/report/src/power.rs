//! Power of the runs of a device, in a few lines.

use xrsim_sim::device::{Item, Ledger};
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::Scored;

/// Sums over runs on a device, which all runs of a command share.
#[derive(Debug, Default)]
pub struct Powers {
    device: String,
    n_runs: usize,
    /// In the order of [`Item::ALL`] \[uJ\].
    items: [f64; Item::ALL.len()],
    seconds: f64,
    peak_w: f64,
    /// Running time of all accelerators at each clock \[MHz, ns\].
    running: Vec<(f64, u128)>,
    /// Instants at which the battery was empty, one for each run that it ended \[s\].
    empty_at_s: Vec<f64>,
}

/// Requests of a run after the stop of its device.
pub const NO_LATER_REQUESTS: &str = "later requests do not count";

/// Items in words, in the order of the report: what is not of the accelerators first.
const WORDS: [(Item, &str); 8] = [
    (Item::Base, "base"),
    (Item::DramBackground, "DRAM background"),
    (Item::Dynamic, "layers"),
    (Item::Moved, "moved data"),
    (Item::LeakRunning, "leakage while running"),
    (Item::Idle, "idling"),
    (Item::Gated, "gated"),
    (Item::Wake, "waking up"),
];

impl Powers {
    /// Adds a run, if it has a device.
    pub fn take(&mut self, plan: &Plan, scored: &Scored) {
        if let (Some(device), Some(ledger)) = (&plan.device, &scored.ledger) {
            self.add(&device.name, ledger);
            let stopped = scored.body.as_ref().and_then(|body| body.stopped());
            self.empty_at_s.extend(stopped.map(|(at, _)| at.ns() as f64 / 1e9));
        }
    }

    /// Adds a run on the device called `device`.
    pub fn add(&mut self, device: &str, ledger: &Ledger) {
        if self.n_runs == 0 {
            self.device = device.into();
        }
        self.n_runs += 1;
        for (sum, (item, _)) in self.items.iter_mut().zip(Item::ALL) {
            *sum += ledger.microjoules(item);
        }
        self.seconds += ledger.duration().ns() as f64 / 1e9;
        self.peak_w = self.peak_w.max(ledger.peak_w());
        for (mhz, ns) in ledger.running_by_clock() {
            match self.running.iter_mut().find(|(known, _)| *known == mhz) {
                Some((_, sum)) => *sum += ns,
                None => self.running.push((mhz, ns)),
            }
        }
    }

    /// Mean power with the shares of the items, and the points that ran; empty without a device.
    pub fn note(&self) -> String {
        let all: f64 = self.items.iter().sum();
        if self.n_runs == 0 || self.seconds == 0.0 {
            return String::new();
        }
        let percent = |part: f64, whole: f64| match whole > 0.0 {
            true => format!("{:.1} %", 100.0 * part / whole),
            false => "0 %".into(),
        };
        let share = |(item, words): (Item, &str)| {
            let energy = self.items[item as usize];
            (energy != 0.0).then(|| format!("{words} {}", percent(energy, all)))
        };
        let shares: Vec<_> = WORDS.into_iter().filter_map(share).collect();
        let mut note = format!(
            "device {}: {:.3} W on average, {:.3} W in the highest second\n",
            self.device,
            all / 1e6 / self.seconds,
            self.peak_w
        );
        note += &self.early_ends();
        note += &list("energy:", &shares);
        let mut clocks = self.running.clone();
        clocks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ran: u128 = clocks.iter().map(|(_, ns)| ns).sum();
        let clocks = clocks.into_iter().filter(|(_, ns)| *ns > 0);
        let clocks = clocks
            .map(|(mhz, ns)| format!("{mhz} MHz {}", percent(ns as f64, ran as f64)))
            .collect::<Vec<_>>();
        if clocks.len() > 1 {
            note += &list("running time:", &clocks);
        }
        note
    }
}

impl Powers {
    /// How many runs end with an empty battery, and when.
    fn early_ends(&self) -> String {
        let ends = self.empty_at_s.iter().copied();
        let (Some(first), Some(last)) = (ends.clone().reduce(f64::min), ends.reduce(f64::max))
        else {
            return String::new();
        };
        let [first, last] = [first, last].map(|it| format!("{it:.3}"));
        let when = if first == last { first } else { format!("{first} to {last}") };
        let (n, all) = (self.empty_at_s.len(), self.n_runs);
        format!("  battery: empty after {when} s in {n} of {all} runs; {NO_LATER_REQUESTS}\n")
    }
}

/// Characters of a line.
const WIDTH: usize = 80;

/// Items after a word, below a title, in lines between which no item is broken.
fn list(word: &str, items: &[String]) -> String {
    let mut text = format!("  {word}");
    let mut used = text.chars().count();
    for (index, item) in items.iter().enumerate() {
        let comma = if index + 1 < items.len() { "," } else { "" };
        let length = item.chars().count() + comma.len() + 1;
        if index > 0 && used + length > WIDTH {
            text += "\n   ";
            used = 3;
        }
        text += &format!(" {item}{comma}");
        used += length;
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_a_long_list_are_in_lines_of_eighty_characters() {
        let items: Vec<_> = (0..8).map(|n| format!("an item of energy {n} 12.5 %")).collect();
        let text = list("energy:", &items);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        // 9 characters, then items of 28 with blank and comma: two in the first line, two in each other one of 3 + 28 n.
        assert_eq!(text.lines().count(), 4);
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>().join(" "),
            format!("energy: {}", items.join(", "))
        );
    }
}
