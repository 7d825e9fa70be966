//! The layout of an edge list, derived from its first lines.

use std::borrow::Cow;

use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Location, Scheme};
use isomorph_tables::PackedFile;

use crate::directions::TypeColumn;
use crate::line::{Separator, content, float, integer, split, trimmed, unquoted, with_dictionary, without_comment};
use crate::{python, rules};

/// Number of first bytes that are inspected.
pub(crate) const LOOK: u64 = 64 << 10;

/// Maximum number of bytes that are inspected if all bytes before them are comments.
const MOST: u64 = 64 << 20;

/// Maximum number of columns after source and target.
const COLUMNS: usize = 1_000;

/// What follows source and target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// This number of columns.
    Columns(usize),
    /// A dictionary.
    Dictionary,
}

/// The layout.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub separator: Separator,
    pub form: Form,
    /// Whether the first line that is not a comment names the columns.
    pub has_header: bool,
    /// Whether the header or a comment has the usual names for source and target.
    is_named: bool,
    /// Whether a comment identifies an edge list: direction in the words of SNAP, or names of source and target.
    is_marked: bool,
    /// Indices of the source and target fields.
    pub ends: (usize, usize),
    /// The column with the direction of each edge.
    pub type_column: Option<TypeColumn>,
    /// Why the text cannot be read.
    refused: Option<&'static str>,
    /// Names of the columns after source and target, if a header or a comment states them.
    pub names: Vec<String>,
    /// Direction according to the comments.
    pub undirected: Option<bool>,
    /// Numbers of nodes and edges according to the comments.
    pub stated: [Option<u64>; 2],
    /// Whether all inspected dictionaries are valid.
    is_sound: bool,
    /// Whether all inspected ends are integers.
    pub integers: bool,
    /// Number of inspected lines, without the header.
    lines: usize,
    /// Whether all inspected lines have fields after source and target, and all of these are numbers.
    numbers: bool,
}

