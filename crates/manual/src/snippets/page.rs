//! The blocks of a page, one after the other.

use std::error::Error;
use std::fmt;
use std::fs;
use std::path::Path;
use std::time::Instant;

use super::block::{Block, blocks};
use super::shell::{Place, Printed, Shell};
use super::shown::{difference, is_as_shown, updated};

/// Characters of a long output that a failure repeats, the last ones.
const TAIL: usize = 2000;

/// What became of the blocks.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Tally {
    commands: usize,
    transcripts: usize,
    files: usize,
    /// Blocks that say what they need.
    pub(super) not_run: usize,
    /// Blocks that are not true.
    pub(super) failed: usize,
}

impl Tally {
    /// Adds the blocks of another page.
    pub(super) fn add(&mut self, other: &Self) {
        self.commands += other.commands;
        self.transcripts += other.transcripts;
        self.files += other.files;
        self.not_run += other.not_run;
        self.failed += other.failed;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { commands, transcripts, files, not_run, failed } = self;
        write!(
            f,
            "{commands} commands, {transcripts} transcripts, {files} input files, {not_run} not run; {failed} failed"
        )
    }
}

/// A block that was run.
enum Ran {
    /// It is true.
    True,
    /// It should be this text, and differs as this says.
    Other { mended: String, differs: String },
}

/// Runs the blocks of the page `text` and prints what became of each. Returns the page, with what commands
/// print if `is_update`, and the tally.
pub(super) fn run(place: &Place, path: &Path, text: &str, is_update: bool) -> (String, Tally) {
    let mut tally = Tally::default();
    let found = blocks(text);
    let (mut mended, mut at) = (String::new(), 0);
    let mut shell = None;
    for (index, block) in found.iter().enumerate() {
        let Some(kind) = Kind::from_block(block) else { continue };
        let here = format!("{}:{}: {}", path.display(), block.line, block.language());
        if let Some(needs) = block.needs() {
            tally.not_run += 1;
            println!("not run {here}: {needs}");
            continue;
        }
        kind.count(block, &mut tally);
        let started = Instant::now();
        let ran = shell_of(&mut shell, place, path)
            .and_then(|shell| kind.run(shell, block, &found[index + 1..]));
        let seconds = started.elapsed().as_secs_f64();
        match ran {
            Ok(Ran::True) => println!("passed  {here}: {seconds:.1} s"),
            Ok(Ran::Other { mended: block_text, .. }) if is_update && kind == Kind::Transcript => {
                println!("passed  {here}: {seconds:.1} s, rewritten");
                mended += &text[at..block.range.start];
                mended += &block_text;
                at = block.range.end;
            }
            Ok(Ran::Other { differs, .. }) => {
                tally.failed += 1;
                println!("FAILED  {here}: prints something else\n{differs}");
            }
            Err(error) => {
                tally.failed += 1;
                println!("FAILED  {here}: {error}");
            }
        }
    }
    mended += &text[at..];
    (mended, tally)
}

fn shell_of<'a, 'b>(
    shell: &'b mut Option<Shell<'a>>,
    place: &'a Place,
    path: &Path,
) -> Result<&'b Shell<'a>, Box<dyn Error>> {
    if shell.is_none() {
        *shell = Some(place.page(path)?);
    }
    shell.as_ref().ok_or_else(|| "there is no folder".into())
}

/// How a block is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Script,
    Transcript,
    /// Input that is checked.
    Input,
    /// A file for later blocks.
    File,
    /// Commands that do not begin their block.
    Misplaced,
}

impl Kind {
    /// `None` for a block that is only shown.
    fn from_block(block: &Block) -> Option<Self> {
        match block.language() {
            "sh" => Some(Self::Script),
            "text" if block.needs().is_some() || block.is_transcript() => Some(Self::Transcript),
            "text" if block.has_late_commands() => Some(Self::Misplaced),
            "yaml" if block.is_input_file() || block.option("file").is_some() => Some(Self::Input),
            _ => block.option("file").map(|_| Self::File),
        }
    }

