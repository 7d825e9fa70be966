//! What an edge list looks like, told by its first lines.

use std::borrow::Cow;

use isomorph_error::{Error, Result};
use isomorph_storage::{Location, Scheme};
use isomorph_tables::PackedFile;

use crate::line::{Separator, content, float, integer, split, with_dictionary};
use crate::python;

/// The first bytes that are looked at.
pub(crate) const LOOK: u64 = 64 << 10;

/// Columns behind the ends, at most.
const COLUMNS: usize = 1_000;

/// What stands behind the ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// So many columns.
    Columns(usize),
    /// A dictionary.
    Dictionary,
}

/// What the first lines tell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub separator: Separator,
    pub form: Form,
    /// The first line that is no comment names the columns.
    pub has_header: bool,
    /// It, or a comment, calls the ends what ends are called.
    is_named: bool,
    /// Names of the columns behind the ends, where a line or a comment says them.
    pub names: Vec<String>,
    /// What the comments say of direction.
    pub undirected: Option<bool>,
    /// Numbers of nodes and edges in the comments.
    pub stated: [Option<u64>; 2],
    /// Dictionaries that were seen are that.
    is_sound: bool,
    /// All ends that were seen are integers.
    integers: bool,
    /// Lines that were seen, without the header.
    lines: usize,
    /// What is behind the ends is numbers, in all lines that were seen, and there is something.
    numbers: bool,
}

/// Pairs of names that ends have in headers.
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
    ("head", "tail"),
];

fn are_ends(first: &str, second: &str) -> bool {
    let (first, second) = (first.to_lowercase(), second.to_lowercase());
    ENDS.contains(&(first.as_str(), second.as_str()))
}

/// Whether a text begins so that it is one of another kind.
fn is_foreign(text: &str) -> bool {
    text.starts_with("%%MatrixMarket") || text.starts_with(['<', '{', '[', '@'])
}

impl Layout {
    /// What the beginning of a text tells; nothing where it is no edge list. The last line may be cut off unless `is_whole`.
    pub fn of(text: &[u8], is_whole: bool) -> Option<Layout> {
        let end = if is_whole { text.len() } else { memchr::memrchr(b'\n', text)? };
        let text = std::str::from_utf8(text.get(..end)?).ok()?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if is_foreign(text) || text.contains('\0') {
            return None;
        }
        let lines: Vec<&str> = text.split('\n').filter_map(content).collect();
        let comments: Vec<&str> = text.split('\n').take_while(|line| content(line).is_none()).collect();
        let separator = separator(&lines)?;
        let (mut undirected, mut stated, mut names) = (None, [None; 2], Vec::new());
        for comment in &comments {
            read_comment(comment, &mut undirected, &mut stated, &mut names);
        }
        let mut layout = Layout {
            separator,
            form: Form::Dictionary,
            has_header: false,
            is_named: false,
            names: Vec::new(),
            undirected,
            stated,
            is_sound: true,
            integers: false,
            lines: lines.len(),
            numbers: false,
        };
        if with_dictionary(lines.first()?, separator).is_some() {
            // Whether all of them are that is for the lines themselves to say.
            layout.is_sound = are_dictionaries(&lines, separator);
            return Some(layout);
        }
        let mut fields: Vec<Vec<Cow<'_, str>>> = Vec::with_capacity(lines.len());
        for line in &lines {
            let mut own = Vec::new();
            split(line, separator, &mut own);
            fields.push(own);
        }
        let width = fields.first()?.len();
        if !(2..=COLUMNS + 2).contains(&width) || fields.iter().any(|own| own.len() != width) {
            return None;
        }
        let are_integers = |own: &Vec<Cow<'_, str>>| own.iter().take(2).all(|end| integer(end).is_some());
        let behind = fields.get(1..).unwrap_or_default();
        let first = fields.first()?;
        let says_so = names.len() == width;
        let named = !says_so && are_ends(&first[0], &first[1]);
        let stands_out = !says_so
            && separator != Separator::Blanks
            && !behind.is_empty()
            && !are_integers(first)
            && behind.iter().all(are_integers);
        layout.is_named = named || says_so;
        layout.has_header = named || stands_out && first.iter().all(|name| float(name).is_none());
        let data = if layout.has_header { behind } else { fields.as_slice() };
        layout.lines = data.len();
        layout.integers = !data.is_empty() && data.iter().all(are_integers);
        layout.form = Form::Columns(width - 2);
        let is_number = |field: &Cow<'_, str>| integer(field).is_some() || float(field).is_some();
        layout.numbers = width > 2 && data.iter().all(|own| own.iter().skip(2).all(is_number));
        let own: Vec<String> = first.iter().map(|name| name.clone().into_owned()).collect();
        let named = if layout.has_header { own } else { names };
        layout.names = named.get(2..).filter(|_| named.len() == width).unwrap_or_default().to_vec();
        Some(layout)
    }

    /// The layout of a text without lines.
    fn empty(text: &str) -> Layout {
        let (mut undirected, mut stated, mut names) = (None, [None; 2], Vec::new());
        text.split('\n').for_each(|comment| read_comment(comment, &mut undirected, &mut stated, &mut names));
        Layout {
            separator: Separator::Blanks,
            form: Form::Columns(0),
            has_header: false,
            is_named: false,
            names: Vec::new(),
            undirected,
            stated,
            is_sound: true,
            integers: false,
            lines: 0,
            numbers: false,
        }
    }

