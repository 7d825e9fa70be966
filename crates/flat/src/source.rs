//! Tables as a source of model batches. Ends of edges are rows, or keys in KGX, whose node types are told by them: each is looked up, so that none is
//! read that is no node.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::filter::filter;
use isomorph_error::{Error, Findings, Kind, Result};
use isomorph_model::label::LabelBuilder;
use isomorph_model::{
    About, Batch, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, KeyKind, LabelColumn, NodeBatch, NodeId, Part, Progress,
    Request, Side, Source, Tables as Wanted, ValueKind, part,
};
use isomorph_tables::Encoding;

use crate::directions::directions;
use crate::keys::{Keys, first_null};
use crate::open::{Edges, Nodes, OpenOptions, Tables};
use crate::reading::Reading;
use crate::rules;
use crate::table::Table;

/// Rows of a batch, at most.
const ROWS: usize = 1 << 14;

/// Which columns of a type are read: positions of properties, and whether labels are.
struct Narrow {
    properties: Vec<bool>,
    labels: bool,
}

impl Narrow {
    fn of(request: &Request, properties: usize) -> Narrow {
        match request.narrowing() {
            None => Narrow { properties: vec![true; properties], labels: true },
            Some(narrowing) => {
                let wanted = (0..properties).map(|at| narrowing.wants(at)).collect();
                Narrow { properties: wanted, labels: narrowing.labels }
            }
        }
    }

    /// Appends the columns of wanted properties to `read`; returns for each property its place among them.
    fn push(&self, columns: &[usize], read: &mut Vec<usize>) -> Vec<Option<usize>> {
        let place = |(wanted, column): (&bool, &usize)| {
            wanted.then(|| {
                read.push(*column);
                read.len() - 1
            })
        };
        self.properties.iter().zip(columns).map(place).collect()
    }
}

impl Tables {
    fn node_table(&self, ty: usize) -> Result<&Nodes> {
        self.nodes.get(ty).ok_or_else(|| Error::usage(format!("there is no node type {ty}")))
    }

    fn edge_table(&self, ty: usize) -> Result<&Edges> {
        self.edges.get(ty).ok_or_else(|| Error::usage(format!("there is no edge type {ty}")))
    }

