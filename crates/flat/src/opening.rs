//! Opens the tables of a mapping, and makes types of nodes and edges of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arrow_array::{ArrayRef, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Findings, Result};
use isomorph_model::type_name::type_name;
use isomorph_model::{Direction, EdgeType, Graph, Key, KeyKind, LabelColumn, LabelVocabulary, NodeType, Property};
use isomorph_storage::Location;
use isomorph_storage::parallel::{self, Ahead};

use crate::cells::split;
use crate::conventions::kept_type;
use crate::find::Found;
use crate::found_types::{is_index, unread};
use crate::keys::lookup_options;
use crate::neo4j;
use crate::open::{Edges, Nodes, OpenOptions, Tables};
use crate::source::label_column;
use crate::sql::{Edge, ExternalTable, Properties, Script, TableOptions, Vertex};
use crate::survey::RELATIONS;
use crate::table::{Declared, Piece, Stored, Table, TableColumn};

/// The most labels that are collected when a graph is opened.
const LABELS: usize = 1_000;

/// What is known of the columns of a table before it is opened.
pub(crate) struct Roles<'a> {
    /// The types of those that other tables decide.
    pub known: &'a HashMap<String, DataType>,
    /// Columns of keys.
    pub keys: &'a [String],
    /// Whether these are the keys of nodes, which may be kept while the table is read.
    pub are_of_nodes: bool,
}

/// Tables while they are opened.
pub(crate) struct Opening {
    pub location: Location,
    pub found: Found,
    pub options: OpenOptions,
    /// Whether keys will be compared, so that they are kept where a table is read anyway.
    pub keeps_keys: bool,
    /// Whether a mapping file is written, which leaves out columns that cannot be read.
    pub is_draft: bool,
    pub opened: Vec<Table>,
    pub by_name: HashMap<String, usize>,
    pub findings: Findings,
}