    fn count(self, block: &Block, tally: &mut Tally) {
        match self {
            Self::Script => tally.commands += block.n_lines(),
            Self::Transcript => {
                tally.commands += block.commands().len();
                tally.transcripts += 1;
            }
            Self::Input | Self::File => tally.files += 1,
            Self::Misplaced => {}
        }
    }

    fn run(self, shell: &Shell, block: &Block, later: &[Block]) -> Result<Ran, Box<dyn Error>> {
        match self {
            Self::Script => run_script(shell, block, later),
            Self::Transcript => run_transcript(shell, block),
            Self::Input => check_input(shell, block),
            Self::File => write_file(shell, block).map(|_| Ran::True),
            Self::Misplaced => Err("the block has commands, but does not begin with `$ `".into()),
        }
    }
}

/// The status that a block says it ends with.
fn expected_status(block: &Block) -> Result<Option<i32>, Box<dyn Error>> {
    let parsed =
        |text: &str| text.parse().map_err(|_| format!("fails={text} is no exit status").into());
    block.option("fails").map(parsed).transpose()
}

fn ends_otherwise(command: &str, printed: &Printed) -> Box<dyn Error> {
    let skipped = printed.text.chars().count().saturating_sub(TAIL);
    let tail: String = printed.text.chars().skip(skipped).collect();
    format!("{}: ends with {}:\n{tail}", command.trim(), printed.status).into()
}

fn run_script(shell: &Shell, block: &Block, later: &[Block]) -> Result<Ran, Box<dyn Error>> {
    let folder = if block.is_in_repository() { shell.repository()? } else { shell.work() };
    let printed = shell.run(block.text, &folder)?;
    let expected = expected_status(block)?;
    if printed.status != expected.unwrap_or(0) {
        return Err(ends_otherwise(block.body(), &printed));
    }
    if expected.is_none() {
        return Ok(Ran::True);
    }
    match later.first().filter(|next| next.language() == "text" && !next.is_transcript()) {
        None => Err("the next block is no `text` with what this one prints".into()),
        Some(next) if is_as_shown(next.text, &printed.text) => Ok(Ran::True),
        Some(next) => {
            let differs = difference(next.text, &printed.text);
            Ok(Ran::Other { mended: block.text.into(), differs })
        }
    }
}

fn run_transcript(shell: &Shell, block: &Block) -> Result<Ran, Box<dyn Error>> {
    let folder = if block.is_in_repository() { shell.repository()? } else { shell.work() };
    let (mut mended, mut differs) = (block.head().to_string(), String::new());
    let (expected, commands) = (expected_status(block)?, block.commands());
    for (index, (command, shown)) in commands.iter().enumerate() {
        let printed = shell.run(command, &folder)?;
        let is_right = match expected {
            Some(status) if index + 1 == commands.len() => printed.status == status,
            _ => (0..=1).contains(&printed.status),
        };
        if !is_right {
            return Err(ends_otherwise(command, &printed));
        }
        mended += &format!("$ {command}");
        if is_as_shown(shown, &printed.text) {
            mended += shown;
        } else {
            differs += &format!("{}:\n{}", command.trim(), difference(shown, &printed.text));
            mended += &updated(shown, &printed.text);
        }
    }
    match differs.is_empty() {
        true => Ok(Ran::True),
        false => Ok(Ran::Other { mended, differs }),
    }
}

/// Writes a block to the file that it names. Returns the name.
fn write_file<'a>(shell: &Shell, block: &Block<'a>) -> Result<&'a str, Box<dyn Error>> {
    let name = block.option("file").unwrap_or("block.yaml");
    let is_plain = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if !is_plain {
        return Err(format!("file={name} does not stay in the folder of the page").into());
    }
    let path = shell.work().join(name);
    fs::create_dir_all(path.parent().unwrap_or(&path))?;
    fs::write(path, block.text)?;
    Ok(name)
}

fn check_input(shell: &Shell, block: &Block) -> Result<Ran, Box<dyn Error>> {
    let name = write_file(shell, block)?;
    let printed = shell.run(&format!("xrsim check '{name}'"), &shell.work())?;
    if block.option("file").is_none() {
        fs::remove_file(shell.work().join(name))?;
    }
    match printed.status {
        0 => Ok(Ran::True),
        _ => Err(format!("is refused:\n{}", printed.text).into()),
    }
}