/// Pairs of names for source and target in headers.
const ENDS: &[(&str, &str)] = &[
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("fromnodeid", "tonodeid"),
    ("from_node", "to_node"),
    ("from_id", "to_id"),
    ("source_id", "target_id"),
    ("start", "end"),
    ("u", "v"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    // An arc of graph theory runs from tail to head, a triple of a knowledge graph from head to tail: the order tells which is meant.
    ("head", "tail"),
    ("tail", "head"),
];

/// Pairs that name source and target at any position; the others do so only as the first two fields.
const ANYWHERE: &[(&str, &str)] = &[
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("fromnodeid", "tonodeid"),
    ("from_node", "to_node"),
    ("from_id", "to_id"),
    ("source_id", "target_id"),
];

/// Returns the fields named as source and target: several pairs if the names are ambiguous.
fn ends_of<T: AsRef<str>>(names: &[T]) -> Vec<(usize, usize)> {
    let names: Vec<String> = names.iter().map(|name| name.as_ref().to_lowercase()).collect();
    if let [first, second, ..] = names.as_slice() {
        let is_pair = |first: &str, second: &str| ENDS.contains(&(first, second));
        if is_pair(first, second) {
            return vec![(0, 1)];
        }
        if is_pair(second, first) {
            return vec![(1, 0)];
        }
    }
    let places = |wanted: &str| {
        let found = names.iter().enumerate().filter(|(_, name)| *name == wanted);
        found.map(|(at, _)| at).collect::<Vec<_>>()
    };
    let mut pairs = Vec::new();
    for (source, target) in ANYWHERE {
        let targets = places(target);
        for source in places(source) {
            pairs.extend(targets.iter().map(|target| (source, *target)));
        }
    }
    pairs
}

/// The content of the comments at the beginning.
#[derive(Default)]
struct Comments {
    undirected: Option<bool>,
    stated: [Option<u64>; 2],
    /// Names of columns, and the indices of source and target among them.
    names: Vec<String>,
    ends: Option<(usize, usize)>,
    /// Whether KONECT marks the network as bipartite.
    is_bipartite: bool,
}

impl Comments {
    fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Comments {
        let mut comments = Comments::default();
        lines.for_each(|line| comments.read(line));
        comments
    }

    /// Reads a comment of SNAP: `# Undirected graph: …`, `# Nodes: 5 Edges: 7`, `# FromNodeId ToNodeId`; or of KONECT:
    /// `% sym`, `% asym`, `% bip`.
    fn read(&mut self, line: &str) {
        let text = line.trim().trim_start_matches(['#', '%']).trim();
        let lower = text.to_lowercase();
        if lower.starts_with("undirected graph") || lower == "sym" || lower.starts_with("sym ") {
            self.undirected = Some(true);
        } else if lower.starts_with("directed graph") || lower == "asym" || lower.starts_with("asym ") {
            self.undirected = Some(false);
        }
        self.is_bipartite |= line.trim_start().starts_with('%') && lower.split_whitespace().next() == Some("bip");
        let mut words = lower.split_whitespace().peekable();
        while let Some(word) = words.next() {
            let at = match word {
                "nodes:" => 0,
                "edges:" => 1,
                _ => continue,
            };
            if let Some(number) = words.peek().and_then(|next| next.parse().ok()) {
                self.stated[at] = Some(number);
            }
        }
        let fields: Vec<&str> = match (text.contains('\t'), text.contains(',')) {
            (true, _) => text.split('\t').map(str::trim).collect(),
            (_, true) => text.split(',').map(str::trim).collect(),
            _ => text.split_whitespace().collect(),
        };
        // Words of a sentence may be such names, too: the two must be adjacent, and the first two fields if they are
        // `from` and `to`.
        if let [(source, target)] = ends_of(&fields).as_slice()
            && source.abs_diff(*target) == 1
            && (source + target == 1 || !fields.get(*source).is_some_and(|name| name.eq_ignore_ascii_case("from")))
        {
            self.names = fields.iter().map(|name| (*name).to_owned()).collect();
            self.ends = Some((*source, *target));
        }
    }

    /// Returns whether the comments identify an edge list, in the words with which [`crate::EdgeListWriter`] and SNAP
    /// begin.
    fn mark(&self, first: Option<&str>) -> bool {
        let first = first.unwrap_or_default().trim_start_matches(['#', ' ']).to_lowercase();
        self.ends.is_some() || first.starts_with("directed graph") || first.starts_with("undirected graph")
    }
}

/// Returns whether the beginning of a text identifies another format.
fn is_foreign(text: &str) -> bool {
    text.starts_with("%%MatrixMarket") || text.starts_with(['<', '{', '[', '@'])
}

impl Layout {
    /// Derives the layout from the beginning of a text; `None` if it is not an edge list. The last line may be cut off
    /// unless `is_whole`.
    pub fn of(text: &[u8], is_whole: bool) -> Option<Layout> {
        let end = if is_whole { text.len() } else { memchr::memrchr(b'\n', text)? };
        let text = std::str::from_utf8(text.get(..end)?).ok()?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        // Excel's first line `sep=,` is neither a header nor an edge.
        let is_separator_line =
            |line: &str| line.trim_end().len() <= 5 && line.to_ascii_lowercase().starts_with("sep=");
        if is_foreign(text) || text.contains('\0') || text.lines().next().is_some_and(is_separator_line) {
            return None;
        }
        let is_content = |line: &&str| content(line, true).is_some();
        let lines: Vec<&str> = text.split('\n').filter_map(|line| content(line, true)).collect();
        if lines.iter().any(|line| line.contains('\r')) {
            return None;
        }
        let comments = Comments::of(text.split('\n').take_while(|line| !is_content(line)));
        let separator = separator(&lines)?;
        let mut layout = Layout { separator, form: Form::Dictionary, ..Layout::empty(text, &comments) };
        let dictionary_of = |line| without_comment(line, separator == Separator::Blanks);
        if with_dictionary(dictionary_of(lines.first()?), separator).is_some() {
            // Reading the lines checks all of them.
            layout.is_sound = are_dictionaries(&lines, separator);
            layout.lines = lines.len();
            layout.ends = comments.ends.filter(|ends| *ends == (1, 0)).unwrap_or((0, 1));
            return Some(layout);
        }
        let mut fields = divided(&lines, separator)?;
        let width = fields.first()?.len();
        if !(2..=COLUMNS + 2).contains(&width) {
            return None;
        }
        let are_integers = |own: &Vec<Cow<'_, str>>| own.iter().take(2).all(|end| integer(trimmed(end)).is_some());
        let says_so = comments.names.len() == width;
        let is_tab = separator == Separator::Tab;
        let name = |field: &Cow<'_, str>| match is_tab {
            true => unquoted(trimmed(field)).into_owned(),
            false => trimmed(field).to_owned(),
        };
        let first: Vec<String> = fields.first()?.iter().map(name).collect();
        // With blanks as separators, no line is a header: `u v` could be an edge.
        let may_be_header =
            !says_so && separator != Separator::Blanks && first.iter().all(|name| name.parse::<f64>().is_err());
        let pairs = if may_be_header { ends_of(&first) } else { Vec::new() };
        let behind = fields.get(1..).unwrap_or_default();
        let stands_out = may_be_header && !behind.is_empty() && behind.iter().all(are_integers);
        layout.is_named = !pairs.is_empty() || says_so;
        layout.has_header = !pairs.is_empty() || stands_out;
        layout.ends = match (pairs.as_slice(), comments.ends) {
            ([ends], _) => *ends,
            ([_, _, ..], _) => {
                layout.refused = Some("several columns are named as source or target: rename all but one pair");
                (0, 1)
            }
            ([], Some(ends)) if says_so || ends == (1, 0) => ends,
            _ => (0, 1),
        };
        if layout.has_header {
            // Tables with a header are written by programs that quote; what SNAP and NetworkX write is not quoted.
            if is_tab {
                layout.separator = Separator::QuotedTab;
            }
            // There are no comments after a header.
            let below = text.split('\n').skip_while(|line| !is_content(line)).skip(1);
            let below: Vec<&str> = below.filter_map(|line| content(line, false)).collect();
            fields = divided(&below, layout.separator)?;
            if fields.first().is_some_and(|own| own.len() != width) {
                return None;
            }
        }
        // An unrecognised dictionary would be split into fields, or belong to a name.
        let is_torn = |own: &Vec<Cow<'_, str>>| own.iter().any(|field| trimmed(field).starts_with('{'));
        let is_dictionary = |(_, text): (&str, &str)| python::dictionary(text, &mut |_, _| ()).is_ok();
        let has_dictionary = |line: &&str| !layout.has_header && behind_blank(line).is_some_and(is_dictionary);
        if separator.mark().is_some() && (fields.iter().any(is_torn) || lines.iter().any(has_dictionary)) {
            return None;
        }
        let mut names = if layout.has_header { first } else { comments.names };
        if names.len() == width {
            layout.arrange(&mut names);
            layout.names = names.split_off(2);
        }
        fields.iter_mut().for_each(|own| layout.arrange(own));
        layout.lines = fields.len();
        layout.integers = !fields.is_empty() && fields.iter().all(are_integers);
        layout.form = Form::Columns(width - 2);
        let is_number = |field: &Cow<'_, str>| integer(trimmed(field)).is_some() || float(trimmed(field)).is_some();
        layout.numbers = width > 2 && fields.iter().all(|own| own.iter().skip(2).all(is_number));
        layout.type_column = TypeColumn::find(&layout.names, &fields);
        layout.undirected = layout.type_column.map(|column| column.is_undirected).or(layout.undirected);
        Some(layout)
    }

    /// Returns the layout of a text without lines.
    fn empty(text: &str, comments: &Comments) -> Layout {
        let bipartite = "KONECT's 'bip' numbers left and right nodes separately, so that one number names two nodes: put a letter in \
                         front of the numbers of each side, and remove 'bip'";
        Layout {
            separator: Separator::Blanks,
            form: Form::Columns(0),
            has_header: false,
            is_named: false,
            is_marked: comments.mark(text.lines().next()),
            ends: (0, 1),
            type_column: None,
            refused: comments.is_bipartite.then_some(bipartite),
            names: Vec::new(),
            undirected: comments.undirected,
            stated: comments.stated,
            is_sound: true,
            integers: false,
            lines: 0,
            numbers: false,
        }
    }

    /// Moves source and target before the other fields.
    pub fn arrange<T>(&self, fields: &mut Vec<T>) {
        let (source, target) = self.ends;
        if self.ends == (0, 1) || source.max(target) >= fields.len() {
            return;
        }
        let later = fields.remove(source.max(target));
        let earlier = fields.remove(source.min(target));
        let (source, target) = if source > target { (later, earlier) } else { (earlier, later) };
        fields.insert(0, target);
        fields.insert(0, source);
    }

    /// Returns the index in a line, from 0, of a column after source and target.
    pub fn place_of(&self, column: usize) -> usize {
        let (first, second) = (self.ends.0.min(self.ends.1), self.ends.0.max(self.ends.1));
        let place = if column < first { column } else { column + 1 };
        if place < second { place } else { place + 1 }
    }

    /// Returns whether a file with this name is certainly an edge list, so that it is recognised without a flag.
    fn is_certain(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
        if self.is_marked && self.is_sound {
            return true;
        }
        if self.lines == 0 && !self.is_named || !self.is_sound {
            return false;
        }
        let says_so = matches!(ending, "edgelist" | "edges" | "el" | "wel" | "ncol");
        let is_table = matches!(ending, "txt" | "tsv" | "csv" | "dat" | "");
        match (ending, self.form) {
            // DeepGNN's files with this extension have commas.
            ("edgelist", _) if self.separator == Separator::Comma => false,
            (_, Form::Dictionary) => says_so || is_table,
            // Two or more columns of a table could mean anything.
            ("csv" | "tsv", Form::Columns(behind)) => self.is_named || !self.has_header && self.integers && behind == 0,
            (_, Form::Columns(behind)) if says_so => behind == 0 || self.numbers || self.has_header,
            (_, Form::Columns(behind)) if is_table => {
                let most = if self.separator.mark().is_some() { 1 } else { 2 };
                self.is_named || !self.has_header && self.integers && (behind == 0 || behind <= most && self.numbers)
            }
            _ => false,
        }
    }
}

/// Returns the fields of all lines; `None` if their numbers differ, or a line cannot be split.
fn divided<'a>(lines: &[&'a str], separator: Separator) -> Option<Vec<Vec<Cow<'a, str>>>> {
    let mut all: Vec<Vec<Cow<'_, str>>> = Vec::with_capacity(lines.len());
    for line in lines {
        let mut own = Vec::new();
        let line = if separator == Separator::Blanks { without_comment(line, true) } else { line };
        if !split(line, separator, &mut own) || all.first().is_some_and(|first| first.len() != own.len()) {
            return None;
        }
        all.push(own);
    }
    Some(all)
}

