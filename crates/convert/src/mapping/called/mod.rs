//! What types and columns of files are called in the graph that is shown of them.
//!
//! A mapping leads from the graph that is shown to that of the files over others, and each of these has names of its own: a type may be
//! one of several parts of the type that is shown, and a column a member of its bag. The first graph that knows a name says what it
//! means; names that the files alone have mean what they mean there.

mod table;
mod way;

use isomorph_error::{Error, Result};

use super::stored::Stored;
use super::{Mapping, Step};
use table::Table;

/// The hint for what has an answer in the files alone.
pub(crate) const IGNORE: &str = "--carry ignore    takes types and columns as `info` lists them behind `stored`";

/// The tables of the files of a mapping, with their names in all graphs on the way there.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    nodes: Vec<Table>,
    edges: Vec<Table>,
    /// What the files call them.
    names: Vec<String>,
    /// How many graphs are on the way.
    graphs: usize,
}

/// Types of the files that one name means together.
pub(crate) struct Chosen<'a> {
    /// Each with its name in the files.
    pub(crate) tables: Vec<(&'a str, &'a Table)>,
    /// The graph that knows the name.
    graph: usize,
    name: String,
}

/// A column of a table of the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    /// What the files call it.
    pub(crate) name: String,
    /// What it stands for.
    pub(crate) stored: Stored,
}

fn ambiguous(name: &str, what: &str) -> Error {
    Error::unsupported(format!("{name} is the name of {what}, which a selection does not tell apart")).hint(IGNORE)
}

impl Tables {
    /// The tables that a name means: nothing where no graph has it.
    ///
    /// # Errors
    /// When it has two meanings, or may have: relations that are values of a column are not known before that is read.
    pub(crate) fn chosen(&self, name: &str) -> Result<Option<Chosen<'_>>> {
        let all = |tables: &[Table], graph: usize| -> Vec<usize> {
            let is_meant =
                |table: &Table| table.called.get(graph).is_some_and(|own| own.names.iter().any(|n| n == name));
            (0..tables.len()).filter(|at| tables.get(*at).is_some_and(is_meant)).collect()
        };
        let first = |tables: &[Table]| {
            (0..self.graphs).map(|graph| (graph, all(tables, graph))).find(|(_, found)| !found.is_empty())
        };
        let (nodes, edges) = (first(&self.nodes), first(&self.edges));
        let (is_node, graph, found) = match (nodes, edges) {
            (Some((late, _)), Some((early, _))) if early < late => {
                return Err(ambiguous(name, "a relation of the graph and of nodes in the files"));
            }
            // A name of both means nodes.
            (Some((graph, nodes)), _) => (true, graph, nodes),
            (None, edges) => {
                let (graph, edges) = edges.unwrap_or((self.graphs, Vec::new()));
                let mut before = self.edges.iter().flat_map(|table| table.called.iter().take(graph));
                if before.any(|called| called.in_rows) {
                    let message = format!(
                        "relations of this graph are values of a column, and a selection does not tell which edges {name} means"
                    );
                    return Err(Error::unsupported(message).hint(IGNORE));
                }
                if edges.is_empty() {
                    return Ok(None);
                }
                (false, graph, edges)
            }
        };
        let (tables, names) = match (is_node, self.names.split_at_checked(self.nodes.len())) {
            (true, Some((names, _))) => (&self.nodes, names),
            (false, Some((_, names))) => (&self.edges, names),
            (_, None) => return Ok(None),
        };
        let tables: Vec<(&str, &Table)> =
            found.iter().filter_map(|at| Some((names.get(*at)?.as_str(), tables.get(*at)?))).collect();
        let mut of = tables.iter().filter_map(|(_, table)| table.called.get(graph)).map(|called| called.of);
        let one = of.next();
        if is_node && of.any(|of| Some(of) != one) {
            return Err(ambiguous(name, "several types"));
        }
        Ok(Some(Chosen { tables, graph, name: name.to_owned() }))
    }

    /// The same of a name that may have no meaning, or two: then there is nothing.
    pub(crate) fn known(&self, name: &str) -> Option<Chosen<'_>> {
        self.chosen(name).ok().flatten()
    }

    /// The columns that a name means in all tables, as `TYPE.COLUMN` of the files: keys are read in any case, so that a property comes
    /// before one of its name.
    ///
    /// # Errors
    /// When there is such a column, and nowhere in the files.
    pub(crate) fn in_all(&self, name: &str) -> Result<Vec<String>> {
        shown(self.names.iter().map(String::as_str).zip(self.nodes.iter().chain(&self.edges)), name)
    }
}

