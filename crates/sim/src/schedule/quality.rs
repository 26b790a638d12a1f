//! Choice among several networks of a model, before a request begins.

use xrsim_model::ids::WorkId;

use super::{Job, Quality, View};

impl Quality {
    /// The one of `works`, rows of the costs in the order of preference, that `job`, which has not begun, is to run: the
    /// cheapest one, or one that fits if the rule is [`Quality::Fitting`]. `None` if no idle accelerator can run any.
    /// [`Quality::First`] runs the first one in any case, and is not asked.
    pub(crate) fn pick(
        self,
        job: &Job,
        works: impl Iterator<Item = WorkId> + Clone,
        view: &View<'_>,
    ) -> Option<WorkId> {
        let time = |work: WorkId| {
            let job = Job { work, ..*job };
            view.idle_for(&job).map(|accelerator| view.remaining(&job, accelerator)).min()
        };
        let offered = works.filter_map(|work| Some((work, time(work)?)));
        let fits = || offered.clone().find(|(_, time)| view.now + *time <= job.deadline);
        let fitting = if self == Self::Fitting { fits() } else { None };
        fitting.or_else(|| offered.min_by_key(|(_, time)| *time)).map(|(work, _)| work)
    }
}
