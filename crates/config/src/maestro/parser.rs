//! Common part of the three grammars: reading ahead by one token, blocks, numbers, and recovery after a
//! mistake.

use std::ops::{Range, RangeInclusive};

use crate::{Problem, nearest};
use xrsim_model::text::{NAME_RULE, is_name};

use super::token::{Token, Tokens};

/// Problems of one file that are reported before one that says that there are too many.
pub(super) const MAX_PROBLEMS: usize = 99;
/// Longest word that is quoted in full [character].
const MAX_QUOTED: usize = 48;

/// A position in a text and the problems found before it.
pub(super) struct Parser<'a> {
    tokens: Tokens<'a>,
    next: Option<Token<'a>>,
    /// End of the text.
    end: usize,
    /// Words that only occur as keywords; mistakes are never skipped beyond one.
    keywords: &'static [&'static str],
    problems: Vec<Problem>,
    /// Where reading stopped after too many problems.
    stopped: Option<Range<usize>>,
}

/// A block that was opened.
pub(super) struct Header<'a> {
    /// Its name; empty where it has none.
    pub name: &'a str,
    /// Where the name is, or else the keyword.
    pub name_span: Range<usize>,
    /// Where the keyword starts.
    pub start: usize,
}

/// Contents of a block.
pub(super) struct Contents {
    /// For messages, e.g. "a layer".
    pub what: &'static str,
    /// Words that start an item; empty if any word does that is not a keyword.
    pub items: &'static [&'static str],
    /// Words that show that the closing brace was forgotten, since they start an item further out.
    pub outer: &'static [&'static str],
}

impl<'a> Parser<'a> {
    /// The start of `text`.
    pub(super) fn new(text: &'a str, keywords: &'static [&'static str]) -> Self {
        Self::of_tokens(Tokens::new(text), text, keywords)
    }

    /// The same where a minus sign belongs to a word.
    pub(super) fn with_signs(text: &'a str, keywords: &'static [&'static str]) -> Self {
        Self::of_tokens(Tokens::with_signs(text), text, keywords)
    }

    fn of_tokens(mut tokens: Tokens<'a>, text: &'a str, keywords: &'static [&'static str]) -> Self {
        Self {
            next: tokens.next(),
            tokens,
            end: text.len(),
            keywords,
            problems: Vec::new(),
            stopped: None,
        }
    }

    /// The next token. There is none at the end, or after too many problems.
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.next
    }

    /// Where the next token is, or the end of the text.
    pub(super) fn peek_span(&self) -> Range<usize> {
        self.next.map_or(self.end..self.end, |token| token.span())
    }