/// The columns that a name means in tables, by the first graph that has it.
fn shown<'a>(tables: impl Iterator<Item = (&'a str, &'a Table)> + Clone, name: &str) -> Result<Vec<String>> {
    let graphs = tables.clone().map(|(_, table)| table.called.len()).max().unwrap_or_default();
    for graph in 0..graphs {
        let found =
            |(ty, table): (&'a str, &'a Table)| Some((ty, table, table.called.get(graph)?.columns(name).next()?));
        let found: Vec<_> = tables.clone().filter_map(found).collect();
        if !found.is_empty() {
            let named = found.iter().filter_map(|(ty, table, at)| Some(format!("{ty}.{}", table.column((*at)?)?.name)));
            let named: Vec<String> = named.collect();
            return if named.is_empty() { Err(unstored(name)) } else { Ok(named) };
        }
    }
    Ok(Vec::new())
}

fn unstored(name: &str) -> Error {
    Error::unsupported(format!("{name} is no column of the files")).hint(IGNORE)
}

impl Chosen<'_> {
    /// The columns that a name means in these tables, as [`Tables::in_all`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn shown(&self, name: &str) -> Result<Vec<String>> {
        shown(self.tables.iter().copied(), name)
    }

    /// The column that a name means in each table, in their order: none where it is null in all rows. Nothing where no graph knows it.
    ///
    /// # Errors
    /// When it has two meanings; when one of the types has no such column, or none in the files.
    pub(crate) fn column(&self, name: &str) -> Result<Option<Vec<Option<Column>>>> {
        let graphs = self.tables.iter().map(|(_, table)| table.called.len()).max().unwrap_or_default();
        for graph in 0..graphs {
            let mut found = Vec::new();
            for (_, table) in &self.tables {
                let mut columns = table.called.get(graph).into_iter().flat_map(|called| called.columns(name));
                let column = columns.next();
                if columns.next().is_some() {
                    return Err(ambiguous(name, &format!("the key of {} and of a property", self.name)));
                }
                found.push(column);
            }
            if found.iter().all(Option::is_none) {
                continue;
            }
            let of = |table: &Table| table.called.get(self.graph).and_then(|called| called.of);
            for (ty, table) in &self.tables {
                let others = self.tables.iter().zip(&found).filter(|((_, other), _)| of(other) == of(table));
                let own: Vec<_> = others.map(|(_, column)| column).collect();
                if own.iter().any(|column| matches!(column, Some(Some(_)))) {
                    continue;
                }
                return Err(match own.iter().any(|column| column.is_some()) {
                    true => unstored(name),
                    false => Error::usage(format!("there is no property {name} of {ty} to filter by")),
                });
            }
            let columns = self.tables.iter().zip(found);
            return Ok(Some(columns.map(|((_, table), at)| table.column(at.flatten()?)).collect()));
        }
        Ok(None)
    }
}

impl Table {
    /// The column in this place.
    fn column(&self, at: usize) -> Option<Column> {
        let called = self.called.last()?;
        let (name, _) = called.columns.iter().find(|(_, own)| *own == Some(at))?;
        Some(Column { name: name.clone(), stored: self.columns.get(at).copied()? })
    }
}