impl Opening {
    /// Opens all tables of the mapping.
    ///
    /// # Errors
    /// When files cannot be read, or are no graph.
    pub fn open(mut self) -> Result<Tables> {
        let mut script = std::mem::take(&mut self.found.script);
        let file = self.found.file.clone().unwrap_or_default();
        let mut graph = Graph::default();
        if !script.graph.name.is_empty() && script.graph.name != "g" {
            graph.name = Some(script.graph.name.clone());
        }
        let mut nodes = Vec::new();
        for vertex in &script.graph.vertices {
            let (ty, own) = self.vertex(vertex, &script, &file)?;
            if graph.nodes.iter().any(|known: &NodeType| known.name == ty.name) {
                let error = vertex.at.error(&file, format!("two tables of nodes have the label {}", ty.name));
                return Err(error.hint("give each a label of its own"));
            }
            graph.nodes.push(ty);
            nodes.push(own);
        }
        let mut edges = Vec::new();
        for edge in &script.graph.edges {
            for (ty, own) in self.edge(edge, &script, &nodes, &file)? {
                let same = |known: &EdgeType| {
                    (known.source, &known.relation, known.target) == (ty.source, &ty.relation, ty.target)
                };
                if graph.edges.iter().any(same) {
                    let (_, relation, _) = graph.edge_name(&ty);
                    let what =
                        format!("two tables of edges have the label {relation} between the same tables of nodes");
                    return Err(edge.at.error(&file, what).hint("give each a label of its own"));
                }
                graph.edges.push(ty);
                edges.push(own);
            }
        }
        self.unread(&nodes, &edges);
        let keys = nodes.iter().map(|_| OnceLock::new()).collect();
        // What a convention has found is said in full.
        for table in script.tables.iter_mut().filter(|table| table.columns.is_empty()) {
            let Some(opened) = self.by_name.get(&table.name).and_then(|at| self.opened.get(*at)) else { continue };
            (table.columns, table.options) = (opened.declared(), opened.options.written());
        }
        // A column whose type SQL cannot say is not declared, and a property only where it is listed.
        let listed = |table: &str, said: &mut Properties, own: &[Property], columns: &[usize]| {
            let Some(opened) = self.by_name.get(table).and_then(|at| self.opened.get(*at)) else { return };
            let is_untold = |at: &usize| opened.columns.get(*at).is_some_and(|own| !own.is_declarable());
            if *said == Properties::All && columns.iter().any(is_untold) {
                let name =
                    |(at, own): (&usize, &Property)| Some((opened.columns.get(*at)?.name.clone(), own.name.clone()));
                *said = Properties::Listed(columns.iter().zip(own).filter_map(name).collect());
            }
        };
        for ((vertex, own), ty) in script.graph.vertices.iter_mut().zip(&nodes).zip(&graph.nodes) {
            listed(&vertex.table, &mut vertex.properties, &ty.properties, &own.properties);
        }
        for edge in &mut script.graph.edges {
            let at = self.by_name.get(&edge.table);
            let hints = script.tables.iter().find(|table| table.name == edge.table).map(|table| &table.hints.directed);
            if let Some((opened, hints)) = at.and_then(|at| self.opened.get(*at)).zip(hints) {
                edge.properties = without_direction(&edge.properties, opened.options.directed.as_ref(), hints);
            }
            let Some(own) = edges.iter().position(|own| Some(&own.table) == at) else { continue };
            listed(&edge.table, &mut edge.properties, &graph.edges[own].properties, &edges[own].properties);
        }
        let is_kgx = self.options.shown.is_some() || self.found.file.is_none() && crate::is_kgx(&script);
        let has_named_ends = is_kgx && graph.nodes.iter().all(|ty| ty.key.kind == KeyKind::Utf8);
        let (mut recognised, mapping) = (self.found.recognised, self.found.file);
        let odd = self.findings.by_rule().flat_map(|(_, all)| all).filter(|one| one.rule == &crate::rules::ODD_CELL);
        recognised.extend(odd.map(|one| {
            let at = match (one.place.line, one.place.row) {
                (Some(line), _) => format!("line {line}"),
                (None, row) => format!("row {}", row.unwrap_or_default()),
            };
            (one.place.file.clone().unwrap_or_default(), format!("{at}: {}", one.message))
        }));
        Ok(Tables {
            location: self.location,
            graph,
            tables: self.opened,
            nodes,
            edges,
            keys,
            options: self.options,
            has_named_ends,
            rejected: Vec::new(),
            recognised,
            findings: self.findings,
            mapping,
            script,
        })
    }

    /// Notes columns that files have and the mapping file neither declares nor lists.
    fn unread(&mut self, nodes: &[Nodes], edges: &[Edges]) {
        for (at, table) in self.opened.iter().enumerate().filter(|(_, table)| table.ends_of.is_none()) {
            let of_nodes = nodes.iter().filter(|own| own.table == at);
            let of_nodes = of_nodes.flat_map(|own| own.properties.iter().copied().chain([own.key]).chain(own.labels));
            let of_edges = edges.iter().filter(|own| own.table == at).flat_map(|own| {
                let roles = own.directed.into_iter().chain(own.relation.as_ref().map(|(column, _)| *column));
                own.properties.iter().copied().chain(own.ends).chain(roles)
            });
            let read: HashSet<usize> = of_nodes.chain(of_edges).collect();
            let is_left = |at: &usize, own: &TableColumn| own.undeclared && !is_index(&own.name) && !read.contains(at);
            let others = table.columns.iter().enumerate().filter(|(at, own)| is_left(at, own));
            let others: Vec<String> = others.map(|(_, own)| own.name.clone()).collect();
            unread(&mut self.findings, &others, table.place(), &table.name);
        }
    }