/// Returns the separator of all lines; `None` if there are no lines, or if two separators are equally likely.
fn separator(lines: &[&str]) -> Option<Separator> {
    if lines.is_empty() {
        return None;
    }
    if lines.iter().all(|line| behind_blank(line).is_some()) {
        // If all sources end with a comma, it could be the separator.
        let is_ambiguous = lines.iter().filter_map(|line| behind_blank(line)).all(|(source, _)| source.ends_with(','));
        return (!is_ambiguous).then_some(Separator::Blanks);
    }
    // Elsewhere these characters may belong to names.
    let others = [(Separator::Semicolon, ';'), (Separator::Bar, '|')];
    let has_header = |separator| {
        let mut fields = Vec::new();
        let is_divided = lines.first().is_some_and(|first| split(first, separator, &mut fields));
        let names: Vec<&str> = fields.iter().map(|field| trimmed(field)).collect();
        is_divided && names.len() > 1 && !ends_of(&names).is_empty()
    };
    let all_have = |mark: char| lines.iter().all(|line| line.contains(mark));
    if let Some((separator, _)) = others.iter().find(|(separator, mark)| all_have(*mark) && has_header(*separator)) {
        return Some(*separator);
    }
    // Separators inside a dictionary do not count.
    let plain: Vec<&str> = lines.iter().map(|line| line.split('{').next().unwrap_or(line)).collect();
    let bare: Vec<&str> = plain.iter().map(|line| without_comment(line, true)).collect();
    let are_pairs = bare.iter().all(|line| line.split_whitespace().nth(1).is_some());
    for (separator, mark) in [(Separator::Tab, '\t'), (Separator::Comma, ',')] {
        let all_have = |lines: &[&str]| lines.iter().all(|line| line.trim().contains(mark));
        if all_have(&bare) || all_have(&plain) && !are_pairs {
            let is_aligned = separator == Separator::Tab && bare == plain && are_aligned(&plain);
            return Some(if is_aligned { Separator::Blanks } else { separator });
        }
        if all_have(&plain) {
            return None;
        }
    }
    let other = others.iter().find(|(_, mark)| all_have(*mark)).map(|(separator, _)| *separator);
    if are_pairs { Some(Separator::Blanks) } else { other }
}

