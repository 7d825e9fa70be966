//! How a query is answered, and what that reads.

use std::collections::BTreeSet;
use std::time::Duration;

use isomorph_error::Result;
use isomorph_model::{EndForm, KeyKind, Narrowing, Tables, Way};

use crate::scan::Scan;
use crate::schema::Role;
use crate::table::TableKind;

/// Rows that writers of Parquet put into a page, so many are read to find one.
const PAGE_ROWS: u64 = 20_000;

/// How a query is answered, in any language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Plans: what each is called, and its lines.
    pub plans: Vec<(String, String)>,
    /// What is read, in the order in which the plan names it.
    pub reads: Vec<PlannedRead>,
    /// What became of it, if the query was run.
    pub ran: Option<Ran>,
}

/// What is read of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRead {
    /// The table.
    pub table: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// How rows are found, in a few words.
    pub way: String,
    /// Bytes of files, as far as that is known without reading rows.
    pub bytes: Option<u64>,
    /// Whether it may be less: what does not pass a filter may be left out, or only the size of all files is known.
    pub is_most: bool,
}

/// A query that was run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    /// Rows of its answer.
    pub rows: u64,
    /// Bytes that were read of files and objects meanwhile.
    pub bytes: u64,
    /// The time that it took.
    pub time: Duration,
}

impl Explanation {
    /// Adds what a scan reads. What is read once for a whole graph, its keys, is not counted twice.
    pub fn add(&mut self, reads: Vec<PlannedRead>) {
        for read in reads {
            if !(read.is_of_keys() && self.reads.contains(&read)) {
                self.reads.push(read);
            }
        }
    }

    /// The bytes of all that is read, and whether it may be less; nothing, if it is not known of some.
    pub fn predicted(&self) -> (Option<u64>, bool) {
        let sum = self.reads.iter().try_fold(0, |sum: u64, read| Some(sum.saturating_add(read.bytes?)));
        (sum, self.reads.iter().any(|read| read.is_most))
    }
}

/// How keys of nodes are read.
const KEYS: &str = "keys, once";

impl PlannedRead {
    fn is_of_keys(&self) -> bool {
        self.way == KEYS
    }
}