    /// Opens a table once, though several elements may be in it.
    pub fn table(
        &mut self,
        name: &str,
        at: crate::sql::At,
        script: &Script,
        roles: &Roles<'_>,
        file: &str,
    ) -> Result<usize> {
        if let Some(at) = self.by_name.get(name) {
            return Ok(*at);
        }
        let declared = declared(name, at, script, file)?;
        let options = TableOptions::of(declared, file)?;
        if !options.ends.is_empty() {
            return self.table_of_ends(declared, options, script, file);
        }
        let blobs = self.blobs(declared, &options, file)?;
        let OpenOptions { lenient, threads, .. } = self.options;
        // Which rows are left out is known only when cells were looked at.
        let lookup = match lenient || !self.keeps_keys || !roles.are_of_nodes {
            true => None,
            false => Some(lookup_options(&self.options, script.graph.vertices.len())?),
        };
        let declared = Declared { table: declared, options, file, lenient, threads, lookup };
        let table = Table::open(declared, blobs, (roles.known, roles.keys), &mut self.findings)?;
        Ok(self.add(name, table))
    }

    /// Adds an opened table; returns its position.
    pub fn add(&mut self, name: &str, table: Table) -> usize {
        let at = self.opened.len();
        self.opened.push(table);
        self.by_name.insert(name.to_owned(), at);
        at
    }

    fn vertex(&mut self, vertex: &Vertex, script: &Script, file: &str) -> Result<(NodeType, Nodes)> {
        let wanted: Vec<String> = vertex.key.iter().cloned().collect();
        let roles = Roles { known: &HashMap::new(), keys: &wanted, are_of_nodes: true };
        let at = self.table(&vertex.table, vertex.at, script, &roles, file)?;
        let table = &self.opened[at];
        let Some(key_name) = &vertex.key else {
            let error = vertex.at.error(file, format!("the table {} has no key", vertex.table));
            return Err(error.hint("KEY (column)    the column whose values edges name"));
        };
        let key = column(table, key_name, vertex.at, file)?;
        let own = &table.columns[key];
        let row_keys = table.options.row_keys;
        let (properties, columns) = properties(table, &vertex.properties, &[key], self.is_draft, (vertex.at, file))?;
        let listed = match &vertex.properties {
            Properties::Listed(all) => all.iter().find(|(column, _)| table.find(column) == Some(key)),
            _ => None,
        };
        let key_called = listed.map_or_else(|| own.name.clone(), |(_, name)| name.clone());
        let kind = match own.shown_type() {
            data_type if row_keys && data_type.is_integer() => Key::row(),
            data_type if data_type.is_integer() && !row_keys => {
                Key { kind: KeyKind::Int, data_type: data_type.clone(), name: None }.named(key_called)
            }
            DataType::Utf8 if !row_keys => Key::utf8().named(key_called),
            other => {
                let what = format!(
                    "keys are integers or text, and {key_name} of the table {} is of type {}{}",
                    table.name,
                    type_name(other),
                    table.told_fraction(other)
                );
                return Err(vertex.at.error(file, what));
            }
        };
        let labels = table.options.labels.as_ref().and_then(|name| table.find(name));
        let mut ty = NodeType::new(&vertex.label, kind);
        (ty.properties, ty.rows) = (properties, Some(table.rows));
        if let Some(labels) = labels {
            ty.labels = vocabulary(table, labels, self.options.threads)?;
        }
        Ok((ty, Nodes { table: at, key, row_keys, labels, properties: columns }))
    }