/// Returns the source and the dictionary of a line whose dictionary is behind a blank. NetworkX writes the separator before a
/// dictionary, too: in such a line, commas belong to names.
fn behind_blank(line: &str) -> Option<(&str, &str)> {
    let line = without_comment(line, true);
    let (source, _, open) = with_dictionary(line, Separator::Blanks)?;
    let (before, dictionary) = line.split_at_checked(open)?;
    before.ends_with(' ').then_some((source, dictionary.trim_end()))
}

/// Returns whether blanks around tabs only align fields: no field contains blanks, and none is empty.
fn are_aligned(lines: &[&str]) -> bool {
    lines.iter().any(|line| line.contains(" \t") || line.contains("\t "))
        && lines
            .iter()
            .all(|line| line.split('\t').map(trimmed).eq(line.split([' ', '\t']).filter(|own| !own.is_empty())))
}

/// Returns whether all lines have a dictionary.
fn are_dictionaries(lines: &[&str], separator: Separator) -> bool {
    lines.iter().all(|line| {
        let line = without_comment(line, separator == Separator::Blanks);
        let found = with_dictionary(line, separator).and_then(|(_, _, open)| line.get(open..));
        found.is_some_and(|text| python::dictionary(text.trim_end(), &mut |_, _| ()).is_ok())
    })
}

