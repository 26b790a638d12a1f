//! Words and braces of a text, between separators and comments.

use std::ops::Range;

/// A word or a brace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// As written.
    pub text: &'a str,
    /// Offset of its first byte.
    pub start: usize,
    /// Line, counted from 0.
    pub line: usize,
    /// Whether the next token follows without a separator; only where one of them is a brace.
    pub glued: bool,
}

impl Token<'_> {
    /// Its bytes in the text.
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// Tokens of a text, one at a time.
///
/// Words end at separators only, so a brace within a word belongs to it and the artifact knows no
/// such word. Here it is split off, marked as glued, to make sense of the rest of the file.
#[derive(Debug, Clone)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    is_separator: fn(u8) -> bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: 0, is_separator }
    }

    /// The same where a minus sign belongs to a word.
    pub(super) fn with_signs(text: &'a str) -> Self {
        Self { is_separator: |byte| byte != b'-' && is_separator(byte), ..Self::new(text) }
    }

    fn ends_word(&self, byte: u8) -> bool {
        (self.is_separator)(byte) || matches!(byte, b'{' | b'}')
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_separators(&mut self) {
        for byte in self.rest().bytes().take_while(|&byte| (self.is_separator)(byte)) {
            self.at += 1;
            self.line += usize::from(byte == b'\n');
        }
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.find('\n').unwrap_or(rest.len());
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_separators();
        while self.rest().starts_with("//") {
            self.skip_line();
            self.skip_separators();
        }
        let rest = self.rest();
        let first = rest.bytes().next()?;
        let length = match first {
            b'{' | b'}' => 1,
            _ => rest.bytes().position(|byte| self.ends_word(byte)).unwrap_or(rest.len()),
        };
        let (text, after) = rest.split_at(length);
        let token = Token {
            text,
            start: self.at,
            line: self.line,
            glued: after.bytes().next().is_some_and(|byte| !(self.is_separator)(byte)),
        };
        self.at += length;
        Some(token)
    }
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'-' | b'>' | b'(' | b')' | b':' | b';')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = Tokens::new(text).map(|token| token.text).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn words_end_at_separators_and_line_ends() {
        check("TemporalMap(1,1) Y';", &["TemporalMap", "1", "1", "Y'"]);
        check("K: 3,C->4\r\nX\tY", &["K", "3", "C", "4", "X", "Y"]);
        check("res-8 -1", &["res", "8", "1"]);
        check(" ,->():;\r\n\t", &[]);
        check("", &[]);
    }

    #[test]
    fn a_comment_starts_at_the_start_of_a_word_only() {
        check("a // b c\nd", &["a", "d"]);
        check("a;//b\n//c\n  //\nd//e f", &["a", "d//e", "f"]);
        check("a /b /", &["a", "/b", "/"]);
    }

    #[test]
    fn a_brace_in_a_word_is_split_off_and_marked() {
        let found: Vec<_> =
            Tokens::new("A{ }b { }").map(|token| (token.text, token.glued)).collect();
        let expected =
            [("A", true), ("{", false), ("}", true), ("b", false), ("{", false), ("}", false)];
        assert_eq!(found, expected);
    }

    #[test]
    fn tokens_know_their_place() {
        let token = Tokens::new("// é\n é x").nth(1).unwrap();
        assert_eq!((token.span(), token.line), (10..11, 1));
    }
}
