//! Drawings for people: DOT of Graphviz, and Mermaid's flowcharts. They are written only.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Direction, Graph, Property};
use isomorph_records::{Cell, Cells, EdgeRow, Form, KeyCell};

/// The language of a drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// DOT.
    Dot,
    /// Mermaid.
    Mermaid,
}

impl Language {
    /// The largest number of nodes, and of edges, that are drawn: more is no picture, and Mermaid refuses more than 500 edges.
    pub const fn most(self) -> u64 {
        match self {
            Language::Dot => 10_000,
            Language::Mermaid => 500,
        }
    }

    /// The name of the language.
    pub const fn name(self) -> &'static str {
        match self {
            Language::Dot => "DOT",
            Language::Mermaid => "Mermaid",
        }
    }

    /// Appends a text in quotation marks.
    fn quoted(self, out: &mut String, text: &str) {
        out.push('"');
        for character in text.chars() {
            match (self, character) {
                (Language::Dot, '"') => out.push_str("\\\""),
                (Language::Dot, '\\') => out.push_str("\\\\"),
                (Language::Dot, '\n') => out.push_str("\\n"),
                (Language::Dot, other) => out.push(other),
                // Mermaid reads Markdown and HTML in texts; numbers of characters are neither.
                (Language::Mermaid, c) if c.is_ascii_alphanumeric() || !c.is_ascii() && !c.is_control() => out.push(c),
                (Language::Mermaid, c @ (' ' | '.' | ',' | '-' | '/' | ':')) => out.push(c),
                (Language::Mermaid, other) => out.push_str(&format!("#{};", u32::from(other))),
            }
        }
        out.push('"');
    }
}

/// What a drawing shows of elements, by the names of properties.
const TYPE: &str = "type";
const RELATION: &str = "relation";
const LABELS: [&str; 3] = [RELATION, "label", "predicate"];

/// Draws a graph.
pub struct Drawing {
    language: Language,
    directed: bool,
    /// The positions of the property with the type of a node, and of the one with the relation of an edge.
    ty: Option<usize>,
    relation: Option<usize>,
}

impl Drawing {
    /// Creates a drawing.
    pub fn form(language: Language) -> Box<dyn Form> {
        Box::new(Drawing { language, directed: true, ty: None, relation: None })
    }

    fn check(&self, row: u64, what: &str) -> Result<()> {
        let most = self.language.most();
        if row < most {
            return Ok(());
        }
        Err(Error::new(Kind::TooLarge, format!("a drawing in {} has at most {most} {what}", self.language.name()))
            .hint("--types NAME, --where CONDITION    draw a part of the graph"))
    }
}

fn text_of(cells: Cells<'_>, at: Option<usize>) -> Result<Option<String>> {
    let Some(at) = at else { return Ok(None) };
    Ok(match cells.get(at)? {
        Some(Cell::Text(text)) => Some(text.to_owned()),
        Some(cell) => {
            let mut out = String::new();
            cell.push_json(&mut out)?;
            Some(out)
        }
        None => None,
    })
}

fn key_text(key: KeyCell<'_>) -> String {
    match key {
        KeyCell::Integer(value) => value.to_string(),
        KeyCell::Text(text) => text.to_owned(),
        KeyCell::Row(row) => row.to_string(),
    }
}

impl Form for Drawing {
    fn begin(&mut self, out: &mut String, graph: &Graph) -> Result<()> {
        let (node, edge) = (graph.nodes.first(), graph.edges.first());
        self.directed = edge.is_none_or(|ty| ty.direction != Direction::Undirected);
        let named = |all: &[Property], name: &str| all.iter().position(|own| own.name == name);
        self.ty = node.and_then(|ty| named(&ty.properties, TYPE));
        self.relation = edge.and_then(|ty| LABELS.iter().find_map(|name| named(&ty.properties, name)));
        match self.language {
            Language::Dot => {
                out.push_str(if self.directed { "digraph " } else { "graph " });
                self.language.quoted(out, graph.name.as_deref().unwrap_or_default());
                out.push_str(" {\n");
            }
            Language::Mermaid => out.push_str("flowchart LR\n"),
        }
        Ok(())
    }

    fn node(&mut self, out: &mut String, key: KeyCell<'_>, row: u64, cells: Cells<'_>) -> Result<()> {
        self.check(row, "nodes")?;
        let (id, ty) = (key_text(key), text_of(cells, self.ty)?);
        out.push_str(&format!("  n{row}"));
        match self.language {
            Language::Dot => {
                out.push_str(" [label=");
                self.language.quoted(out, &id);
                if let Some(ty) = &ty {
                    out.push_str(", xlabel=");
                    self.language.quoted(out, ty);
                }
                out.push_str("];\n");
            }
            Language::Mermaid => {
                let label = ty.map_or(id.clone(), |ty| format!("{id} : {ty}"));
                out.push('[');
                self.language.quoted(out, &label);
                out.push_str("]\n");
            }
        }
        Ok(())
    }