/// Returns whether the file at `location` is an edge list, by its name and its first lines.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    if location.as_path().is_some_and(std::path::Path::is_dir) {
        return Ok(false);
    }
    let name = if location.scheme() == Scheme::Stream { "" } else { location.file_name() };
    let file = PackedFile::open(location)?;
    // A file that cannot be decompressed belongs to another format.
    let Ok((begin, is_whole)) = beginning(&file) else { return Ok(false) };
    let layout = Layout::of(&begin, is_whole).or_else(|| without_lines(&begin, is_whole));
    Ok(layout.is_some_and(|layout| layout.is_certain(name)))
}

/// Returns the first bytes, up to a line that is not a comment, and whether they are the whole file.
pub(crate) fn beginning(file: &PackedFile) -> Result<(Vec<u8>, bool)> {
    let mut size = LOOK;
    loop {
        let begin = file.begin(size)?;
        let is_whole = (begin.len() as u64) < size;
        let mut lines = begin.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let is_comment = |line: &[u8]| line.is_empty() || line.starts_with(b"#") || line.starts_with(b"%");
        if is_whole || size >= MOST || !lines.all(is_comment) {
            return Ok((begin, is_whole));
        }
        size *= 8;
    }
}

/// Returns the layout of a text with only comments.
fn without_lines(begin: &[u8], is_whole: bool) -> Option<Layout> {
    let text = std::str::from_utf8(begin).ok().filter(|_| is_whole)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_empty = text.split('\n').all(|line| content(line, true).is_none()) && !is_foreign(text);
    is_empty.then(|| Layout::empty(text, &Comments::of(text.split('\n'))))
}

