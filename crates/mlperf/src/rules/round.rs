//! Rounds of MLPerf Inference, v0.5 to v5.1: query counts, durations and seeds of their rules and
//! configurations.
//!
//! Sources: Reddi et al. (ISCA 2020), Table V; the configurations (`mlperf.conf`), rules and submission
//! checkers of github.com/mlcommons/inference and inference_policies; the seeds of v1.1 as issue 56 of
//! github.com/mlcommons/mobile_app_open gives them, those of v5.0 as pull request 2037 of inference does.

use crate::settings::{LoadGenVersion, LoadScenario, Seeds, TestSettings};

use super::query_count::QueryCount;

/// Minimum number of samples in Offline, unless the data set is smaller and the round accepts that.
const OFFLINE_SAMPLES: u64 = 24_576;

/// Minimum number of queries for a percentile of tail latency, in multi-stream and Server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailQueries {
    /// The statistical count of the percentile: 270,336 at 99 %, 90,112 at 97 % (translation).
    Statistical,
    /// The number that early stopping requires. The configuration demands this number in multi-stream and
    /// none in Server.
    EarlyStopping {
        /// 662, the smallest number with which early stopping estimates the 99th percentile.
        multi_stream: u64,
    },
}

/// Round of submissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// Name, e.g. `v0.7`.
    pub name: &'static str,
    /// Version of LoadGen: definition of multi-stream, early stopping, reported rate.
    pub loadgen: LoadGenVersion,
    /// Minimum number of queries in single-stream; `None` if the configuration has none, which leaves
    /// LoadGen's 100 and the 64 of early stopping.
    pub single_stream_queries: Option<u64>,
    /// Minimum number of queries in multi-stream and Server.
    pub tail_queries: TailQueries,
    /// Whether the size of a data set of fewer than 24,576 samples is enough in Offline.
    pub small_data_sets: bool,
    /// Minimum duration \[ms\].
    pub min_duration_ms: u64,
    /// Number of server runs, the lowest result of which counts.
    ///
    /// The rules went from five to one on 2020-09-23; the submission checker asks for five in v0.5 and
    /// v0.7.
    pub server_runs: u32,
    /// Official seeds.
    pub seeds: Seeds,
}

/// First round, from which the later ones differ in some values.
const V0_5: Round = Round {
    name: "v0.5",
    loadgen: LoadGenVersion::V0_5,
    single_stream_queries: Some(1024),
    tail_queries: TailQueries::Statistical,
    small_data_sets: false,
    min_duration_ms: 60_000,
    server_runs: 5,
    seeds: seeds(3_133_965_575_612_453_542, 665_484_352_860_916_858, 3_622_009_729_038_561_421),
};
const V1_0: Round = Round {
    name: "v1.0",
    loadgen: LoadGenVersion::V1_0,
    min_duration_ms: 600_000,
    server_runs: 1,
    seeds: seeds(7_322_528_924_094_909_334, 1_570_999_273_408_051_088, 3_507_442_325_620_259_414),
    ..V0_5
};
const V2_0: Round = Round {
    name: "v2.0",
    loadgen: LoadGenVersion::V2_0,
    seeds: seeds(6_655_344_265_603_136_530, 15_863_379_492_028_895_792, 12_662_793_979_680_847_247),
    ..V1_0
};
const V3_1: Round = Round {
    name: "v3.1",
    loadgen: LoadGenVersion::V2_1,
    single_stream_queries: None,
    tail_queries: TailQueries::EarlyStopping { multi_stream: 662 },
    seeds: seeds(148_687_905_518_835_231, 520_418_551_913_322_573, 811_580_660_758_947_900),
    ..V2_0
};
const V4_0: Round = Round {
    name: "v4.0",
    small_data_sets: true,
    seeds: seeds(13_281_865_557_512_327_830, 198_141_574_272_810_017, 7_575_108_116_881_280_410),
    ..V3_1
};
const V4_1: Round = Round {
    name: "v4.1",
    loadgen: LoadGenVersion::V4_1,
    seeds: seeds(3_066_443_479_025_735_752, 10_688_027_786_191_513_374, 14_962_580_496_156_340_209),
    ..V4_0
};

