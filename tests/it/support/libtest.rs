//! Options of `cargo test`, for test programs that have a `main` of their own.

/// Options with a value, as `--option value` or `--option=value`.
const WITH_VALUE: [&str; 7] =
    ["--test-threads", "--skip", "--color", "--format", "--logfile", "--shuffle-seed", "-Z"];

/// Options without a value that change nothing here.
const FLAGS: [&str; 14] = [
    "--nocapture",
    "--no-capture",
    "--show-output",
    "--quiet",
    "-q",
    "--include-ignored",
    "--test",
    "--bench",
    "--report-time",
    "--ensure-time",
    "--shuffle",
    "--force-run-in-process",
    "--exclude-should-panic",
    "--",
];

/// Arguments of a test program.
#[derive(Debug, Default)]
pub struct Arguments {
    /// Options of this program only, each with its value.
    pub own: Vec<(String, String)>,
    filters: Vec<String>,
    skipped: Vec<String>,
    is_exact: bool,
    /// These programs ignore no test.
    is_of_ignored: bool,
    is_list: bool,
}

impl Arguments {
    /// Arguments of a program that has the options `own`, with a value each, in addition to the options of
    /// every test program.
    pub fn parse(
        arguments: impl IntoIterator<Item = String>,
        own: &[&str],
    ) -> Result<Self, String> {
        let mut found = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            if !argument.starts_with('-') {
                found.filters.push(argument);
                continue;
            }
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_string())),
                None => (&*argument, None),
            };
            if own.contains(&name) || WITH_VALUE.contains(&name) {
                let value = value.or_else(|| arguments.next());
                let value = value.ok_or_else(|| format!("{name} takes a value"))?;
                found.add(name, value, own);
            } else {
                found.set(&argument)?;
            }
        }
        Ok(found)
    }

    fn add(&mut self, name: &str, value: String, own: &[&str]) {
        if name == "--skip" {
            self.skipped.push(value);
        } else if own.contains(&name) {
            self.own.push((name.into(), value));
        }
    }

    fn set(&mut self, flag: &str) -> Result<(), String> {
        match flag {
            "--exact" => self.is_exact = true,
            "--ignored" => self.is_of_ignored = true,
            "--list" | "--help" | "-h" => self.is_list = true,
            _ if FLAGS.contains(&flag) || flag.starts_with("-Z") => {}
            _ => return Err(format!("unknown option {flag}")),
        }
        Ok(())
    }

    /// Whether the test called `name` runs. Its name is printed instead if the arguments ask for a list.
    pub fn runs(&self, name: &str) -> bool {
        let is_chosen = self.chooses(name);
        if is_chosen && self.is_list {
            println!("{name}: test");
        }
        is_chosen && !self.is_list
    }

    fn chooses(&self, name: &str) -> bool {
        let fits = |text: &String| match self.is_exact {
            true => name == text,
            false => name.contains(&**text),
        };
        !self.is_of_ignored
            && (self.filters.is_empty() || self.filters.iter().any(fits))
            && !self.skipped.iter().any(fits)
    }
}