    fn nodes<'a>(&'a self, ty: usize, request: &Request, parts: &mut Vec<Box<dyn Part + 'a>>) -> Result<()> {
        let own = self.node_table(ty)?;
        // A graph may have been opened whatever is wrong with it. The different ends of edges are different keys.
        if self.ends_of(ty).is_none() {
            self.keys_of(ty)?;
        }
        let table = &self.tables[own.table];
        let narrow = Narrow::of(request, own.properties.len());
        let mut read = vec![own.key];
        let labels = own.labels.filter(|_| narrow.labels).map(|labels| {
            read.push(labels);
            read.len() - 1
        });
        let places = narrow.push(&own.properties, &mut read);
        let rows = request.batch_rows.clamp(1, ROWS);
        let read = Arc::new(read);
        let places = Arc::new(places);
        for piece in table.pieces() {
            let (read, places) = (Arc::clone(&read), Arc::clone(&places));
            let count = piece.rows.end - piece.rows.start;
            let open = move || table.read(&piece, &read, rows);
            parts.push(part::opened(Some(count), open, move |reading: &mut Reading<'a>| {
                let Some((start, rows, columns)) = reading.next_batch()? else { return Ok(None) };
                let keys = columns.first().ok_or_else(|| Error::usage("a batch has no keys"))?;
                let keys = self.node_keys(table, own, keys, start)?;
                let labels = labels.and_then(|at| columns.get(at)).map(|column| label_column(table, column.as_ref()));
                let properties = places.iter().map(|place| place.and_then(|at| columns.get(at).cloned())).collect();
                let labels = labels.filter(|labels| labels.sets().iter().any(|set| !set.is_empty()));
                Ok(Some(Batch::Nodes(NodeBatch { ty, start, numbers: None, rows, keys, labels, properties })))
            }));
        }
        Ok(())
    }

    /// The keys of nodes, as they are; none where they count the rows.
    fn node_keys(&self, table: &Table, own: &Nodes, keys: &ArrayRef, start: u64) -> Result<Option<ArrayRef>> {
        let name = &table.columns[own.key].name;
        let wrong = |rule, at: usize, what: String| {
            let place = table.place_of(start + at as u64).in_field(name.clone());
            Error::broken(rule, what).at(place)
        };
        if let Some(at) = first_null(keys) {
            return Err(wrong(&rules::KEY, at, "the row has no key".to_owned()));
        }
        if !own.row_keys {
            return Ok(Some(Arc::clone(keys)));
        }
        let rows = cast(keys, &DataType::UInt64).map_err(|error| wrong(&rules::ROW, 0, error.to_string()))?;
        let rows = rows.as_primitive::<UInt64Type>();
        match (0..rows.len()).find(|at| rows.is_null(*at) || rows.value(*at) != start + *at as u64) {
            None => Ok(None),
            Some(at) => Err(wrong(&rules::ROW, at, format!("row {} has another number", start + at as u64))),
        }
    }

    /// Whether ends of edges are shown as keys: those that tell their types, and those of which the nodes are made.
    fn shows_keys(&self, ty: usize) -> bool {
        self.has_named_ends || self.edges.get(ty).is_some_and(|own| own.are_own)
    }

    fn edges<'a>(&'a self, ty: usize, request: &Request, parts: &mut Vec<Box<dyn Part + 'a>>) -> Result<()> {
        let own = self.edge_table(ty)?;
        let types = [self.graph.edges[ty].source, self.graph.edges[ty].target];
        // Read before the parts are, which are read on several threads.
        if !own.are_own {
            types.iter().try_for_each(|ty| match self.keys_of(*ty)? {
                Keys::Many => Err(self.too_many(*ty)),
                Keys::Known(_) | Keys::Rows(_) => Ok(()),
            })?;
        }
        let as_keys = self.shows_keys(ty);
        let table = &self.tables[own.table];
        let narrow = Narrow::of(request, own.properties.len());
        let mut read = own.ends.to_vec();
        let mut more = |column: Option<usize>| {
            column.map(|column| {
                read.push(column);
                read.len() - 1
            })
        };
        let direction = more(own.directed);
        let relation = more(own.relation.as_ref().map(|(column, _)| *column));
        let places = Arc::new(narrow.push(&own.properties, &mut read));
        let read = Arc::new(read);
        let rows = request.batch_rows.clamp(1, ROWS);
        for piece in table.pieces() {
            let (read, places) = (Arc::clone(&read), Arc::clone(&places));
            let count = own.relation.is_none().then_some(piece.rows.end - piece.rows.start);
            let open = move || table.read(&piece, &read, rows);
            parts.push(part::opened(count, open, move |reading: &mut Reading<'a>| {
                let Some((first, rows, columns)) = reading.next_batch()? else { return Ok(None) };
                let column = |at: usize| columns.get(at).ok_or_else(|| Error::usage("a batch lacks a column"));
                let end = |side: usize| {
                    let (at, keys) = ((own.table, own.ends[side]), column(side)?);
                    if own.are_own {
                        let missing = first_null(keys.as_ref()).map(|row| table.no_end(first + row as u64, at.1));
                        return missing.map_or(Ok(Arc::clone(keys)), Err);
                    }
                    let rows = self.rows_of(types[side], keys, at, first)?;
                    Ok::<_, Error>(if as_keys { Arc::clone(keys) } else { Arc::new(rows) as ArrayRef })
                };
                let mut all = vec![end(0)?, end(1)?];
                let by_row = match direction {
                    None => None,
                    Some(at) => Some(directed(table, own, column(at)?, first)?),
                };
                let mask = match (relation, &own.relation) {
                    (Some(at), Some((of, name))) => Some(named(table, *of, column(at)?, name, first)?),
                    _ => None,
                };
                all.extend(by_row.map(|column| Arc::new(column) as ArrayRef));
                all.extend(places.iter().flatten().filter_map(|at| columns.get(*at).cloned()));
                let mut kept = rows;
                if let Some(mask) = mask {
                    kept = mask.true_count();
                    let keep = |column: &ArrayRef| filter(column, &mask);
                    all = all.iter().map(keep).collect::<std::result::Result<_, _>>().map_err(failed)?;
                }
                let mut all = all.into_iter();
                let mut ends = || match all.next() {
                    Some(keys) if as_keys => Ok(Ends::Keys(keys)),
                    rows => {
                        let rows = rows.and_then(|rows| rows.as_primitive_opt::<UInt64Type>().cloned());
                        rows.map(Ends::Rows).ok_or_else(|| Error::usage("ends are no rows"))
                    }
                };
                let (source, target) = (ends()?, ends()?);
                let directed =
                    own.directed.and_then(|_| all.next()).and_then(|column| column.as_boolean_opt().cloned());
                let properties = places.iter().map(|place| place.and_then(|_| all.next())).collect();
                let (rows, relations, layers, keys) = (kept, None, None, None);
                let batch = EdgeBatch { ty, rows, relations, source, target, layers, directed, keys, properties };
                Ok(Some(Batch::Edges(batch)))
            }));
        }
        Ok(())
    }

    /// The row of a node.
    fn row_of(&self, ty: usize, node: NodeId<'_>) -> Result<u64> {
        let name = &self.graph.nodes[ty].name;
        let missing = |what: String| Error::new(Kind::NotFound, format!("there is no {name} {what}"));
        let rows = self.tables[self.node_table(ty)?.table].rows;
        let by_row = |row: u64| if row < rows { Ok(row) } else { Err(missing(format!("in row {row}"))) };
        match (node, self.keys_of(ty)?) {
            (NodeId::Row(row), _) => by_row(row),
            (NodeId::Key(_), Keys::Many) => Err(self.too_many(ty)),
            (NodeId::Key(key), Keys::Rows(_)) => by_row(key.parse().map_err(|_| missing(key.to_owned()))?),
            (NodeId::Key(key), Keys::Known(keys)) => {
                let text: ArrayRef = Arc::new(StringArray::from(vec![key]));
                let sought = match self.graph.nodes[ty].key.kind {
                    KeyKind::Int => cast(&text, &self.graph.nodes[ty].key.data_type).map_err(failed)?,
                    _ => text,
                };
                let mut found = Vec::new();
                keys.translate(sought.as_ref(), &mut found)?;
                found.first().copied().filter(|row| *row < rows).ok_or_else(|| missing(key.to_owned()))
            }
        }
    }
}