    /// Whether a file of this name holds an edge list for certain enough to say so unasked.
    fn is_certain(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        let ending = stem.rsplit_once('.').map_or("", |(_, ending)| ending);
        if self.lines == 0 || !self.is_sound {
            return false;
        }
        let says_so = matches!(ending, "edgelist" | "edges" | "el" | "wel" | "ncol");
        let is_table = matches!(ending, "txt" | "tsv" | "csv" | "dat" | "");
        match (ending, self.form) {
            // Those of DeepGNN have commas.
            ("edgelist", _) if self.separator == Separator::Comma => false,
            (_, Form::Dictionary) => says_so || is_table,
            // Two columns of a table could be anything; so could more.
            ("csv" | "tsv", Form::Columns(behind)) => self.is_named || !self.has_header && self.integers && behind == 0,
            (_, Form::Columns(behind)) if says_so => behind == 0 || self.numbers || self.has_header,
            (_, Form::Columns(behind)) if is_table => {
                let most = if self.separator == Separator::Comma { 1 } else { 2 };
                self.is_named || !self.has_header && self.integers && (behind == 0 || behind <= most && self.numbers)
            }
            _ => false,
        }
    }
}

/// What divides the fields of all lines; nothing where there are none.
fn separator(lines: &[&str]) -> Option<Separator> {
    // What stands in a dictionary divides nothing.
    let plain = |line: &&&str| line.find('{').and_then(|open| line.get(..open)).unwrap_or(line).to_owned();
    let lines: Vec<String> = lines.iter().map(|line| plain(&line)).collect();
    if lines.is_empty() {
        return None;
    }
    let all = |has: &dyn Fn(&str) -> bool| lines.iter().all(|line| has(line));
    if all(&|line| line.trim().contains('\t')) {
        return Some(Separator::Tab);
    }
    if all(&|line| line.contains(',')) {
        return Some(Separator::Comma);
    }
    all(&|line| line.split_whitespace().nth(1).is_some()).then_some(Separator::Blanks)
}

/// Whether all lines have a dictionary.
fn are_dictionaries(lines: &[&str], separator: Separator) -> bool {
    lines.iter().all(|line| {
        let found = with_dictionary(line, separator).and_then(|(_, _, open)| line.get(open..));
        found.is_some_and(|text| python::dictionary(text.trim_end(), &mut |_, _| ()).is_ok())
    })
}

/// Takes from a comment what SNAP says in comments: `# Undirected graph: …`, `# Nodes: 5 Edges: 7`, `# FromNodeId ToNodeId`.
fn read_comment(line: &str, undirected: &mut Option<bool>, stated: &mut [Option<u64>; 2], names: &mut Vec<String>) {
    let text = line.trim().trim_start_matches(['#', '%']).trim();
    let lower = text.to_lowercase();
    if lower.starts_with("undirected graph") || lower == "sym" || lower.starts_with("sym ") {
        *undirected = Some(true);
    } else if lower.starts_with("directed graph") || lower == "asym" || lower.starts_with("asym ") {
        *undirected = Some(false);
    }
    let mut words = lower.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let at = match word {
            "nodes:" => 0,
            "edges:" => 1,
            _ => continue,
        };
        if let Some(number) = words.peek().and_then(|next| next.parse().ok()) {
            stated[at] = Some(number);
        }
    }
    let fields: Vec<&str> = match text.contains('\t') {
        true => text.split('\t').map(str::trim).collect(),
        false => text.split_whitespace().collect(),
    };
    if let [first, second, ..] = fields.as_slice()
        && are_ends(first, second)
    {
        *names = fields.iter().map(|name| (*name).to_owned()).collect();
    }
}

/// Whether the file at `location` is an edge list, judged by its name and its first lines.
///
/// # Errors
/// When it cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    if location.as_path().is_some_and(std::path::Path::is_dir) {
        return Ok(false);
    }
    let name = if location.scheme() == Scheme::Stream { "" } else { location.file_name() };
    let file = PackedFile::open(location)?;
    // What cannot be unpacked is somebody else's.
    let Ok(begin) = file.begin(LOOK) else { return Ok(false) };
    let is_whole = (begin.len() as u64) < LOOK;
    Ok(Layout::of(&begin, is_whole).is_some_and(|layout| layout.is_certain(name)))
}

/// The layout of a file that is an edge list because somebody says so.
///
/// # Errors
/// When its first lines are none.
pub(crate) fn layout(file: &PackedFile) -> Result<Layout> {
    let begin = file.begin(LOOK)?;
    let is_whole = (begin.len() as u64) < LOOK;
    if let Ok(text) = std::str::from_utf8(&begin)
        && is_whole
        && text.split('\n').all(|line| content(line).is_none())
    {
        return Ok(Layout::empty(text));
    }
    Layout::of(&begin, is_whole).ok_or_else(|| {
        Error::broken(
            &crate::rules::FIELDS,
            "the first lines are not those of an edge list: two names, and in all lines as many fields",
        )
        .at(file.blob.place())
    })
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
            "1 2\n1 2 3\n",
            "<a> <b> <c> .\n",
            "{\"a\": 1}\n",
            "%%MatrixMarket matrix\n1 2\n",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn names_and_lines_make_certain() {
        let certain = |text: &str, name: &str| of(text).is_some_and(|layout| layout.is_certain(name));
        assert!(
            certain("1 2\n", "graph.txt") && certain("1 2 1082040961\n", "graph.txt.gz") && certain("a b\n", "g.edges")
        );
        assert!(!certain("to be\nor not\n", "hamlet.txt") && !certain("1,-1,0,1.0\n", "g.edgelist"));
        assert!(certain("source\ttarget\tkind\na\tb\tx\n", "g.tsv") && !certain("a,b\nc,d\n", "g.csv"));
        assert!(!certain("id,name\n1,2\n3,4\n", "g.ttl") && !certain("1 2\n", "g.nt"));
    }
}