    fn between(&mut self, _out: &mut String) -> Result<()> {
        Ok(())
    }

    fn edge(&mut self, out: &mut String, edge: EdgeRow<'_>) -> Result<()> {
        self.check(edge.number, "edges")?;
        let label = text_of(edge.cells, self.relation)?;
        let (source, target) = (key_text(edge.source), key_text(edge.target));
        let is_directed = edge.directed.unwrap_or(self.directed);
        match self.language {
            Language::Dot => {
                let arrow = if self.directed { "->" } else { "--" };
                out.push_str(&format!("  n{source} {arrow} n{target}"));
                let mut attributes = Vec::new();
                if let Some(label) = &label {
                    let mut own = String::from("label=");
                    self.language.quoted(&mut own, label);
                    attributes.push(own);
                }
                if self.directed && !is_directed {
                    attributes.push("dir=none".to_owned());
                }
                if !attributes.is_empty() {
                    out.push_str(&format!(" [{}]", attributes.join(", ")));
                }
                out.push_str(";\n");
            }
            Language::Mermaid => {
                let arrow = if is_directed { "-->" } else { "---" };
                out.push_str(&format!("  n{source} {arrow}"));
                if let Some(label) = label.filter(|label| !label.is_empty()) {
                    out.push('|');
                    self.language.quoted(out, &label);
                    out.push('|');
                }
                out.push_str(&format!(" n{target}\n"));
            }
        }
        Ok(())
    }

    fn end(&mut self, out: &mut String) -> Result<()> {
        if self.language == Language::Dot {
            out.push_str("}\n");
        }
        Ok(())
    }

    fn wants_rows(&self) -> bool {
        true
    }
}

/// Draws the schema of a graph as SVG, which browsers show.
pub fn schema_svg(graph: &Graph) -> String {
    crate::schema_svg::draw(graph)
}

/// Draws the schema of a graph: its node types with their properties, and its edge types.
pub fn schema(graph: &Graph, language: Language) -> String {
    let mut out = String::new();
    let lines = |name: &str, properties: &[Property]| {
        let mut all = vec![name.to_owned()];
        all.extend(
            properties
                .iter()
                .filter(|own| !own.name.is_empty())
                .map(|own| format!("{} {}", own.name, isomorph_model::type_name::type_name(&own.data_type))),
        );
        all
    };
    let joined = |out: &mut String, lines: &[String]| match language {
        Language::Dot => language.quoted(out, &lines.join("\n")),
        Language::Mermaid => {
            let mut parts = Vec::new();
            for line in lines {
                let mut own = String::new();
                language.quoted(&mut own, line);
                parts.push(own.trim_matches('"').to_owned());
            }
            out.push_str(&format!("\"{}\"", parts.join("<br/>")));
        }
    };
    out.push_str(match language {
        Language::Dot => "digraph schema {\n  node [shape=box];\n",
        Language::Mermaid => "flowchart LR\n",
    });
    let hyperedges = graph.hyperedges.iter().map(|ty| (&ty.name, &ty.properties));
    for (at, (name, properties)) in
        graph.nodes.iter().map(|ty| (&ty.name, &ty.properties)).chain(hyperedges).enumerate()
    {
        out.push_str(&format!("  n{at}"));
        out.push_str(if language == Language::Dot { " [label=" } else { "[" });
        joined(&mut out, &lines(name, properties));
        out.push_str(if language == Language::Dot { "];\n" } else { "]\n" });
    }
    for ty in &graph.edges {
        let label = lines(ty.relation.fixed().unwrap_or("(by row)"), &ty.properties);
        let undirected = ty.direction == Direction::Undirected;
        match language {
            Language::Dot => {
                out.push_str(&format!("  n{} -> n{} [label=", ty.source, ty.target));
                joined(&mut out, &label);
                out.push_str(if undirected { ", dir=none];\n" } else { "];\n" });
            }
            Language::Mermaid => {
                out.push_str(&format!("  n{} {}|", ty.source, if undirected { "---" } else { "-->" }));
                joined(&mut out, &label);
                out.push_str(&format!("| n{}\n", ty.target));
            }
        }
    }
    for (at, ty) in graph.hyperedges.iter().enumerate() {
        let own = graph.nodes.len() + at;
        out.push_str(&match language {
            Language::Dot => format!("  n{own} -> n{} [style=dashed, dir=none];\n", ty.ends),
            Language::Mermaid => format!("  n{own} -.- n{}\n", ty.ends),
        });
    }
    if language == Language::Dot {
        out.push_str("}\n");
    }
    out
}
