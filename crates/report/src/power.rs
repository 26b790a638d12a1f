//! Power of the runs of a device, in a few lines.

use xrsim_sim::device::Item;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::Scored;

/// Sums over runs on a device.
#[derive(Debug, Default)]
pub struct Powers {
    device: String,
    n_runs: usize,
    n_devices: usize,
    /// In the order of [`Item::ALL`] \[uJ\].
    items: [f64; Item::ALL.len()],
    seconds: f64,
    peak_w: f64,
    /// Clock \[MHz\] with the sum of the shares of the running time.
    shares: Vec<(f64, f64)>,
}

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
        let (Some(device), Some(ledger)) = (&plan.device, &scored.ledger) else { return };
        if *self.device != *device.name {
            self.device = device.name.to_string();
            self.n_devices += 1;
        }
        self.n_runs += 1;
        for (sum, (item, _)) in self.items.iter_mut().zip(Item::ALL) {
            *sum += ledger.microjoules(item);
        }
        self.seconds += ledger.duration().ns() as f64 / 1e9;
        self.peak_w = self.peak_w.max(ledger.peak_w());
        for (mhz, share) in ledger.shares_by_clock() {
            match self.shares.iter_mut().find(|(known, _)| *known == mhz) {
                Some((_, sum)) => *sum += share,
                None => self.shares.push((mhz, share)),
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
        let device = match self.n_devices {
            1 => format!("device {}", self.device),
            n => format!("{n} devices"),
        };
        let mut note = format!(
            "{device}: {:.3} W on average, {:.3} W in the highest second\n  energy: {}\n",
            all / 1e6 / self.seconds,
            self.peak_w,
            shares.join(", ")
        );
        let mut clocks = self.shares.clone();
        clocks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ran: f64 = clocks.iter().map(|(_, share)| share).sum();
        let clocks = clocks.into_iter().filter(|(_, share)| *share > 0.0);
        let clocks: Vec<_> =
            clocks.map(|(mhz, share)| format!("{mhz} MHz {}", percent(share, ran))).collect();
        if clocks.len() > 1 {
            note += &format!("  running time: {}\n", clocks.join(", "));
        }
        note
    }
}
