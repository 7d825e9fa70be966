//! Results of the published decoders for single lines, valid, unusual and malformed: with `compat`, isomorph reads
//! what they read and refuses what they refuse, except for the listed differences.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::{built, fixtures, text};
use isomorph_deepgnn::{BuildOptions, OpenOptions, rules};

/// Read by the decoder, but refused by its writer, or without any meaning.
const REFUSED: &[(&str, &str)] = &[
    // The writer refuses two points for three values.
    ("spec line", "DEEPGNN-COORDINATES"),
    ("spec meta line", "DEEPGNN-COORDINATES"),
    ("meta 2 edges", "DEEPGNN-COORDINATES"),
    ("meta + extra features", "DEEPGNN-COORDINATES"),
    ("sparse truncated", "DEEPGNN-COORDINATES"),
    // Fixed-width texts of numpy are not features that its engine supports.
    ("dtype names", "DEEPGNN-DTYPE"),
    // These raise an error before the decoder is created.
    ("feature w/o length", "DEEPGNN-DEFAULTS"),
    ("empty default features", "DEEPGNN-DEFAULTS"),
    // The writer cannot write a list as text, an id that is a text, or −1.
    ("json binary as list", "DEEPGNN-DTYPE"),
    ("json string id", "DEEPGNN-JSON"),
    ("edgelist id -1", "DEEPGNN-ID"),
    // The decoder was configured for lines with times.
    ("edgelist temporal", "DEEPGNN-DTYPE"),
];

/// Read although the decoder raises an error: a line that does not occur in a file without lines, and constructs of its
/// documentation.
const READ: &[&str] = &["tsv empty", "json temporal binary", "json temporal sparse"];

struct Probe {
    name: String,
    format: String,
    line: String,
    meta: Option<String>,
    raises: bool,
}

/// Returns the text that Python shows as `'…'` or `"…"`, and what follows it; `None` if it was truncated.
fn shown(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            _ if c == quote => return Some((out, text[at + 1..].trim())),
            '\\' => match chars.next()?.1 {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                'r' => out.push('\r'),
                width @ ('x' | 'u') => {
                    let digits: String =
                        chars.by_ref().take(if width == 'x' { 2 } else { 4 }).map(|(_, c)| c).collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?);
                }
                other => out.push(other),
            },
            c => out.push(c),
        }
    }
    None
}

fn probes(file: &str, content: &str) -> Vec<Probe> {
    let mut found: Vec<Probe> = Vec::new();
    // Results of a truncated line are ignored.
    let mut is_cut = true;
    for line in content.lines() {
        if let Some((name, rest)) = line.strip_prefix("## ").and_then(|line| line.split_once(" | ")) {
            let Some((line, rest)) = shown(rest) else {
                is_cut = true;
                continue;
            };
            is_cut = false;
            let format = if file.starts_with("linear") { "linear" } else { name.split(' ').next().unwrap() };
            let meta = rest.starts_with('{').then(|| rest.replace('\'', "\""));
            let (name, format) = (name.to_owned(), format.to_owned());
            found.push(Probe { name, format, line, meta, raises: false });
        } else if let (Some(probe), false) = (found.last_mut(), is_cut) {
            probe.raises |= line.trim_start().starts_with("EXC");
        }
    }
    found
}

#[test]
fn every_probe_is_read_or_refused_as_by_the_published_decoders() {
    let root = fixtures();
    let mut seen = 0;
    for file in ["linear_numpy2.txt", "json_tsv_edgelist_numpy2.txt"] {
        let content = std::fs::read_to_string(root.join("probes").join(file)).unwrap();
        for probe in probes(file, &content) {
            let home = tempfile::tempdir().unwrap();
            let path = text(home.path(), &format!("graph.{}", probe.format), &probe.line, probe.meta.as_deref());
            let out = home.path().join("out");
            let compat = OpenOptions { compat: true, ..OpenOptions::default() };
            let read = built(&path, &out, &compat, &BuildOptions::default());
            let corrected = read.as_ref().is_ok_and(|read| read.findings.count(&rules::EXAMPLE) > 0);
            let refused = read.err();
            let rule = refused.as_ref().map(|error| error.broken_rule().map_or("", |rule| rule.id));
            let listed = REFUSED.iter().find(|(name, _)| *name == probe.name).map(|(_, rule)| *rule);
            let name = &probe.name;
            match rule {
                Some(rule) if probe.raises => assert!(rule.starts_with("DEEPGNN-"), "{name}: {refused:?}"),
                Some(rule) => assert_eq!(Some(rule), listed, "{name}: {refused:?}"),
                // The example of the specification is corrected.
                None if corrected => assert!(probe.line.contains("0 4 1 1 1"), "{name}"),
                None => assert!(!probe.raises && listed.is_none() || READ.contains(&name.as_str()), "{name} was read"),
            }
            // By default, a line is refused with a rule or read: no crash, no incomplete output.
            let default = built(&path, &out, &OpenOptions::default(), &BuildOptions::default());
            if let Err(error) = default {
                assert!(error.broken_rule().is_some_and(|rule| rule.id.starts_with("DEEPGNN-")), "{name}: {error:?}");
            }
            seen += 1;
        }
    }
    assert!(seen > 120, "{seen} probes");
}
