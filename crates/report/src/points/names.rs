//! Names of schedulers without the options that all of them have.

/// Options of a scheduler, such as `governor=slack`; none of a program, whose command may look like them.
fn options(scheduler: &str) -> impl Iterator<Item = &str> {
    let given = scheduler.split_once(':').filter(|_| !scheduler.contains("external:"));
    given.into_iter().flat_map(|(_, options)| options.split(','))
}

/// Options that all of several schedulers have.
pub(super) fn shared_options(schedulers: &[String]) -> Vec<String> {
    let [first, others @ ..] = schedulers else { return Vec::new() };
    let mut shared: Vec<&str> = options(first).filter(|_| !others.is_empty()).collect();
    for other in others {
        shared.retain(|option| options(other).any(|own| own == *option));
    }
    shared.into_iter().map(String::from).collect()
}

/// Name of a scheduler without the `shared` options.
pub(super) fn short(scheduler: &str, shared: &[String]) -> String {
    let name = scheduler.split(':').next().unwrap_or_default();
    let own: Vec<_> = options(scheduler).filter(|it| !shared.iter().any(|one| one == it)).collect();
    match (shared.is_empty(), own.is_empty()) {
        (true, _) => scheduler.into(),
        (false, true) => name.into(),
        (false, false) => format!("{name}:{}", own.join(",")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_leave_out_the_options_that_all_schedulers_have() {
        let names = |schedulers: [&str; 2]| {
            let shared = shared_options(&schedulers.map(String::from));
            schedulers.map(|it| short(it, &shared))
        };
        let [plain, race] = ["edf:admission=hopeless", "edf:admission=hopeless,governor=race"];
        assert_eq!(names([plain, race]), ["edf", "edf:governor=race"]);
        assert_eq!(names([plain, "fcfs"]), [plain, "fcfs"]);
        let programs = ["external:./run a,b", "external:./run b,b"];
        assert_eq!(names(programs), programs);
        assert_eq!(shared_options(&[race.into()]), [""; 0]);
    }
}
