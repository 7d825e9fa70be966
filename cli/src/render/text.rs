//! Lines: the word of a stage at the left, followed by text.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Mark, Palette, Table};

/// Width of the words at the left, without the following space.
pub const STAGE: usize = 8;

/// Returns the number of terminal columns of `text`.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Cuts `text` to at most `columns` columns, ending with `…`.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for letter in text.chars() {
        used += letter.width().unwrap_or_default();
        if used > columns {
            break;
        }
        out.push(letter);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// Wraps `text` into lines of at most `columns` columns, broken between words. A longer word has a line of its own.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut().filter(|line| width(line) + 1 + width(word) <= columns) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Removes line breaks and other control characters from `text`: the content of a file must not move the cursor.
pub fn one_line(text: &str) -> String {
    let is_plain =
        |letter: char| !letter.is_control() && !matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_plain(letter) { out.push(letter) } else { out.extend(letter.escape_default()) }
    }
    out
}

/// Lines of output, for a terminal of a given width or for a pipe.
#[derive(Debug)]
pub struct Screen {
    palette: Palette,
    width: Option<usize>,
    text: String,
}

impl Screen {
    /// Creates an empty screen. Without a `width`, nothing is ever cut.
    pub fn new(palette: Palette, width: Option<usize>) -> Self {
        Screen { palette, width, text: String::new() }
    }

    /// Returns its palette, and the number of columns after which lines are cut.
    #[cfg(feature = "cypher")]
    pub fn shape(&self) -> (Palette, Option<usize>) {
        (self.palette, self.width)
    }

    /// Returns whether lines of this many columns are not cut.
    pub fn fits(&self, columns: usize) -> bool {
        self.width.is_none_or(|width| columns <= width)
    }

    /// Adds a stage and its text.
    pub fn line(&mut self, word: &str, text: &str) -> &mut Self {
        self.marked(word, None, text)
    }

    /// Adds a stage with a mark, and its text.
    pub fn marked(&mut self, word: &str, mark: Option<Mark>, text: &str) -> &mut Self {
        let text = one_line(text);
        let missing = STAGE.saturating_sub(width(word));
        let used = width(word) + missing + 1;
        let text = self.width.map_or_else(|| text.clone(), |columns| cut(&text, columns.saturating_sub(used)));
        if text.is_empty() {
            self.text.push_str(&self.palette.paint(word, mark));
        } else {
            self.text.push_str(&format!("{}{:missing$} {text}", self.palette.paint(word, mark), ""));
        }
        self.end()
    }

    /// As `line`, wrapped if the text is too long.
    pub fn wrapped(&mut self, word: &str, text: &str) -> &mut Self {
        let Some(columns) = self.width else { return self.line(word, text) };
        let room = columns.saturating_sub(STAGE + 1);
        for (at, line) in wrap(&one_line(text), room).iter().enumerate() {
            self.line(if at == 0 { word } else { "" }, line);
        }
        self
    }

    /// As `marked`, never cut: for text that is useless without its end.
    pub fn whole(&mut self, word: &str, mark: Option<Mark>, text: &str) -> &mut Self {
        let width = self.width.take();
        self.marked(word, mark, text);
        self.width = width;
        self
    }

    /// Adds a line without a stage, at most as wide as the terminal.
    pub fn plain(&mut self, text: &str, mark: Option<Mark>) -> &mut Self {
        let text = one_line(text);
        let text = self.width.map_or_else(|| text.clone(), |columns| cut(&text, columns));
        self.text.push_str(&self.palette.paint(&text, mark));
        self.end()
    }

    /// Adds the first line of a block, never cut: a marked word directly followed by text.
    pub fn headline(&mut self, word: &str, mark: Mark, rest: &str) -> &mut Self {
        self.text.push_str(&self.palette.paint(word, Some(mark)));
        self.text.push_str(&one_line(rest));
        self.end()
    }

    /// Adds a line below a headline, never cut.
    pub fn detail(&mut self, label: &str, text: &str) -> &mut Self {
        self.text.push_str(&format!("  {label:4}   {}", one_line(text)));
        self.end()
    }

    /// Adds a table. If its first column has stage words, it is as wide as theirs.
    pub fn table(&mut self, table: &Table) -> &mut Self {
        for line in table.lines(self.width, self.palette) {
            self.text.push_str(&line);
            self.end();
        }
        self
    }

    /// Returns all lines.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn end(&mut self) -> &mut Self {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_by_columns_not_bytes() {
        assert_eq!(cut("person ─knows─ person", 10), "person ─k…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("x", 0), "");
    }

    #[test]
    fn long_text_goes_on_in_the_next_line() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one muchlonger two", 5), ["one", "muchlonger", "two"]);
        assert_eq!(wrap("", 5), [""]);
        let mut screen = Screen::new(Palette::Plain, Some(20));
        screen.wrapped("plan", "one two three four");
        assert_eq!(screen.as_str(), "plan     one two\n         three four\n");
    }

    #[test]
    fn controls_of_the_input_do_not_reach_the_terminal() {
        assert_eq!(one_line("a\x1b[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(one_line("right\u{202e}left"), "right\\u{202e}left");
        assert_eq!(one_line("Zoë 漢"), "Zoë 漢");
    }

    #[test]
    fn words_stand_in_one_column() {
        let mut screen = Screen::new(Palette::Plain, Some(30));
        screen
            .line("plan", "GraphAr → NOCK, one pass over it all")
            .line("", "second line")
            .line("verified: output equals input", "");
        screen.marked("error", Some(Mark::Error), "x");
        assert_eq!(
            screen.as_str(),
            "plan     GraphAr → NOCK, one …\n         second line\nverified: output equals input\nerror    x\n"
        );
    }
}
