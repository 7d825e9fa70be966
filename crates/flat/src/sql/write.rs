//! Writes a mapping file.

use std::fmt;

use isomorph_tables::Encoding;

use super::{Column, Edge, End, ExternalTable, Properties, Script, Vertex, types};

/// Words that mean something in one of the two statements, or in SQL wherever names stand.
const RESERVED: &[&str] = &[
    "all",
    "and",
    "array",
    "as",
    "by",
    "case",
    "cast",
    "check",
    "column",
    "create",
    "default",
    "desc",
    "destination",
    "distinct",
    "drop",
    "edge",
    "else",
    "end",
    "except",
    "exists",
    "external",
    "false",
    "for",
    "foreign",
    "from",
    "graph",
    "group",
    "having",
    "if",
    "in",
    "into",
    "is",
    "join",
    "key",
    "label",
    "like",
    "limit",
    "location",
    "multiset",
    "no",
    "node",
    "not",
    "null",
    "on",
    "options",
    "or",
    "order",
    "primary",
    "properties",
    "property",
    "references",
    "relationship",
    "select",
    "set",
    "source",
    "stored",
    "table",
    "tables",
    "then",
    "to",
    "true",
    "union",
    "unsigned",
    "user",
    "using",
    "values",
    "vertex",
    "when",
    "where",
    "with",
    "without",
];

/// Whether a name needs no quotes: letters in lower case, digits and `_`, and no word of SQL.
pub fn is_plain_name(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_lowercase() || first == '_');
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    begins && name.chars().all(plain) && !RESERVED.contains(&name)
}

struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain_name(self.0) { f.write_str(self.0) } else { write!(f, "\"{}\"", self.0.replace('"', "\"\"")) }
    }
}

struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0.replace('\'', "''"))
    }
}

fn stored(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Csv => "CSV",
        Encoding::Parquet => "PARQUET",
        Encoding::Arrow => "ARROW",
        Encoding::JsonLines => "JSON",
        Encoding::Orc => "ORC",
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = types::name(&self.ty).unwrap_or_else(|| "VARCHAR".to_owned());
        write!(f, "{} {ty}{}", Name(&self.name), if self.required { " NOT NULL" } else { "" })
    }
}

impl fmt::Display for ExternalTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE EXTERNAL TABLE {}", Name(&self.name))?;
        // A type that SQL cannot say is that of the file.
        let columns: Vec<&Column> = self.columns.iter().filter(|column| types::name(&column.ty).is_some()).collect();
        for (at, column) in columns.iter().enumerate() {
            let comma = if at + 1 < columns.len() { "," } else { "\n)" };
            write!(f, "{}\n  {column}{comma}", if at == 0 { " (" } else { "" })?;
        }
        write!(f, "\nSTORED AS {} LOCATION {}", stored(self.encoding), Text(&self.location))?;
        for (at, (name, value)) in self.options.iter().enumerate() {
            let comma = if at + 1 < self.options.len() { "," } else { ")" };
            write!(f, "{}{} {}{comma}", if at == 0 { "\nOPTIONS (" } else { " " }, Text(name), Text(value))?;
        }
        f.write_str(";\n")
    }
}

impl fmt::Display for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |all: &[String]| all.iter().map(|name| Name(name).to_string()).collect::<Vec<_>>().join(", ");
        match self {
            Properties::All => f.write_str("PROPERTIES ARE ALL COLUMNS"),
            Properties::Except(columns) => write!(f, "PROPERTIES ARE ALL COLUMNS EXCEPT ({})", names(columns)),
            Properties::Listed(all) if all.is_empty() => f.write_str("NO PROPERTIES"),
            Properties::Listed(all) => {
                let item = |(column, name): &(String, String)| match column == name {
                    true => Name(column).to_string(),
                    false => format!("{} AS {}", Name(column), Name(name)),
                };
                write!(f, "PROPERTIES ({})", all.iter().map(item).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KEY ({}) REFERENCES {}", Name(&self.column), Name(&self.references))?;
        self.referenced.as_ref().map_or(Ok(()), |column| write!(f, " ({})", Name(column)))
    }
}

impl fmt::Display for Vertex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Name(&self.table))?;
        if self.alias != self.table {
            write!(f, " AS {}", Name(&self.alias))?;
        }
        if let Some(key) = &self.key {
            write!(f, " KEY ({})", Name(key))?;
        }
        write!(f, "\n    LABEL {} {}", Name(&self.label), self.properties)
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Name(&self.table))?;
        if let Some(key) = &self.key {
            write!(f, " KEY ({})", Name(key))?;
        }
        write!(f, "\n    SOURCE {}\n    DESTINATION {}", self.source, self.target)?;
        write!(f, "\n    LABEL {} {}", Name(&self.label), self.properties)
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for table in &self.tables {
            writeln!(f, "{table}")?;
        }
        let graph = &self.graph;
        write!(f, "CREATE PROPERTY GRAPH {}\nVERTEX TABLES (", Name(&graph.name))?;
        let comma = |at: usize, all: usize| if at + 1 < all { "," } else { "" };
        for (at, vertex) in graph.vertices.iter().enumerate() {
            write!(f, "\n  {vertex}{}", comma(at, graph.vertices.len()))?;
        }
        f.write_str("\n)")?;
        if !graph.edges.is_empty() {
            f.write_str("\nEDGE TABLES (")?;
            for (at, edge) in graph.edges.iter().enumerate() {
                write!(f, "\n  {edge}{}", comma(at, graph.edges.len()))?;
            }
            f.write_str("\n)")?;
        }
        f.write_str(";\n")
    }
}
