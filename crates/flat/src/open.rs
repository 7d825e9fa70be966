//! Tables that are opened as a graph.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use isomorph_error::{Error, Finding, Findings, Kind, Result};
use isomorph_model::Graph;
use isomorph_storage::{Budget, Location, Scheme, Scratch, pool};

use crate::ends::EndsOf;
use crate::find::{Found, Purpose, find_for, is_file_of_workbook, is_table, written_as_kgx};
use crate::hints;
use crate::key_by_values::settled;
use crate::keys::Keys;
use crate::opening::Opening;
use crate::sql::Script;
use crate::table::Table;

/// How tables are opened.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Whether a mapping file may name files outside its directory.
    pub allow_outside: bool,
    /// Whether rows that are wrong are set aside.
    pub lenient: bool,
    /// Whether the location is a workbook, whatever its name.
    pub is_workbook: bool,
    /// The graph that was written as JSON lines of KGX, if a sidecar describes it: it is read with its columns.
    pub shown: Option<Graph>,
    /// Memory for keys.
    pub budget: Budget,
    /// Temporary files.
    pub scratch: Option<Scratch>,
    /// Threads that read.
    pub threads: usize,
}

impl Default for OpenOptions {
    fn default() -> Self {
        let budget = Budget::of_this_machine();
        OpenOptions {
            allow_outside: false,
            lenient: false,
            is_workbook: false,
            shown: None,
            budget,
            scratch: None,
            threads: pool::threads(),
        }
    }
}

/// Tables in files, opened as a graph.
///
/// ```no_run
/// use isomorph_flat::{OpenOptions, Tables};
/// use isomorph_model::Source;
/// use isomorph_storage::Location;
///
/// let graph = Tables::open(&Location::parse("social/graph.pgq")?, OpenOptions::default())?;
/// println!("{:?} nodes", graph.graph().node_rows());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct Tables {
    pub(crate) location: Location,
    pub(crate) graph: Graph,
    pub(crate) tables: Vec<Table>,
    pub(crate) nodes: Vec<Nodes>,
    pub(crate) edges: Vec<Edges>,
    pub(crate) keys: Vec<OnceLock<Keys>>,
    pub(crate) options: OpenOptions,
    /// Whether ends of edges are shown as keys, which are text.
    pub(crate) has_named_ends: bool,
    /// Rows that are set aside.
    pub(crate) rejected: Vec<Finding>,
    pub(crate) recognised: Vec<(String, String)>,
    /// What is read in part.
    pub(crate) findings: Findings,
    pub(crate) mapping: Option<String>,
    pub(crate) script: Script,
}

/// Where the nodes of a type are.
pub(crate) struct Nodes {
    pub table: usize,
    pub key: usize,
    /// Whether the key counts rows.
    pub row_keys: bool,
    pub labels: Option<usize>,
    /// For each property its column.
    pub properties: Vec<usize>,
}

/// Where the edges of a type are.
pub(crate) struct Edges {
    pub table: usize,
    pub ends: [usize; 2],
    /// Whether the nodes are the different ends of this table, so that no end is missing among them.
    pub are_own: bool,
    pub directed: Option<usize>,
    /// The column of relations, and the one of this type.
    pub relation: Option<(usize, String)>,
    pub properties: Vec<usize>,
}

/// What tables are opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opens {
    Graph,
    /// To see whether a column is the key.
    Trial,
    /// To write a mapping file.
    Draft,
}

impl Tables {
    /// Opens the tables at `location`: a mapping file, a directory that has one or whose files a convention explains, or a table of edges. Texts are read
    /// once, to count rows and, where nothing declares them, to find the types of columns; then the keys of nodes are compared.
    ///
    /// # Errors
    /// When the files cannot be read, or are no graph.
    pub fn open(location: &Location, options: OpenOptions) -> Result<Tables> {
        let is_workbook = options.is_workbook || is_file_of_workbook(location);
        let find = || match &options.shown {
            Some(graph) => written_as_kgx(location, graph).map(Some),
            None => find_for(location, is_workbook, Purpose::Graph),
        };
        let settle = |found: Option<Found>| found.map(|found| settled(found, find, location, &options)).transpose();
        let found = find().and_then(settle).map_err(|error| hints::with_paths(error, location))?;
        let opened = Tables::of(found, location, options.clone(), Opens::Graph);
        let mut tables = opened.map_err(|error| hints::with_paths(error, location))?;
        match tables.options.lenient {
            true => tables.set_aside()?,
            false => tables.check_keys()?,
        }
        Ok(tables)
    }

