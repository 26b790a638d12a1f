//! The process that writes a part, for its record: whoever looks at a part finds the process by it.

use std::{env, fs, process};

use serde::{Deserialize, Serialize};

use xrsim_model::text;

/// Host, process and Slurm job of a command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Writer {
    /// Name of the host; absent where the system does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Process id on the host.
    pub process: u32,
    /// Slurm job: `JOB`, or `JOB_TASK` for a task of an array. Absent outside of Slurm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slurm_job: Option<String>,
}

/// File in which Linux keeps the name of the host.
const HOST_FILE: &str = "/proc/sys/kernel/hostname";

/// Variables in which other systems keep it.
const HOST_VARIABLES: [&str; 2] = ["HOSTNAME", "COMPUTERNAME"];

impl Writer {
    /// This process.
    pub(super) fn of_process() -> Self {
        let host = fs::read_to_string(HOST_FILE).ok();
        let host = host.or_else(|| HOST_VARIABLES.into_iter().find_map(variable));
        Self {
            host: host.map(|name| text::in_line(name.trim())),
            process: process::id(),
            slurm_job: slurm_job(variable),
        }
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The job that Slurm says in its variables. `SLURM_JOB_ID` of a task of an array is a number that users do
/// not see.
fn slurm_job(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let job = match (variable("SLURM_ARRAY_JOB_ID"), variable("SLURM_ARRAY_TASK_ID")) {
        (Some(job), Some(task)) => format!("{job}_{task}"),
        _ => variable("SLURM_JOB_ID")?,
    };
    Some(text::in_line(&job))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_of_an_array_is_named_as_squeue_names_it() {
        let job = |set: &[(&str, &str)]| {
            slurm_job(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.to_string())
            })
        };
        assert_eq!(job(&[]), None);
        assert_eq!(job(&[("SLURM_JOB_ID", "22")]), Some("22".into()));
        let task =
            [("SLURM_JOB_ID", "25"), ("SLURM_ARRAY_JOB_ID", "22"), ("SLURM_ARRAY_TASK_ID", "2")];
        assert_eq!(job(&task), Some("22_2".into()));
    }
}
