//! Distance-based priority for (m,k)-firm deadlines.

use crate::schedule::{Alike, Entry, History, Job, Parameter, Rank, Ranked, View};

pub(super) const ENTRY: Entry = Entry {
    name: "mk-firm",
    help: "(m,k)-firm: the models nearest to fewer than m frames in time of any k first, then by \
           deadline",
    source: "Hamdaoui & Ramanathan, IEEE Trans. Computers 1995",
    parameters: &[
        Parameter::whole("k", 10, [1, 64]).meaning("length of the window in frames"),
        Parameter::whole("m", 8, [1, 64])
            .meaning("frames of it that must be in time, below 45 FPS"),
        Parameter::whole("m_fast", 9, [1, 64])
            .meaning("frames of it that must be in time, from 45 FPS on"),
    ],
    check: |arguments| {
        let k = arguments.whole("k");
        match arguments.whole("m") <= k && arguments.whole("m_fast") <= k {
            true => Ok(()),
            false => Err("m and m_fast are at most k"),
        }
    },
    ..Entry::new(|setup, arguments| {
        let (slow, fast) = (arguments.whole("m"), arguments.whole("m_fast"));
        let models = setup.scenario.models().iter();
        let m_of = models.map(|model| if model.rate.as_fps() < 45.0 { slow } else { fast });
        let firm = Firm { m_of: m_of.collect(), k: arguments.whole("k") };
        Box::new(Ranked::new(firm, setup))
    })
};

struct Firm {
    /// m of every model.
    m_of: Box<[u32]>,
    k: u32,
}

impl Firm {
    /// How many misses in a row lead to fewer than m hits in the last k frames: k − l + 1, where l is
    /// the age of the m-th newest hit, the newest frame being 1; 0 if there are fewer hits already.
    /// Frames before the first count as hits.
    fn distance(&self, history: &History, m: u32) -> u32 {
        let ages = 1..=self.k;
        let mut hits = ages.filter(|age| history.misses >> (age - 1) & 1 == 0);
        hits.nth(m as usize - 1).map_or(0, |age| self.k - age + 1)
    }
}

impl Rank for Firm {
    type Key = u32;

    /// All jobs of a model have the same key.
    fn first_of<'c>(&self, class: &'c Alike, _: &View<'_>) -> Option<&'c Job> {
        class.jobs().next()
    }

    /// Equal distances are decided by the deadline, which comes first in the order of ties.
    fn key(&self, job: &Job, view: &View<'_>) -> u32 {
        let model = job.model.index();
        self.distance(&view.history[model], self.m_of[model])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// k = 4, m = 2, newest first. All hits: the second newest has age 2, 4 − 2 + 1 = 3 misses break
    /// it. Miss, hit, hit, miss: age 3, 2 misses. Miss, miss, miss, hit: one hit only.
    #[test]
    fn the_distance_is_the_number_of_misses_to_failure() {
        let firm = Firm { m_of: [].into(), k: 4 };
        let distance = |misses| firm.distance(&History { misses, ..History::default() }, 2);
        assert_eq!(distance(0b0000), 3);
        assert_eq!(distance(0b1001), 2);
        assert_eq!(distance(0b0111), 0);
        assert_eq!(distance(0b1111_0000), 3);
    }
}
