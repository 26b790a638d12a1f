//! Names of the files of results that stand beside the folders of the tasks.

/// The tests of a suite as a table.
pub const SUITE: &str = "suite.csv";
/// The tenants as a table.
pub const TENANTS: &str = "tenants.csv";
/// The record.
pub const RECORD: &str = "mlperf.json";
/// The figure of server over offline, without its ending.
pub const SERVER_TO_OFFLINE: &str = "server_to_offline";
/// The files of that figure.
pub const OF_SERVER_TO_OFFLINE: [&str; 2] = ["server_to_offline.svg", "server_to_offline.csv"];

/// Every one of them; no folder of a task has such a name.
pub const ALL: [&str; 5] =
    [SUITE, TENANTS, RECORD, OF_SERVER_TO_OFFLINE[0], OF_SERVER_TO_OFFLINE[1]];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_figure_are_named_after_it() {
        let stems = OF_SERVER_TO_OFFLINE.map(|name| name.rsplit_once('.').map(|(stem, _)| stem));
        assert_eq!(stems, [Some(SERVER_TO_OFFLINE); 2]);
    }
}
