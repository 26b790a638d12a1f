//! Names of the files of results.

/// Table of the tests of a suite.
pub const SUITE: &str = "suite.csv";
/// Table of the tenants.
pub const TENANTS: &str = "tenants.csv";
/// Table of the device in every test.
pub const DEVICE: &str = "device.csv";
/// Record of the results and their provenance.
pub const RECORD: &str = "mlperf.json";
/// Figure of server over offline throughput, without its extension.
pub const SERVER_TO_OFFLINE: &str = "server_to_offline";
/// Files of that figure, of which the caption is written for figures without titles.
pub(crate) const OF_SERVER_TO_OFFLINE: [&str; 4] = [
    "server_to_offline.svg",
    "server_to_offline.pdf",
    "server_to_offline.csv",
    "server_to_offline.txt",
];

/// Summary of a test, in LoadGen's format.
pub const SUMMARY: &str = "mlperf_log_summary.txt";
/// Detailed log of a test, in LoadGen's format.
pub const DETAIL: &str = "mlperf_log_detail.txt";
/// Accuracy log of a test, in LoadGen's format.
pub const ACCURACY: &str = "mlperf_log_accuracy.json";
/// LoadGen's files of a test.
pub const LOGS: [&str; 3] = [SUMMARY, DETAIL, ACCURACY];
/// Table of the queries of a test.
pub const QUERIES: &str = "queries.csv";
/// Table of latency over rate of a server.
pub const CURVE: &str = "curve.csv";
/// Figure of latency over rate of a server, without its extension.
pub const CURVE_FIGURE: &str = "curve";

/// Files beside the folders of the tasks; no folder of a task may have such a name.
pub const ALL: [&str; 8] = {
    let [svg, pdf, csv, txt] = OF_SERVER_TO_OFFLINE;
    [SUITE, TENANTS, DEVICE, RECORD, svg, pdf, csv, txt]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_figure_are_named_after_it() {
        let stems = OF_SERVER_TO_OFFLINE.map(|name| name.rsplit_once('.').map(|(stem, _)| stem));
        assert_eq!(stems, [Some(SERVER_TO_OFFLINE); 4]);
    }
}