    /// Takes the next token.
    pub(super) fn take(&mut self) -> Option<Token<'a>> {
        let token = self.next?;
        self.next = self.tokens.next();
        if token.glued {
            let problem =
                Problem::new(token.span(), format!("{} runs into a brace", quote(token.text)));
            self.report(problem.help("braces stand alone: put a space on either side"));
        }
        Some(token)
    }

    /// Takes the next token unless it is a brace or keyword.
    pub(super) fn take_word(&mut self) -> Option<Token<'a>> {
        match self.next {
            Some(token) if !is_brace(token) && !self.is_keyword(token) => self.take(),
            _ => None,
        }
    }

    /// Number of problems so far.
    pub(super) fn n_problems(&self) -> usize {
        self.problems.len()
    }

    /// Takes the next token unless it is a brace or keyword; then `what` is reported missing.
    pub(super) fn word(&mut self, what: &str, help: impl FnOnce() -> String) -> Option<Token<'a>> {
        let word = self.take_word();
        if word.is_none() {
            let problem = Problem::new(self.peek_span(), format!("{what} is missing"));
            self.report(problem.help(help()));
        }
        word
    }

    /// Adds a problem.
    pub(super) fn report(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        } else if self.stopped.is_none() {
            self.stopped = Some(self.peek_span());
            self.next = None;
        }
    }

    /// Adds problems.
    pub(super) fn report_all(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            self.report(problem);
        }
    }

    /// `value`, or the problems in order of position.
    pub(super) fn finish<T>(mut self, value: T) -> Result<T, Vec<Problem>> {
        self.problems.sort_by_key(|problem| problem.span.start);
        if let Some(span) = self.stopped {
            let message = "too many problems: the file is not read beyond this point";
            self.problems.push(Problem::new(span, message));
        }
        if self.problems.is_empty() { Ok(value) } else { Err(self.problems) }
    }

    /// Reads blocks that start with `keyword` to the end of the file.
    pub(super) fn file(
        &mut self,
        keyword: &'static str,
        mut block: impl FnMut(&mut Self, Token<'a>),
    ) {
        let mut found = false;
        while let Some(token) = self.take() {
            if token.text == keyword {
                found = true;
                block(self, token);
            } else {
                self.unexpected(token, "the top level of the file", &[keyword]);
                while self.next.is_some_and(|token| token.text != keyword) {
                    self.next = self.tokens.next();
                }
            }
        }
        if !found {
            let message = format!("the file has no `{keyword}` block");
            self.report(Problem::new(self.end..self.end, message));
        }
    }

    /// Reports `word` if it was given before.
    pub(super) fn refuse_second(&mut self, word: Token<'_>, is_second: bool) {
        if is_second {
            let message = format!("`{}` is given twice", word.text);
            self.report(Problem::new(word.span(), message));
        }
    }

    /// The name and opening brace after `keyword`. Of several words before the brace the last one
    /// is the name; a keyword that starts a new line means that the brace is missing.
    pub(super) fn named_header(&mut self, keyword: Token<'a>) -> Option<Header<'a>> {
        let mut name = None;
        loop {
            match self.next {
                Some(token) if token.text == "{" => {
                    self.take();
                    break;
                }
                Some(token) if token.text != "}" && !self.starts_a_line(token, keyword) => {
                    name = self.take();
                }
                _ => {
                    self.missing_brace(keyword);
                    self.next.filter(|token| token.text != "}")?;
                    break;
                }
            }
        }
        match name {
            None => {
                let message = format!("`{}` without a name", keyword.text);
                self.report(Problem::new(keyword.span(), message));
            }
            Some(token) if !is_name(token.text) => {
                self.report(no_name(token.text, token.span()));
            }
            Some(_) => {}
        }
        Some(Header {
            name: name.map_or("", |token| token.text),
            name_span: name.unwrap_or(keyword).span(),
            start: keyword.start,
        })
    }

    /// The opening brace after `keyword`.
    pub(super) fn header(&mut self, keyword: Token<'a>) -> Option<Header<'a>> {
        match self.next {
            Some(token) if token.text == "{" => {
                self.take();
            }
            next => {
                self.missing_brace(keyword);
                next.filter(|token| token.text != "}")?;
            }
        }
        Some(Header { name: "", name_span: keyword.span(), start: keyword.start })
    }

    /// Reads the items of a block and its closing brace; gives the bytes from keyword to brace.
    ///
    /// `item` reads the tokens after the word that it is given.
    pub(super) fn block(
        &mut self,
        header: &Header<'a>,
        contents: &Contents,
        mut item: impl FnMut(&mut Self, Token<'a>),
    ) -> Range<usize> {
        while let Some(token) = self.next {
            if token.text == "}" {
                self.take();
                return header.start..token.start + 1;
            }
            if contents.outer.contains(&token.text) {
                break;
            }
            self.take();
            if contents.allows(token) {
                item(self, token);
            } else {
                self.unexpected(token, contents.what, contents.items);
                self.skip_item(token);
            }
        }
        self.not_closed(header, contents);
        header.start..self.next.map_or(self.end, |token| token.start)
    }

    /// A whole number within `allowed`, called `what` in messages.
    pub(super) fn number(&mut self, what: &str, allowed: RangeInclusive<u64>) -> Option<u64> {
        let token = self.word(what, || limits(&allowed))?;
        let number = parse_whole(token.text).filter(|number| allowed.contains(number));
        if number.is_none() {
            let message = format!("{what} is {}", quote(token.text));
            self.report(Problem::new(token.span(), message).help(limits(&allowed)));
        }
        number
    }

    /// Reports a word or brace that does not belong into `place`.
    fn unexpected(&mut self, token: Token<'a>, place: &str, allowed: &[&str]) {
        let message = format!("{} does not belong into {place}", quote(token.text));
        self.report(Problem::new(token.span(), message).help(advice(token.text, allowed)));
    }

    /// Skips the rest of the item that `first` starts: to the end of its line or of its group in
    /// braces, at most to a keyword or closing brace.
    pub(super) fn skip_item(&mut self, first: Token<'a>) {
        let mut last = first;
        while last.text != "{" {
            match self.next {
                Some(token) if self.continues(token, first) => last = token,
                _ => return,
            }
            self.next = self.tokens.next();
        }
        self.skip_group();
    }

    fn continues(&self, token: Token<'a>, first: Token<'a>) -> bool {
        let is_near = token.line == first.line || token.text == "{";
        is_near && token.text != "}" && !self.is_keyword(token)
    }

    /// Moves after the brace that closes the open group, or to the next block of the file.
    fn skip_group(&mut self) {
        let mut depth = 1;
        while let Some(token) = self.next.filter(|token| token.text != self.keywords[0]) {
            self.next = self.tokens.next();
            match token.text {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn is_keyword(&self, token: Token<'a>) -> bool {
        self.keywords.contains(&token.text)
    }

    fn starts_a_line(&self, token: Token<'a>, keyword: Token<'a>) -> bool {
        token.line > keyword.line && self.is_keyword(token)
    }

    fn missing_brace(&mut self, keyword: Token<'a>) {
        let message = format!("`{{` is missing after `{}`", keyword.text);
        self.report(Problem::new(self.peek_span(), message));
    }

    fn not_closed(&mut self, header: &Header<'a>, contents: &Contents) {
        let before = match self.next {
            Some(token) => format!("before {}", quote(token.text)),
            None => "before the end of the file".into(),
        };
        let message = format!("{} is not closed: `}}` is missing {before}", contents.what);
        self.report(Problem::new(header.name_span.clone(), message));
    }
}

impl Contents {
    fn allows(&self, token: Token<'_>) -> bool {
        match self.items {
            [] => !is_brace(token),
            items => items.contains(&token.text),
        }
    }
}

/// A word in quotes, unprintable characters escaped, the end of a long one left out.
pub(super) fn quote(word: &str) -> String {
    let mut shown = String::from("`");
    for c in word.chars().take(MAX_QUOTED) {
        match c {
            '\'' | '"' | '\\' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    let more = if word.chars().nth(MAX_QUOTED).is_some() { "..." } else { "" };
    shown + more + "`"
}

/// The allowed words and the one most like `word`.
pub(super) fn advice(word: &str, allowed: &[&str]) -> String {
    let list = match allowed {
        [] => "allowed: names and `}`".into(),
        words => format!("allowed: {}", words.join(", ")),
    };
    match nearest(word, allowed.iter().copied()) {
        Some(known) => format!("did you mean `{known}`? {list}"),
        None => list,
    }
}

/// An unsigned decimal number that fits 64 bits.
fn parse_whole(text: &str) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

fn limits(allowed: &RangeInclusive<u64>) -> String {
    format!("allowed: whole numbers from {} to {}", allowed.start(), allowed.end())
}

fn is_brace(token: Token<'_>) -> bool {
    matches!(token.text, "{" | "}")
}

/// The problem of a text that cannot be a name.
pub(super) fn no_name(text: &str, span: Range<usize>) -> Problem {
    Problem::new(span, format!("{} is no name", quote(text))).help(NAME_RULE)
}
