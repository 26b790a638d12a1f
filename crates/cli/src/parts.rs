//! Parts of a command: some of its points each, made by processes of their own (`--shard`), and joined to the
//! result of one process (`--join`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use xrsim_model::cost::ChosenMappings;
use xrsim_sim::sweep::grid::Shard;

use super::cluster::{self, ClusterOptions, Estimate, Form, Job};
use super::journal::{Manifest, PartRows, Parts, place};
use super::mappings::Mappings;
use super::message::Failure;
use super::progress::Progress;

/// Reads a part, such as `2/5`.
///
/// # Errors
///
/// Returns the form of a part.
pub(super) fn shard(text: &str) -> Result<Shard, &'static str> {
    let number = |text: &str| text.trim().parse().ok();
    let shard =
        text.split_once('/').and_then(|(part, count)| Some((number(part)?, number(count)?)));
    let shard = shard.and_then(|(part, count)| Shard::new(part, count));
    shard.ok_or("a part is I/N, such as 2/5, with I from 1 to N")
}

/// Options of a command whose parts have folders.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartOptions<'a> {
    pub out: &'a Option<PathBuf>,
    pub shard: &'a Option<Shard>,
    pub join: &'a Vec<PathBuf>,
    pub restart: &'a bool,
    pub cluster: &'a ClusterOptions,
}

impl<'a> PartOptions<'a> {
    /// Refuses parts that cannot be made: for one of the `reasons` that hold, or without a folder.
    ///
    /// # Errors
    ///
    /// Returns a failure that says why, and what to do.
    pub(super) fn refuse_undivided(&self, reasons: &[(bool, &str)]) -> Result<(), Failure> {
        let has_parts = self.cluster.has_parts();
        if self.shard.is_none() && self.join.is_empty() && !has_parts {
            return Ok(());
        }
        if has_parts && !self.join.is_empty() {
            refuse!("--join is for the end: the job of --sbatch joins its parts itself");
        }
        if let Some((_, reason)) = reasons.iter().find(|(holds, _)| *holds) {
            refuse!("{reason}");
        }
        if self.shard.is_some() && self.out.is_none() {
            refuse!("a part needs a folder: give --out DIR, and later --join DIR for each part");
        }
        Ok(())
    }

    /// Files of the part that is to be made, if one is.
    pub(super) fn written(&self) -> Option<[PathBuf; 2]> {
        self.shard.and(self.out.as_deref()).map(files)
    }

    /// Files of the parts that are joined.
    pub(super) fn joined(&self) -> impl Iterator<Item = PathBuf> + use<'a> {
        self.join.iter().flat_map(|folder| files(folder))
    }
}

/// Files of a part in `folder`.
fn files(folder: &Path) -> [PathBuf; 2] {
    let rows = PartRows::path(folder);
    [place(&rows), rows]
}

/// A command as points, each with a result of one line. Its parts have some points each.
pub(super) struct Division<'a> {
    pub command: &'static str,
    /// Result of the command, in words.
    pub result: &'static str,
    /// Points in words, in the plural.
    pub things: &'static str,
    pub n_points: u64,
    /// Everything that the results depend on, besides inputs.
    pub settings: Value,
    /// SHA-256 of inputs by name.
    pub inputs: BTreeMap<String, String>,
    pub options: PartOptions<'a>,
}

impl Division<'_> {
    /// The record of a part.
    fn manifest(&self, shard: Shard) -> Manifest {
        let (settings, inputs) = (self.settings.clone(), self.inputs.clone());
        Manifest::of_part(self.command, settings, inputs, self.n_points, shard)
    }

    /// Prints the estimate of the command, or prints or submits the job of its parts.
    ///
    /// # Errors
    ///
    /// Returns a failure for options that have no parts, and those of the job.
    pub(super) fn hand_over(
        &self,
        estimate: impl FnOnce() -> Result<Estimate, Failure>,
    ) -> Result<(), Failure> {
        let job = Job {
            command: self.command,
            things: self.things,
            n_things: self.n_points,
            form: Form::Folder(PartRows::NAME),
            out: self.options.out.as_deref().unwrap_or(Path::new("")),
            spec: None,
            digest: self.manifest(Shard::WHOLE).digest(),
        };
        cluster::hand_over(&job, self.options.cluster, estimate)
    }

    /// The part that is asked for, with the rows that are in its folder already. `progress` gets the number of its
    /// points and that of these rows.
    ///
    /// # Errors
    ///
    /// Returns a failure for a folder of other points, or one that cannot be written to.
    pub(super) fn part(
        &self,
        progress: impl FnOnce(u64, u64) -> Progress,
    ) -> Result<PartRows, Failure> {
        let PartOptions { shard, out, restart, cluster, .. } = self.options;
        let manifest = self.manifest(shard.expect("a part is asked for"));
        cluster.refuse_changed(|| manifest.digest())?;
        let folder = out.as_deref().expect("a part has a folder");
        PartRows::open(folder, *restart, manifest, self.things, progress)
    }

    /// The parts in the folders of `--join`.
    ///
    /// # Errors
    ///
    /// Returns a failure for parts of other points, and for points that are in no part or in two.
    pub(super) fn joined(&self) -> Result<Parts, Failure> {
        let own = self.manifest(Shard::WHOLE);
        self.options.cluster.refuse_changed(|| own.digest())?;
        let files: Vec<_> = self.options.join.iter().map(|folder| PartRows::path(folder)).collect();
        let parts = Parts::read(self.command, &files)?;
        let other = own.of_whole().difference(parts.whole());
        match other.or_else(|| parts.whole().refusal()) {
            None => Ok(parts),
            Some(difference) => Err(self.refusal(&difference)),
        }
    }

    /// The mappings of `parts` and those that this command chose.
    ///
    /// # Errors
    ///
    /// Returns a failure for parts with other mappings.
    pub(super) fn with_mappings(
        &self,
        parts: &Parts,
        chosen: &ChosenMappings,
    ) -> Result<Mappings, Failure> {
        let (mut all, own) = (parts.whole().mappings(), Mappings::of(chosen));
        if let Some(difference) = own.difference(&all) {
            return Err(self.refusal(&difference));
        }
        all.merge(&own);
        Ok(all)
    }

    fn refusal(&self, difference: &str) -> Failure {
        let first = self.options.join.first().map(|folder| PartRows::path(folder));
        Failure::Argument(format!(
            "{} is the part of another {}: {difference}; give the options of the parts with --join",
            first.unwrap_or_default().display(),
            self.result
        ))
    }
}
