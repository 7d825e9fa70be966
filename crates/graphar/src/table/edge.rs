//! An edge type prepared for reading.

use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::{Direction, EdgeOrder, EdgeType};
use isomorph_storage::Root;
use isomorph_tables::Encoding;

use super::{Column, Group, Refine, Target, property};
use crate::counts::read_count;
use crate::info::{AdjListType, EdgeInfo, ValueType};
use crate::layout::{ListLayout, check_chunks, chunk_count, chunk_rows};
use crate::rules;

/// An edge type: the location of its chunks, and the columns that are read.
pub(crate) struct EdgeTable {
    pub root: Root,
    pub info: EdgeInfo,
    pub lists: Vec<List>,
    /// The groups that have properties.
    pub groups: Vec<Group>,
    /// The type in the model.
    pub shown: EdgeType,
}

/// One adjacency list.
pub(crate) struct List {
    pub kind: AdjListType,
    pub encoding: Encoding,
    pub layout: ListLayout,
    /// Number of vertices in a part.
    pub part_size: u64,
    /// Number of edges in a chunk.
    pub chunk_size: u64,
    root: Root,
    counts: Mutex<Option<Arc<Counts>>>,
}

/// The content of the count files of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Number of vertices of the aligned type.
    pub vertices: u64,
    /// Number of edges in each part.
    pub edges: Vec<u64>,
}

impl Counts {
    /// Returns the number of edges in all parts.
    ///
    /// # Errors
    /// Returns [`rules::COUNT_RANGE`] if the sum exceeds 64 bits.
    pub fn total(&self) -> Result<u64> {
        let sum = self.edges.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
        sum.ok_or_else(|| Error::broken(&rules::COUNT_RANGE, "the edge counts add up to more than 2^64"))
    }
}

impl List {
    /// Returns the counts, which are read once.
    ///
    /// # Errors
    /// Returns [`rules::FILE_MISSING`], [`rules::COUNT_SIZE`], [`rules::COUNT_RANGE`], or an error of reading.
    pub fn counts(&self) -> Result<Arc<Counts>> {
        let mut known = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counts) = &*known {
            return Ok(Arc::clone(counts));
        }
        let count = |path: String| read_count(&self.root, &path)?.ok_or_else(|| super::chunk::missing(&path));
        let vertices = count(self.layout.vertex_count())?;
        let parts = chunk_count(vertices, self.part_size);
        check_chunks(parts, "the vertex count").map_err(|error| error.at(Place::file(self.layout.vertex_count())))?;
        let mut edges = Vec::new();
        for part in 0..parts {
            let path = self.layout.edge_count(part);
            let count = count(path.clone())?;
            check_chunks(chunk_count(count, self.chunk_size), "the edge count")
                .map_err(|error| error.at(Place::file(path)))?;
            edges.push(count);
        }
        let counts = Arc::new(Counts { vertices, edges });
        counts.total().map_err(|error| error.at(Place::file(self.layout.base())))?;
        Ok(Arc::clone(known.insert(counts)))
    }

    /// Returns the number of rows in chunk `chunk` of a part with `edges` edges.
    pub fn chunk_rows(&self, edges: u64, chunk: u64) -> u64 {
        chunk_rows(edges, self.chunk_size, chunk)
    }
}

impl EdgeTable {
    /// Resolves an edge type between these source and destination node types of the model.
    ///
    /// # Errors
    /// As [`super::VertexTable::new`].
    pub fn new(
        refine: &Refine<'_>,
        info: EdgeInfo,
        ends: (usize, usize),
        preferred: Option<AdjListType>,
        findings: &mut Findings,
    ) -> Result<Self> {
        let mut lists = Vec::new();
        for list in &info.lists {
            lists.push(List {
                kind: list.kind,
                encoding: list.file_type.encoding(),
                layout: ListLayout::new(&info, list).map_err(|error| error.at(Place::file(&info.file)))?,
                part_size: info.part_size(list.kind),
                chunk_size: info.chunk_size,
                root: refine.root.clone(),
                counts: Mutex::default(),
            });
        }
        lists.sort_by_key(|list| (Some(list.kind) != preferred, list.kind));
        let mut shown = EdgeType::new(ends.0, &info.relation, ends.1);
        if !info.directed.unwrap_or(false) {
            shown.direction = Direction::Undirected;
        }
        let counts = lists.first().map(List::counts);
        let mut first = None;
        match counts {
            Some(Ok(counts)) => {
                shown.rows = Some(counts.total()?);
                first = counts.edges.iter().position(|edges| *edges > 0).map(|part| part as u64);
            }
            Some(Err(error)) if error.broken_rule().is_some_and(|rule| rule.id == rules::FILE_MISSING.id) => {
                findings.push(&rules::FILE_MISSING, error.message(), error.place().clone());
            }
            Some(Err(error)) => return Err(error),
            None => {}
        }
        let mut groups = Vec::new();
        for (number, group) in info.groups.iter().enumerate() {
            let first = lists.first().zip(first).map(|(list, part)| list.layout.chunk(number, part, 0));
            let types = refine.types(group, first.as_deref())?;
            let mut columns = Vec::new();
            for (info, data_type) in group.properties.iter().zip(types) {
                let target = Target::Property(shown.properties.len());
                shown.properties.push(property(info, &data_type));
                let as_text = matches!(info.value_type, ValueType::Other(_));
                columns.push(Column { name: info.name.clone(), data_type, target, as_text });
            }
            groups.push(Group { number, encoding: group.file_type.encoding(), columns: columns.into() });
        }
        groups.retain(|group| !group.columns.is_empty());
        Ok(EdgeTable { root: refine.root.clone(), lists, groups, shown, info })
    }

    /// Returns the list of kind `kind`.
    pub fn list(&self, kind: AdjListType) -> Option<&List> {
        self.lists.iter().find(|list| list.kind == kind)
    }

    /// Returns the list whose edges are in `order`.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if there is none.
    pub fn list_in_order(&self, order: EdgeOrder) -> Result<&List> {
        let found = match order {
            EdgeOrder::Any => self.lists.first(),
            EdgeOrder::Source => self.list(AdjListType::OrderedBySource),
            EdgeOrder::Target => self.list(AdjListType::OrderedByDest),
        };
        found.ok_or_else(|| match self.lists.is_empty() {
            true => Error::broken(&rules::META_LIST_NONE, format!("{} has no adjacency list", self.info.name()))
                .at(self.info.file.as_str()),
            false => Error::usage(format!("{} has no adjacency list in this order", self.info.name())),
        })
    }

    /// Adds the other lists of this type to an error, as hints.
    pub fn with_other_lists(&self, error: Error, list: &List) -> Error {
        self.lists.iter().filter(|other| other.kind != list.kind).fold(error, |error, other| {
            error.hint(format!("--adjacency {}    read another copy of these edges", other.kind))
        })
    }
}