/// Every round, oldest first.
pub const ROUNDS: [Round; 12] = [
    V0_5,
    Round {
        name: "v0.7",
        seeds: seeds(
            12_786_827_339_337_101_903,
            12_640_797_754_436_136_668,
            3_135_815_929_913_719_677,
        ),
        ..V0_5
    },
    V1_0,
    Round {
        name: "v1.1",
        seeds: seeds(
            1_624_344_308_455_410_291,
            517_984_244_576_520_566,
            10_051_496_985_653_635_065,
        ),
        ..V1_0
    },
    V2_0,
    Round {
        name: "v2.1",
        loadgen: LoadGenVersion::V2_1,
        seeds: seeds(
            14_284_205_019_438_841_327,
            4_163_916_728_725_999_944,
            299_063_814_864_929_621,
        ),
        ..V2_0
    },
    Round {
        name: "v3.0",
        loadgen: LoadGenVersion::V2_1,
        seeds: seeds(
            10_003_631_887_983_097_364,
            17_183_018_601_990_103_738,
            12_134_888_396_634_371_638,
        ),
        ..V2_0
    },
    V3_1,
    V4_0,
    V4_1,
    Round {
        name: "v5.0",
        seeds: seeds(
            6_023_615_788_873_153_749,
            15_036_839_855_038_426_416,
            9_933_818_062_894_767_841,
        ),
        ..V4_1
    },
    Round {
        name: "v5.1",
        loadgen: LoadGenVersion::V5_1,
        seeds: seeds(
            1_780_908_523_862_526_354,
            14_771_362_308_971_278_857,
            18_209_322_760_996_052_031,
        ),
        ..V4_1
    },
];

const fn seeds(qsl: u64, sample_index: u64, schedule: u64) -> Seeds {
    Seeds { qsl, sample_index, schedule }
}