    fn edge(&mut self, edge: &Edge, script: &Script, nodes: &[Nodes], file: &str) -> Result<Vec<(EdgeType, Edges)>> {
        let mut types = [0; 2];
        let mut known = HashMap::new();
        for (ty, end) in types.iter_mut().zip([&edge.source, &edge.target]) {
            let found = script.graph.vertices.iter().position(|vertex| vertex.alias == end.references);
            let found = found.or_else(|| {
                script.graph.vertices.iter().position(|vertex| vertex.alias.eq_ignore_ascii_case(&end.references))
            });
            *ty = found.ok_or_else(|| {
                let names: Vec<&str> = script.graph.vertices.iter().map(|vertex| vertex.alias.as_str()).collect();
                let error = end.at.error(file, format!("there is no table of nodes {}", end.references));
                error.hint(names.join(", "))
            })?;
            let of = &nodes[*ty];
            let key = &self.opened[of.table].columns[of.key];
            if let Some(column) = &end.referenced
                && self.opened[of.table].find(column) != Some(of.key)
            {
                let what = format!("edges end in the keys of {}, and its key is {}", end.references, key.name);
                return Err(end.at.error(file, what).hint(format!("REFERENCES {} ({})", end.references, key.name)));
            }
            known.insert(end.column.clone(), key.shown_type().clone());
        }
        let roles = Roles { known: &known, keys: &[], are_of_nodes: false };
        let at = self.table(&edge.table, edge.at, script, &roles, file)?;
        let table = &self.opened[at];
        let ends = [
            column(table, &edge.source.column, edge.source.at, file)?,
            column(table, &edge.target.column, edge.target.at, file)?,
        ];
        for (end, ty) in ends.iter().zip(types) {
            let (found, key) = (table.columns[*end].shown_type(), &nodes[ty]);
            let wanted = self.opened[key.table].columns[key.key].shown_type();
            if found.is_integer() != wanted.is_integer() || !(found.is_integer() || *found == DataType::Utf8) {
                let name = &table.columns[*end].name;
                let what = format!(
                    "{name} of the table {} is of type {}, and the keys that it names are of type {}",
                    table.name,
                    type_name(found),
                    type_name(wanted)
                );
                return Err(edge.at.error(file, what));
            }
        }
        let is_own = |(end, ty): (&usize, usize)| {
            let of = nodes.get(ty).and_then(|own| self.opened.get(own.table)).and_then(|own| own.ends_of.as_ref());
            of.is_some_and(|of| of.table == at && of.columns.contains(end))
        };
        let are_own = ends.iter().zip(types).all(is_own);
        let directed = table.options.directed.as_ref().and_then(|name| table.find(name));
        let hinted = &declared(&edge.table, edge.at, script, file)?.hints.directed;
        let said = without_direction(&edge.properties, table.options.directed.as_ref(), hinted);
        let relation = table.options.relation.as_ref().and_then(|name| table.find(name));
        let several = relation.filter(|_| table.relations.len() <= RELATIONS);
        let mut taken = ends.to_vec();
        taken.extend(several);
        let (properties, columns) = properties(table, &said, &taken, self.is_draft, (edge.at, file))?;
        let direction = match (directed, table.options.undirected) {
            (Some(_), _) => Direction::PerRow,
            (None, true) => Direction::Undirected,
            (None, false) => Direction::Directed,
        };
        if !hinted.is_empty() {
            let of = declared(&edge.table, edge.at, script, file)?;
            let by = match &table.options.directed {
                Some(name) => format!(", direction by {name}"),
                None => format!(", all with a direction: no cells of {} say another", hinted.join(", ")),
            };
            let told = self.found.recognised.iter_mut().filter(|(subject, _)| *subject == of.location);
            told.for_each(|(_, what)| what.push_str(&by));
        }
        let of = |relation: Option<(usize, &(String, u64))>| {
            let name = relation.map_or(&edge.label, |(_, (name, _))| name);
            let mut ty = EdgeType::new(types[0], name, types[1]);
            (ty.direction, ty.properties) = (direction, properties.clone());
            ty.rows = Some(relation.map_or(table.rows, |(_, (_, rows))| *rows));
            let relation = relation.map(|(column, (name, _))| (column, name.clone()));
            (ty, Edges { table: at, ends, are_own, directed, relation, properties: columns.clone() })
        };
        if let (Some(column), None) = (relation, several) {
            let what = format!(
                "{} relations: more than types, so {} is a property",
                table.relations.len(),
                table.columns[column].name
            );
            self.found.recognised.push((edge.label.clone(), what));
        }
        if let Some(column) = several.filter(|_| table.relations.is_empty() && table.rows > 0) {
            let place = table.place().in_field(&table.columns[column].name);
            return Err(Error::broken(&crate::rules::RELATION, "no row names a relation").at(place));
        }
        Ok(match several.filter(|_| !table.relations.is_empty()) {
            Some(column) => table.relations.iter().map(|relation| of(Some((column, relation)))).collect(),
            None => vec![of(None)],
        })
    }
}