/// Returns the layout of a file that the user declares to be an edge list.
///
/// # Errors
/// Returns an error if its first lines are not an edge list, or are ambiguous.
pub(crate) fn layout(file: &PackedFile) -> Result<Layout> {
    let (begin, is_whole) = beginning(file)?;
    let error = |message: &str| Error::broken(&rules::FIELDS, message).at(file.blob.place());
    match std::str::from_utf8(&begin) {
        Err(wrong) if is_whole || wrong.error_len().is_some() => {
            let before = begin.get(..wrong.valid_up_to()).unwrap_or_default();
            let line = 1 + memchr::memchr_iter(b'\n', before).count() as u64;
            let place = Place::file(file.blob.name()).line(line);
            return Err(Error::broken(&rules::ENCODING, "the text is not UTF-8").at(place));
        }
        Ok(text) if text.contains('\r') && text.trim_end_matches('\r').replace("\r\n", "").contains('\r') => {
            return Err(error(
                "the text contains a carriage return without a line feed: save the file with Unix or Windows line ends",
            ));
        }
        _ => {}
    }
    let layout = without_lines(&begin, is_whole).or_else(|| Layout::of(&begin, is_whole));
    let layout = layout.ok_or_else(|| {
        error("the first lines are not an edge list: every line needs two names and the same number of fields, and quotation marks or braces that enclose whole fields")
    })?;
    match layout.refused {
        Some(why) => Err(Error::unsupported(why).at(file.blob.place())),
        None => Ok(layout),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn of(text: &str) -> Option<Layout> {
        Layout::of(text.as_bytes(), true)
    }

    #[test]
    fn first_lines_tell_the_layout() {
        let snap =
            of("# Undirected graph: x\n# Nodes: 3 Edges: 2\n# FromNodeId\tToNodeId\tWeight\n1\t2\t0.5\n2\t3\t1\n")
                .unwrap();
        assert_eq!(
            (snap.separator, snap.form, snap.undirected, snap.stated),
            (Separator::Tab, Form::Columns(1), Some(true), [Some(3), Some(2)])
        );
        assert_eq!(snap.names, ["Weight"]);
        let table = of("src,dst,amount\n1,2,3.5\n").unwrap();
        assert!(table.has_header);
        assert_eq!((table.separator, table.names), (Separator::Comma, vec!["amount".to_owned()]));
        assert_eq!(of("a b {'x': 1, 'y': 'p q'}\na c {}\n").unwrap().form, Form::Dictionary);
        for none in [
            "",
            "# nothing\n",
            "one\n",
            "a,b,{'w': 1}x\n",
            "a\"b\",\"c\"d\n",
            "1 2\r2 3\r",
            "a b # x, y\nc d # y, z\n",
            "1 2\n1 2 3\n",
            "<a> <b> <c> .\n",
            "{\"a\": 1}\n",
            "%%MatrixMarket matrix\n1 2\n",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn headers_name_ends_and_edges_are_none() {
        for line in ["u v", "from to", "start end", "U V"] {
            assert!(!of(&format!("{line}\na b\n")).unwrap().has_header, "{line}");
        }
        assert!(!of("u,v,0.5\na,b,1.5\n").unwrap().has_header);
        for (text, ends, names) in [
            ("target,source\na,b\n", (1, 0), &[][..]),
            ("id,source,target\n1,2,3\n", (1, 2), &["id"]),
            ("source\tweight\ttarget\na\t1\tb\n", (0, 2), &["weight"]),
            ("weight,target,source\n1,a,b\n", (2, 1), &["weight"]),
            ("# ToNodeId FromNodeId\n1 2\n", (1, 0), &[]),
        ] {
            let layout = of(text).unwrap();
            assert_eq!(
                (layout.ends, layout.names.as_slice()),
                (ends, &*names.iter().map(|own| (*own).to_owned()).collect::<Vec<_>>()),
                "{text}"
            );
        }
        assert!(of("id,source,target,source\n1,2,3,4\n").unwrap().refused.is_some());
        assert!(of("% bip weighted\n1 1\n").unwrap().refused.is_some());
    }

    #[test]
    fn names_and_lines_make_certain() {
        let certain = |text: &str, name: &str| of(text).is_some_and(|layout| layout.is_certain(name));
        assert!(
            certain("1 2\n", "graph.txt") && certain("1 2 1082040961\n", "graph.txt.gz") && certain("a b\n", "g.edges")
        );
        assert!(!certain("to be\nor not\n", "hamlet.txt") && !certain("1,-1,0,1.0\n", "g.edgelist"));
        assert!(certain("source\ttarget\tkind\na\tb\tx\n", "g.tsv") && !certain("a,b\nc,d\n", "g.csv"));
        assert!(certain("# Directed graph\n1\t2\t0.5\n", "g.tsv") && !certain("1\t2\t0.5\n", "g.tsv"));
        assert!(certain("source,target\n", "g.csv"));
        assert!(!certain("id,name\n1,2\n3,4\n", "g.ttl") && !certain("1 2\n", "g.nt"));
    }
}