impl Round {
    /// Round called `name`; the `v` and a `.0` may be omitted, as in `v5` or `5`.
    pub fn find(name: &str) -> Option<&'static Self> {
        let bare = |name: &str| {
            let name = name.strip_prefix('v').unwrap_or(name);
            name.strip_suffix(".0").unwrap_or(name).to_owned()
        };
        ROUNDS.iter().find(|round| bare(round.name) == bare(name))
    }

    /// Minimum number of queries of `scenario` at `percentile`, a fraction; `None` if the configuration has
    /// none, and in Offline, which counts samples.
    pub fn queries(&self, scenario: LoadScenario, percentile: f64) -> Option<u64> {
        match (scenario, self.tail_queries) {
            (LoadScenario::SingleStream, _) => self.single_stream_queries,
            (LoadScenario::Offline, _) => None,
            (_, TailQueries::Statistical) => Some(QueryCount::for_percentile(percentile).rounded),
            (LoadScenario::MultiStream, TailQueries::EarlyStopping { multi_stream }) => {
                Some(multi_stream)
            }
            (LoadScenario::Server, TailQueries::EarlyStopping { .. }) => None,
        }
    }

    /// Minimum number of samples in Offline with a data set of `data_set` samples.
    pub(crate) fn offline_samples(&self, data_set: u64) -> u64 {
        match self.small_data_sets {
            true => data_set.min(OFFLINE_SAMPLES),
            false => OFFLINE_SAMPLES,
        }
    }

    /// Requested settings of `scenario` in this round, for a task that is judged at `percentile`, a
    /// fraction in (0, 1), with a data set of `data_set` samples. Rates, expected latencies, intervals and
    /// bounds depend on the task and the submitter; they have LoadGen's defaults.
    pub fn settings(&self, scenario: LoadScenario, percentile: f64, data_set: u64) -> TestSettings {
        let defaults = TestSettings::new(scenario);
        let least = match scenario {
            LoadScenario::Offline => Some(self.offline_samples(data_set)),
            _ => self.queries(scenario, percentile),
        };
        TestSettings {
            single_stream_target_latency_percentile: percentile,
            multi_stream_target_latency_percentile: percentile,
            server_target_latency_percentile: percentile,
            min_duration_ms: self.min_duration_ms,
            min_query_count: least.unwrap_or(defaults.min_query_count),
            seeds: self.seeds,
            ..defaults
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{EffectiveSettings, QuerySampleLibrary};

    fn queries(name: &str, percentile: f64) -> [Option<u64>; 3] {
        let round = Round::find(name).unwrap();
        let scenarios =
            [LoadScenario::SingleStream, LoadScenario::MultiStream, LoadScenario::Server];
        scenarios.map(|scenario| round.queries(scenario, percentile))
    }

    /// Table V of the paper for v0.5, and the configurations since.
    #[test]
    fn counts_are_those_of_the_rounds() {
        for name in ["v0.5", "v0.7", "v1.0", "v1.1", "v2.0", "v2.1", "v3.0"] {
            assert_eq!(queries(name, 0.99), [Some(1024), Some(270_336), Some(270_336)], "{name}");
            assert_eq!(queries(name, 0.97), [Some(1024), Some(90_112), Some(90_112)], "{name}");
        }
        for name in ["v3.1", "v4.0", "v4.1", "v5.0", "v5.1"] {
            assert_eq!(queries(name, 0.99), [None, Some(662), None], "{name}");
        }
    }

    #[test]
    fn rules_change_where_they_changed() {
        let first =
            |holds: fn(&Round) -> bool| ROUNDS.iter().find(|round| holds(round)).unwrap().name;
        assert_eq!(first(|round| round.min_duration_ms == 600_000), "v1.0");
        assert_eq!(first(|round| round.server_runs == 1), "v1.0");
        assert_eq!(first(|round| round.loadgen.has_early_stopping()), "v2.0");
        assert_eq!(first(|round| !round.loadgen.has_fixed_interval()), "v2.0");
        assert_eq!(first(|round| round.offline_samples(5000) == 5000), "v4.0");
        assert_eq!(first(|round| round.loadgen.reports_completion()), "v4.1");
        assert!(ROUNDS.iter().all(|round| round.offline_samples(50_000) == 24_576));
    }

    #[test]
    fn no_two_rounds_share_seeds() {
        let mut seeds: Vec<_> = ROUNDS
            .iter()
            .flat_map(|round| [round.seeds.qsl, round.seeds.sample_index, round.seeds.schedule])
            .collect();
        seeds.sort_unstable();
        seeds.dedup();
        assert_eq!(seeds.len(), 3 * ROUNDS.len());
    }

    #[test]
    fn rounds_are_found_by_name() {
        for (name, found) in [("v0.5", "v0.5"), ("5", "v5.0"), ("v5", "v5.0"), ("1.1", "v1.1")] {
            assert_eq!(Round::find(name).map(|round| round.name), Some(found));
        }
        for name in ["", "v", "v0.6", "v9", "v5.0.0", "latest"] {
            assert_eq!(Round::find(name), None, "{name}");
        }
    }

    #[test]
    fn every_round_has_settings_for_every_scenario() {
        let library = QuerySampleLibrary { performance_samples: 1024, total_samples: 50_000 };
        for round in &ROUNDS {
            for scenario in LoadScenario::ALL {
                let requested = round.settings(scenario, 0.99, 50_000);
                let settings = EffectiveSettings::new(&requested, library, round.loadgen).unwrap();
                let least = round.queries(scenario, 0.99).unwrap_or(match scenario {
                    LoadScenario::Offline => 1,
                    _ => 100,
                });
                assert_eq!(settings.min_query_count, least, "{} {scenario}", round.name);
            }
        }
    }
}