fn declared<'a>(name: &str, at: crate::sql::At, script: &'a Script, file: &str) -> Result<&'a ExternalTable> {
    let exact = script.tables.iter().find(|table| table.name == name);
    exact.or_else(|| script.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))).ok_or_else(|| {
        let names: Vec<&str> = script.tables.iter().map(|table| table.name.as_str()).collect();
        let near = isomorph_error::did_you_mean(name, names.iter().copied());
        at.error(file, format!("no table {name} is declared{near}")).hint(format!("CREATE EXTERNAL TABLE {name} …"))
    })
}

pub(crate) fn column(table: &Table, name: &str, at: crate::sql::At, file: &str) -> Result<usize> {
    table.find(name).ok_or_else(|| {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        let near = isomorph_error::did_you_mean(name, names.iter().copied());
        let error = at.error(file, format!("the table {} has no column {name}{near}", table.name));
        error.hint(format!("its columns: {}", names.join(", ")))
    })
}

/// The properties that a convention lists, without a column that was found to say directions.
fn without_direction(said: &Properties, directed: Option<&String>, hinted: &[String]) -> Properties {
    match (said, directed.filter(|name| hinted.contains(name))) {
        (Properties::Listed(listed), Some(name)) => {
            Properties::Listed(listed.iter().filter(|(column, _)| column != name).cloned().collect())
        }
        _ => said.clone(),
    }
}

/// What to do about a column that no property can be.
const WITHOUT: &str =
    "isomorph import init DIRECTORY > DIRECTORY/graph.pgq    write a mapping file, which leaves the column out";

/// The properties of a table and their columns: all but `taken` and those that options give another meaning; with `leaves_out`, without those
/// that cannot be any.
fn properties(
    table: &Table,
    said: &Properties,
    taken: &[usize],
    leaves_out: bool,
    (at, file): (crate::sql::At, &str),
) -> Result<(Vec<Property>, Vec<usize>)> {
    let roles = [&table.options.labels, &table.options.directed].into_iter().flatten();
    let roles: HashSet<usize> = roles.filter_map(|name| table.find(name)).chain(taken.iter().copied()).collect();
    let of = |at: usize, name: &str| {
        let own = &table.columns[at];
        match is_read(&own.ty.data_type) {
            true => {
                let mut property = own.property(name);
                let word = kept_type(&own.name, name).filter(|_| neo4j::is_text(&own.ty.data_type));
                property.declared.extend(word.map(|word| (neo4j::DECLARED.to_owned(), word.to_owned())));
                Ok(property)
            }
            false => {
                let what =
                    format!("the column {} has {}, which a graph does not have", own.name, called(&own.ty.data_type));
                Err(Error::unsupported(what)
                    .at(table.place().in_field(&own.name))
                    .hint("write the column as text, numbers or JSON")
                    .hint(WITHOUT))
            }
        }
    };
    let all = |but: &HashSet<usize>| {
        let stays = (0..table.columns.len()).filter(|at| !roles.contains(at) && !but.contains(at));
        let stays = stays.filter(|at| !table.columns[*at].undeclared);
        let stays = stays.filter(|at| !leaves_out || is_read(&table.columns[*at].ty.data_type));
        stays.map(|at| Ok((of(at, &table.columns[at].name)?, at))).collect::<Result<Vec<_>>>()
    };
    Ok(match said {
        Properties::All => all(&HashSet::new())?.into_iter().unzip(),
        Properties::Except(names) => {
            let but = names.iter().map(|name| column(table, name, at, file)).collect::<Result<_>>()?;
            all(&but)?.into_iter().unzip()
        }
        Properties::Listed(listed) => {
            let mut found = (Vec::new(), Vec::new());
            for (column_name, name) in listed {
                let place = column(table, column_name, at, file)?;
                // The key that is listed has its name by that.
                if taken.first() == Some(&place) && taken.len() == 1 {
                    continue;
                }
                found.0.push(of(place, name)?);
                found.1.push(place);
            }
            found
        }
    })
}

