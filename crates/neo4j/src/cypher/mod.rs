//! Scripts of Cypher that create a graph, in statements of at most 1,000 rows.
//!
//! ```text
//! UNWIND [
//! {key: 10, properties: {name: "Ann", born: date("1964-01-02")}}
//! ] AS row
//! MERGE (n:`person` {id: row.key})
//! SET n += row.properties;
//!
//! UNWIND [10] AS key
//! MATCH (n:`person` {id: key})
//! SET n:`Admin`;
//!
//! UNWIND [
//! {source: 10, target: 11, properties: {since: 2010}}
//! ] AS row
//! MATCH (a:`person` {id: row.source})
//! MATCH (b:`person` {id: row.target})
//! CREATE (a)-[r:`knows`]->(b)
//! SET r += row.properties;
//! ```
//!
//! A label that is also the name of another type does not tell whose keys are meant: nodes of that type are found by a label of their own
//! (`` MERGE (n:`isomorph person` {id: row.key}) SET n:`person` ``), which the last statements take away.
//!
//! Only these statements, `CREATE CONSTRAINT` and `DROP CONSTRAINT` are read.

mod read;
mod token;

pub(crate) use read::Script;

/// The beginning of a script.
pub(crate) const HEAD: &str = "// A graph for Neo4j: cypher-shell -f FILE\n";

/// Whether a text begins as scripts do.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(HEAD.as_bytes())
}

/// Words that are not written bare where a name is expected.
const WORDS: &[&str] =
    &["true", "false", "null", "nan", "inf", "infinity", "case", "not", "exists", "count", "all", "any"];

/// Appends a name: in backticks, unless it is plain.
pub(crate) fn push_name(out: &mut String, name: &str, quoted: bool) {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let plain = begins && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if plain && !quoted && !WORDS.contains(&name.to_ascii_lowercase().as_str()) {
        out.push_str(name);
        return;
    }
    out.push('`');
    for c in name.chars() {
        if c == '`' {
            out.push('`');
        }
        out.push(c);
    }
    out.push('`');
}

/// Appends a text in quotes.
pub(crate) fn push_text(out: &mut String, text: &str) {
    use std::fmt::Write as _;
    out.push('"');
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // Some versions read a character by its number wherever a backslash stands before a `u`, even after another one.
            '\\' if rest.peek() == Some(&'u') => out.push_str("\\\\\" + \""),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a map of properties whose values are Cypher already.
pub(crate) fn push_properties<'a>(out: &mut String, properties: impl Iterator<Item = (&'a str, &'a str)>) {
    out.push('{');
    for (at, (name, value)) in properties.enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        push_name(out, name, false);
        out.push_str(": ");
        out.push_str(value);
    }
    out.push('}');
}

/// The statement that makes nodes of rows, which end at `rows`.
///
/// `finder` is the label by which nodes of the type are found.
pub(crate) fn push_nodes(out: &mut String, rows: &str, (ty, finder): (&str, &str), key: &str) {
    out.push_str("UNWIND [\n");
    out.push_str(rows);
    out.push_str("\n] AS row\nMERGE (n:");
    push_name(out, finder, true);
    out.push_str(" {");
    push_name(out, key, false);
    out.push_str(": row.key})\n");
    if finder != ty {
        out.push_str("SET n:");
        push_name(out, ty, true);
        out.push('\n');
    }
    out.push_str("SET n += row.properties;\n\n");
}

/// The statement that gives the nodes with these keys a label.
pub(crate) fn push_label(out: &mut String, keys: &str, ty: &str, key: &str, label: &str) {
    out.push_str("UNWIND [");
    out.push_str(keys);
    out.push_str("] AS key\nMATCH (n:");
    push_name(out, ty, true);
    out.push_str(" {");
    push_name(out, key, false);
    out.push_str(": key})\nSET n:");
    push_name(out, label, true);
    out.push_str(";\n\n");
}

/// The statement that makes relationships of rows: types and names of keys of the ends.
pub(crate) fn push_edges(out: &mut String, rows: &str, ends: [(&str, &str); 2], relation: &str) {
    out.push_str("UNWIND [\n");
    out.push_str(rows);
    out.push_str("\n] AS row\n");
    for (letter, role, (ty, key)) in [("a", "source", ends[0]), ("b", "target", ends[1])] {
        out.push_str("MATCH (");
        out.push_str(letter);
        out.push(':');
        push_name(out, ty, true);
        out.push_str(" {");
        push_name(out, key, false);
        out.push_str(": row.");
        out.push_str(role);
        out.push_str("})\n");
    }
    out.push_str("CREATE (a)-[r:");
    push_name(out, relation, true);
    out.push_str("]->(b)\nSET r += row.properties;\n\n");
}

/// The statements that take a label away by which nodes were found, and its constraint.
pub(crate) fn push_without(out: &mut String, finder: &str) {
    out.push_str("MATCH (n:");
    push_name(out, finder, true);
    out.push_str(")\nCALL { WITH n REMOVE n:");
    push_name(out, finder, true);
    out.push_str(" } IN TRANSACTIONS OF 1000 ROWS;\nDROP CONSTRAINT ");
    push_name(out, finder, true);
    out.push_str(" IF EXISTS;\n\n");
}

/// The statement that makes keys unique, and look-ups by them fast.
pub(crate) fn push_constraint(out: &mut String, (ty, finder): (&str, &str), key: &str) {
    out.push_str("CREATE CONSTRAINT ");
    if finder != ty {
        // By its name it is dropped again.
        push_name(out, finder, true);
        out.push(' ');
    }
    out.push_str("IF NOT EXISTS FOR (n:");
    push_name(out, finder, true);
    out.push_str(") REQUIRE n.");
    push_name(out, key, false);
    out.push_str(" IS UNIQUE;\n");
}