    /// The same, but what neither names nor values tell is guessed, and keys are not compared.
    ///
    /// # Errors
    /// As [`Tables::open`].
    pub(crate) fn draft(location: &Location, options: OpenOptions) -> Result<Tables> {
        let is_workbook = is_file_of_workbook(location);
        let find = || find_for(location, is_workbook, Purpose::Draft);
        let told = find().and_then(|found| found.map(|found| settled(found, find, location, &options)).transpose());
        let found = match told {
            Err(error) if error.kind() == Kind::Usage => find_for(location, is_workbook, Purpose::Guess)?,
            Ok(None) => find_for(location, is_workbook, Purpose::Guess)?,
            told => told?,
        };
        Tables::of(found, location, options, Opens::Draft)
    }

    pub(crate) fn of(found: Option<Found>, location: &Location, options: OpenOptions, opens: Opens) -> Result<Tables> {
        let found = found.ok_or_else(|| not_recognised(location))?;
        let (location, findings) = (location.clone(), found.findings.clone());
        let (keeps_keys, is_draft) = (opens == Opens::Graph, opens == Opens::Draft);
        let (opened, by_name) = (Vec::new(), HashMap::new());
        Opening { location, found, options, keeps_keys, is_draft, opened, by_name, findings }.open()
    }

    /// Reads the keys of all nodes: a key that is missing or repeated is a finding, so that no command reads one of two nodes, or counts
    /// both.
    fn check_keys(&mut self) -> Result<()> {
        for ty in 0..self.nodes.len() {
            // The different ends of edges are different keys.
            if self.ends_of(ty).is_some() {
                continue;
            }
            let keys = self.take_kept_keys(ty).and_then(|()| self.keys_of(ty).map(|_| ()));
            self.findings.note(keys)?;
        }
        Ok(())
    }

    /// Whose ends the nodes of a type are, if no file lists them.
    pub(crate) fn ends_of(&self, ty: usize) -> Option<&EndsOf> {
        self.tables.get(self.nodes.get(ty)?.table)?.ends_of.as_ref()
    }

    /// What opening has found, with the rows that are set aside.
    pub(crate) fn all_findings(&self) -> Findings {
        let mut all = self.findings.clone();
        self.rejected.iter().for_each(|one| all.push(one.rule, one.message.clone(), one.place.clone()));
        all
    }

    /// The rows that are set aside, see [`OpenOptions::lenient`].
    pub fn rejected(&self) -> &[Finding] {
        &self.rejected
    }

    /// What was recognised, and by what: a line each, subject and fact.
    pub fn recognised(&self) -> &[(String, String)] {
        &self.recognised
    }

    /// The mapping, with the columns that were found.
    pub(crate) fn script(&self) -> &Script {
        &self.script
    }

    /// The mapping file, if there is one.
    pub fn mapping(&self) -> Option<&str> {
        self.mapping.as_deref()
    }

    /// Whether it is a file that is a table of edges alone.
    pub fn is_table_alone(&self) -> bool {
        is_table(&self.location)
    }

    /// The size of all files, in bytes, and their number.
    pub(crate) fn size(&self) -> (u64, u64) {
        let files = self.tables.iter().filter(|table| table.ends_of.is_none());
        let parts = files.flat_map(|table| &table.files);
        let files: BTreeMap<&str, u64> = parts.map(|part| (part.blob.name(), part.blob.size())).collect();
        (files.values().sum(), files.len() as u64 + u64::from(self.mapping.is_some()))
    }
}

/// What is said of a file whose names of columns tell no ends of edges.
fn no_edges(location: &Location) -> Error {
    let is_stream = location.scheme() == Scheme::Stream;
    let name = location.file_name();
    let columns = crate::conventions::columns_of(location).join(", ");
    let what = format!("no columns of the table are called source and target: {columns}");
    let error = Error::unsupported(what)
        .at(location.to_string())
        .hint("rename the columns with the ends of edges to source and target");
    match is_stream {
        true => error.hint("write the table to a file, and name the ends in a mapping file: isomorph import init"),
        false => error.hint(hints::INIT_FILE).hint(format!("isomorph sql {name} 'select …'    ask the table in SQL")),
    }
}

/// What is said of tables that nothing makes a graph of: which there are, and what was looked for.
pub(crate) fn not_recognised(location: &Location) -> Error {
    if is_table(location) || location.scheme() == Scheme::Stream {
        return no_edges(location);
    }
    let tables = crate::conventions::described(location);
    let what = match tables.is_empty() {
        true => "there are no tables, and no mapping file that names some".to_owned(),
        false => format!("no mapping file and no convention makes a graph of these tables: {}", tables.join("; ")),
    };
    Error::unsupported(what)
        .at(location.to_string())
        .hint("two tables: nodes and edges, with columns id, source and target")
        .hint("a table for each type: person with a column id, person_knows_person with source and target")
        .hint("headers as Neo4j's import, KGX, Gephi and LDBC have them")
        .hint("write a mapping file, graph.pgq: CREATE EXTERNAL TABLE …, CREATE PROPERTY GRAPH …")
}