impl Scan<'_> {
    /// What it reads: of its table, and of the nodes whose keys it needs, which are read once. No row is read to find out.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use isomorph_dataset::Dataset;
    /// # use isomorph_model::{Graph, Key, MemoryGraph, NodeType};
    /// # use isomorph_storage::Resources;
    /// # let graph = Graph { nodes: vec![NodeType::new("person", Key::int64().named("id"))], ..Graph::default() };
    /// # let source = Arc::new(MemoryGraph { graph, batches: Vec::new() });
    /// # let dataset = Dataset::new(source, Resources::of_this_machine()?);
    /// let reads = dataset.scan("person")?.columns(["id"]).planned_reads()?;
    /// assert_eq!((reads[0].table.as_str(), reads[0].columns.len(), reads[0].bytes), ("person", 1, None));
    /// # Ok::<(), isomorph_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Scan::schema`], and if metadata cannot be read.
    pub fn planned_reads(&self) -> Result<Vec<PlannedRead>> {
        let positions = self.read_positions()?;
        let (dataset, table) = (self.dataset(), self.table());
        let known = dataset.statistics(table.name())?;
        let roles: Vec<Role> = positions.iter().filter_map(|at| table.roles().get(*at).copied()).collect();
        let column = |at: &usize| match table.roles().get(*at) {
            Some(Role::Row | Role::Question) => Some(0),
            _ => known.columns.get(*at)?.bytes.value().copied(),
        };
        let all = || Some(dataset.source().about().bytes).filter(|bytes| *bytes > 0);
        // Ends that are rows are read together, and checked.
        let are_rows = matches!(table.kind(), TableKind::Edges(ty) if dataset.source().end_form(ty) == EndForm::Rows);
        let is_end = |at: &usize| matches!(table.roles().get(*at), Some(Role::Source | Role::Target));
        let ends = (0..table.roles().len()).filter(|at| are_rows && is_end(at) && !positions.contains(at));
        let bytes: Option<Vec<u64>> = positions.iter().copied().chain(ends).map(|at| column(&at)).collect();
        let is_known = bytes.is_some();
        let bytes = match (bytes, self.looked_up()?) {
            (None, _) => all(),
            (Some(each), None) => Some(each.iter().sum()),
            // A page of each column for each key, at most all of them.
            (Some(each), Some(keys)) => {
                let rows = known.rows.value().copied().unwrap_or_default().max(1);
                let pages = |bytes: &u64| {
                    let found = u128::from(*bytes) * u128::from(PAGE_ROWS) * u128::from(keys) / u128::from(rows);
                    u64::try_from(found).unwrap_or(u64::MAX).min(*bytes)
                };
                Some(each.iter().map(pages).sum())
            }
        };
        let names = positions.iter().map(|at| table.schema().field(*at).name().clone());
        let mut reads = vec![PlannedRead {
            table: table.name().to_owned(),
            columns: names.collect(),
            way: self.way()?,
            bytes,
            is_most: !is_known || self.may_skip(),
        }];
        self.add_keys(&roles, &mut reads)?;
        Ok(reads)
    }

    /// How rows are found, in a few words.
    ///
    /// # Errors
    /// As for [`Scan::schema`].
    pub fn way(&self) -> Result<String> {
        let Some((column, keys)) = self.asked() else { return Ok("scan".to_owned()) };
        let found = self.dataset().look_up_cost(self.table().name(), column)?.way != Way::Pass;
        let what = if found { "look-up of" } else { "scan for" };
        Ok(format!("{what} {keys} key{} in {column}", if keys == 1 { "" } else { "s" }))
    }

    /// How many keys are found without reading all rows.
    fn looked_up(&self) -> Result<Option<u64>> {
        let Some((column, keys)) = self.asked() else { return Ok(None) };
        let way = self.dataset().look_up_cost(self.table().name(), column)?.way;
        Ok((way != Way::Pass).then_some(keys as u64))
    }

    /// Adds the keys of nodes that are read first.
    fn add_keys(&self, roles: &[Role], reads: &mut Vec<PlannedRead>) -> Result<()> {
        let (dataset, source) = (self.dataset(), self.dataset().source());
        let graph = source.graph();
        let nodes = |role: Role| match (self.table().kind(), role) {
            (TableKind::Edges(ty), Role::Source | Role::Target) if source.end_form(ty) == EndForm::Rows => {
                let edge = graph.edges.get(ty)?;
                Some(if role == Role::Source { edge.source } else { edge.target })
            }
            _ => None,
        };
        let has_keys = |ty: &usize| graph.nodes.get(*ty).is_some_and(|ty| ty.key.kind != KeyKind::Row);
        let shown = roles.iter().filter_map(|role| nodes(*role)).filter(has_keys);
        let mut wanted: Vec<usize> = shown.filter(|_| !self.shows_rows()).collect();
        if let Some((column, _)) = self.asked() {
            let role = self.table().roles().get(self.table().column(column)?).copied();
            let of_key = |role: Role| match self.table().kind() {
                TableKind::Nodes(ty) if role == Role::Key && self.needs_rows() => Some(ty),
                _ => None,
            };
            wanted.extend(role.and_then(|role| nodes(role).or_else(|| of_key(role))).filter(has_keys));
        }
        if !wanted.is_empty() && dataset.keys().reads_all_keys() {
            wanted = (0..graph.nodes.len()).filter(has_keys).collect();
        }
        let mut seen = BTreeSet::new();
        for ty in wanted.into_iter().filter(|one| seen.insert(*one)) {
            let known = source.statistics(Tables::NodeKeys(ty))?.column(Narrowing::KEY);
            let of_type = |kind| matches!(kind, TableKind::Nodes(own) if own == ty);
            let Some(table) = dataset.tables().iter().find(|table| of_type(table.kind())) else { continue };
            let at = table.roles().iter().position(|role| *role == Role::Key);
            let bytes = known.bytes.value().copied();
            reads.push(PlannedRead {
                table: table.name().to_owned(),
                columns: at.map(|at| table.schema().field(at).name().clone()).into_iter().collect(),
                way: KEYS.to_owned(),
                bytes: bytes.or_else(|| Some(source.about().bytes).filter(|bytes| *bytes > 0)),
                is_most: bytes.is_none(),
            });
        }
        Ok(())
    }

    /// Whether a look-up by keys of nodes is one by their rows.
    fn needs_rows(&self) -> bool {
        let TableKind::Nodes(ty) = self.table().kind() else { return false };
        let found = |column: &str| self.dataset().source().look_up_cost(Tables::Nodes(ty), column).way;
        found(Narrowing::ROW) == Way::Index && found(Narrowing::KEY) != Way::Index
    }
}