fn failed(error: arrow_schema::ArrowError) -> Error {
    Error::malformed(error.to_string()).caused_by(error)
}

/// Labels, in a column of lists or of single ones. A text of CSV may be a list in JSON, as it is written. In JSON lines, some rows may have a list and others a text.
pub(crate) fn label_column(table: &Table, column: &dyn Array) -> LabelColumn {
    let mut labels = LabelBuilder::default();
    // Between delimiters nothing is no label; where lists are lists, it is one.
    let keeps = table.options.array_delimiter.is_none();
    let skipped = usize::from(table.options.type_label);
    if let Some(lists) = column.as_list_opt::<i32>() {
        let items = lists.values().as_string_opt::<i32>();
        let mut end = lists.offsets().first().map_or(0, |first| usize::try_from(*first).unwrap_or_default());
        for (row, length) in lists.offsets().lengths().enumerate() {
            let start = end;
            end += length;
            let range = if lists.is_valid(row) { start..end } else { start..start };
            let own = items.into_iter().flat_map(move |items| range.clone().map(move |at| (items, at)));
            let own = own.filter(|(items, at)| items.is_valid(*at)).map(|(items, at)| items.value(at));
            labels.push(own.skip(skipped).filter(|text| keeps || !text.is_empty()));
        }
        return labels.finish();
    }
    let own = table.options.labels.as_ref().and_then(|name| table.find(name)).and_then(|at| table.columns.get(at));
    let is_json = own.is_some_and(|own| own.ty.kind == ValueKind::Json);
    let is_list = |text: &str| is_json || table.encoding == Encoding::Csv && text.starts_with('[');
    let one = |text: &str| serde_json::from_str(text).ok().filter(|_| is_json).map(|one: String| vec![one]);
    let several = |text: &str| serde_json::from_str::<Vec<String>>(text).ok().or_else(|| one(text));
    let texts = column.as_string_opt::<i32>();
    for row in 0..column.len() {
        let text = texts.filter(|texts| texts.is_valid(row)).map_or("", |texts| texts.value(row));
        match Some(text).filter(|text| is_list(text)).and_then(several) {
            Some(all) => labels.push(all.iter().map(String::as_str)),
            None => labels.push(Some(text).filter(|text| !text.is_empty())),
        }
    }
    labels.finish()
}

/// Which edges have a direction.
fn directed(table: &Table, own: &Edges, column: &ArrayRef, first: u64) -> Result<BooleanArray> {
    let name = own.directed.map_or("", |at| table.columns[at].name.as_str());
    directions(column).map_err(|(row, cell)| table.no_direction(first + row as u64, name, &cell))
}

/// Which rows are of the relation `name`.
fn named(table: &Table, at: usize, column: &ArrayRef, name: &str, first: u64) -> Result<BooleanArray> {
    let place = |row: usize| table.place_of(first + row as u64).in_field(table.columns[at].name.clone());
    let texts = column.as_string_opt::<i32>();
    let texts = texts.ok_or_else(|| Error::broken(&rules::RELATION, "relations are no text").at(place(0)))?;
    match (0..texts.len()).find(|row| texts.is_null(*row)) {
        Some(row) => Err(Error::broken(&rules::RELATION, "the row names no relation").at(place(row))),
        None => Ok(texts.iter().map(|text| Some(text == Some(name))).collect()),
    }
}