/// What columns of a type have that no property has.
fn called(data_type: &DataType) -> String {
    match data_type {
        DataType::Interval(_) => "intervals of months, days and times".to_owned(),
        DataType::Union(..) => "values of several types".to_owned(),
        DataType::Map(..) => "maps".to_owned(),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)
            if !is_read(item.data_type()) =>
        {
            format!("lists of {}", called(item.data_type()))
        }
        DataType::Struct(fields) => {
            let odd = fields.iter().find(|field| !is_read(field.data_type()));
            odd.map_or_else(|| type_name(data_type), |own| format!("structs with {}", called(own.data_type())))
        }
        other => format!("values of type {}", type_name(other)),
    }
}

/// Whether properties have this type.
fn is_read(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Map(..) | T::Union(..) | T::Interval(_) | T::RunEndEncoded(..) | T::ListView(_) | T::LargeListView(_) => {
            false
        }
        T::List(item) | T::LargeList(item) | T::FixedSizeList(item, _) => is_read(item.data_type()),
        T::Struct(fields) => fields.iter().all(|field| is_read(field.data_type())),
        _ => true,
    }
}

/// The labels in a column; any, if there are very many.
fn vocabulary(table: &Table, column: usize, threads: usize) -> Result<LabelVocabulary> {
    let mut all = BTreeSet::new();
    let is_text = |data_type: &DataType| match data_type {
        DataType::List(item) => *item.data_type() == DataType::Utf8,
        other => *other == DataType::Utf8,
    };
    if !is_text(&table.columns[column].ty.data_type) {
        let what = format!("labels are text, and {} is not", table.columns[column].name);
        return Err(Error::usage(what).at(table.place()));
    }
    // The names of a column are those that a row has.
    let mut add = |labels: &LabelColumn| {
        for label in labels.names() {
            if !all.contains(label) {
                all.insert(label.clone());
            }
        }
        all.len() <= LABELS
    };
    let told = table.label_texts.as_ref().and_then(|texts| {
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        match &table.columns.get(column)?.stored {
            Stored::Lists(how) => split(&texts, how).ok(),
            Stored::AsShown => Some(texts),
            Stored::Keys
            | Stored::WholeFloats { .. }
            | Stored::Joined(_)
            | Stored::Parsed
            | Stored::Json
            | Stored::JsonKeys => None,
        }
    });
    if let Some(told) = told {
        return Ok(match add(&label_column(table, told.as_ref())) {
            true => LabelVocabulary::Declared(all.into_iter().collect()),
            false => LabelVocabulary::Open,
        });
    }
    let are_many = AtomicBool::new(false);
    let read = |piece: Piece, give: &mut dyn FnMut(LabelColumn) -> Result<()>| {
        let mut reading = table.read(&piece, &[column], isomorph_tables::BATCH_ROWS)?;
        while let Some((_, _, columns)) = reading.next_batch()? {
            if are_many.load(Ordering::Relaxed) {
                break;
            }
            columns.first().map_or(Ok(()), |column| give(label_column(table, column.as_ref())))?;
        }
        Ok(())
    };
    let ahead = Ahead { pieces: 2, parts: threads };
    parallel::in_order(table.pieces(), threads, ahead, read, |labels| {
        if !are_many.load(Ordering::Relaxed) && !add(&labels) {
            are_many.store(true, Ordering::Relaxed);
        }
        Ok(())
    })?;
    Ok(match are_many.into_inner() {
        true => LabelVocabulary::Open,
        false => LabelVocabulary::Declared(all.into_iter().collect()),
    })
}
