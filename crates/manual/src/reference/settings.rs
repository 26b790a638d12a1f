//! Page of the settings.

use std::error::Error;

use xrsim::experiment::KEYS;

use super::markdown::{Page, code, plain, sentence};

/// A setting, as its row says it.
#[derive(Debug, Clone)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) help: String,
    pub(super) unit: String,
    pub(super) allowed: String,
    pub(super) default: String,
    /// Option of the command line, without dashes.
    pub(super) option: Option<String>,
    /// Whether `mlsys2023` semantics follows it.
    pub(super) in_artifact: bool,
}

/// Headings of the groups, by the first part of a name.
const GROUPS: &[(&str, &str)] = &[
    ("", "Settings with an option of their own"),
    ("score", "Scores"),
    ("load", "Load"),
    ("engine", "Engine"),
    ("effects", "Effects of the device"),
    ("hardware", "Hardware"),
];

/// Every setting of the library.
pub(super) fn all() -> Vec<Setting> {
    let setting = |key: &xrsim::experiment::Key| Setting {
        name: key.name.into(),
        help: key.help.into(),
        unit: key.unit.into(),
        allowed: key.allowed.to_string(),
        default: key.default_text(),
        option: key.option_name().map(str::to_string),
        in_artifact: key.in_mlsys2023,
    };
    KEYS.iter().map(setting).collect()
}

/// The page.
///
/// # Errors
///
/// An error that names a setting without a sentence.
pub(super) fn page(settings: &[Setting]) -> Result<String, Box<dyn Error>> {
    if let Some(it) = settings.iter().find(|it| it.help.trim().is_empty()) {
        return Err(format!("setting `{}` has no sentence", it.name).into());
    }
    let mut page = Page::new(
        "Settings",
        "A setting changes a run. Settings without a dot have an option of their own; all others are set \
         with `--set KEY=VALUE`. All settings can vary in a sweep. `xrsim list settings` prints them.",
    );
    page.paragraph(
        "Under `--semantics mlsys2023` the artifact fixes most settings. Settings that also change its runs are marked with a `*`.",
    );
    let group_of =
        |it: &Setting| it.name.split_once('.').map_or("", |(group, _)| group).to_string();
    let is_known = |name: &str| GROUPS.iter().any(|(group, _)| *group == name);
    for (group, title) in GROUPS {
        table(&mut page, title, settings.iter().filter(|it| group_of(it) == *group));
    }
    let rest: Vec<_> = settings.iter().filter(|it| !is_known(&group_of(it))).collect();
    if !rest.is_empty() {
        table(&mut page, "Parameters of networks", rest.into_iter());
    }
    Ok(page.finish())
}

fn table<'a>(page: &mut Page, title: &str, settings: impl Iterator<Item = &'a Setting>) {
    page.heading(2, title);
    let row = |it: &Setting| {
        let mark = if it.in_artifact { " \\*" } else { "" };
        let option = it.option.as_ref().map_or(String::new(), |it| format!(" Option `--{it}`."));
        let mut meaning = it.help.clone();
        if let Some(first) = meaning.get(..1).map(str::to_uppercase) {
            meaning.replace_range(..1, &first);
        }
        let unit =
            if it.unit.is_empty() { String::new() } else { format!(" \\[{}\\]", plain(&it.unit)) };
        vec![
            format!("{}{mark}", code(&it.name)),
            format!("{}{option}", sentence(&meaning)),
            format!("{}{unit}", plain(&it.allowed)),
            plain(&it.default),
        ]
    };
    page.table(
        &["setting", "meaning", "allowed", "default"],
        &settings.map(row).collect::<Vec<_>>(),
    );
}