impl Source for Tables {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("the edges of tables come in the order of their rows"));
        }
        let (nodes, edges) = (0..self.nodes.len(), 0..self.edges.len());
        let (nodes, edges): (Vec<usize>, Vec<usize>) = match request.tables {
            Wanted::All => (nodes.collect(), edges.collect()),
            Wanted::AllNodes => (nodes.collect(), Vec::new()),
            Wanted::AllEdges => (Vec::new(), edges.collect()),
            Wanted::Nodes(ty) | Wanted::NodeKeys(ty) => (vec![ty], Vec::new()),
            Wanted::Edges(ty) | Wanted::EdgeEnds(ty) => (Vec::new(), vec![ty]),
            Wanted::Rest => (Vec::new(), Vec::new()),
        };
        let mut parts = Vec::new();
        nodes.into_iter().try_for_each(|ty| self.nodes(ty, request, &mut parts))?;
        edges.into_iter().try_for_each(|ty| self.edges(ty, request, &mut parts))?;
        Ok(parts)
    }

    fn prepare(&self, _threads: usize, _progress: &dyn Progress) -> Result<()> {
        (0..self.nodes.len()).try_for_each(|ty| self.keys_of(ty).map(|_| ()))
    }

    fn end_form(&self, ty: usize) -> EndForm {
        if self.shows_keys(ty) { EndForm::Keys } else { EndForm::Rows }
    }

    fn about(&self) -> About {
        let mut encodings: Vec<&str> = self.tables.iter().map(|table| table.encoding.name()).collect();
        encodings.sort_unstable();
        encodings.dedup();
        let (bytes, files) = self.size();
        let layout: Vec<String> = self.recognised().iter().map(|(what, fact)| format!("{what}: {fact}")).collect();
        About {
            format: "tables".to_owned(),
            version: encodings.join(", "),
            files,
            bytes,
            layout: layout.join(" · "),
            findings: self.all_findings(),
            ..About::default()
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        self.edge_table(edge)?;
        let ty = &self.graph.edges[edge];
        let of = if side == Side::Out { ty.source } else { ty.target };
        let row = self.row_of(of, node)?;
        let mut parts = Vec::new();
        self.edges(edge, &Request::of(Wanted::Edges(edge)), &mut parts)?;
        let all = part::chained(parts.into_iter().map(Ok))?;
        Ok(part::shown(all, move |batch, take| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let rows: Vec<u64> =
                match (if side == Side::Out { &edges.source } else { &edges.target }, self.keys_of(of)?) {
                    (Ends::Rows(rows), _) => rows.values().to_vec(),
                    (Ends::Keys(keys), Keys::Known(known)) => {
                        let mut rows = Vec::with_capacity(keys.len());
                        known.translate(keys.as_ref(), &mut rows)?;
                        rows
                    }
                    (Ends::Keys(_), Keys::Many) => return Err(self.too_many(of)),
                    (Ends::Keys(_), Keys::Rows(_)) => return Ok(()),
                };
            let mut at = 0;
            for run in rows.chunk_by(|one, other| (*one == row) == (*other == row)) {
                if run.first() == Some(&row) {
                    take(Batch::Edges(edges.slice(at, run.len())))?;
                }
                at += run.len();
            }
            Ok(())
        }))
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        if !self.options.lenient {
            // Every row that is wrong is named, not only the first: the others are read without those.
            let options = OpenOptions { lenient: true, ..self.options.clone() };
            return match Tables::open(&self.location, options) {
                Ok(tables) => tables.validate(findings),
                Err(error) => findings.note(Err(error)).map(|_| ()),
            };
        }
        findings.merge(self.findings.clone());
        self.rejected.iter().for_each(|one| findings.push(one.rule, one.message.clone(), one.place.clone()));
        let all = |request: Request| part::read_all(self.scan(&request)?);
        let mut sound = true;
        for ty in 0..self.nodes.len() {
            sound &= findings.note(all(Request::of(Wanted::Nodes(ty))))?;
        }
        // Ends are looked up among keys: those of a table that is not sound tell nothing.
        for ty in (0..self.edges.len()).filter(|_| sound) {
            findings.note(all(Request::of(Wanted::Edges(ty))))?;
        }
        Ok(())
    }
}
