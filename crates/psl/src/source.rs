//! The data of a program as a model source.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;
use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_model::label::LabelBuilder;
use isomorph_model::{
    About, Batch, EdgeBatch, EdgeOrder, EdgeType, EndForm, Ends, Graph, Key, KeyKind, LabelVocabulary, NodeBatch,
    NodeId, NodeType, Part, Property, Request, Side, Source, Tables, part, well_known,
};
use isomorph_storage::{Budget, Location, Reservation, Root, limits};
use isomorph_tables::PackedFile;

use crate::capability::{CONSTANT, UNARY};
use crate::data::{self, Data, Role};
use crate::layout::{Layout, Says, kind_key};
use crate::repeated::{COST as COST_OF_ATOM, Seen};
use crate::{OpenOptions, find, rules};

/// Maximum number of rows in a batch, and bytes of a line.
const ROWS: usize = 1 << 14;
const LINE: u64 = 16 << 20;

/// The bits of a node type in the number of a constant: a data file names fewer types.
const TYPE_BITS: u32 = 16;

/// Approximate size of a constant in memory apart from its text, in bytes.
const COST: u64 = 112;

/// What is known of a constant.
#[derive(Debug, Clone, Default)]
struct Constant {
    name: String,
    labels: Vec<usize>,
    /// Positions of properties with values.
    truths: Vec<(usize, f64)>,
}

/// The constants of a node type, in order of their first occurrence.
#[derive(Debug, Default)]
struct Constants {
    all: Vec<Constant>,
    places: HashMap<String, usize>,
}

/// Predicates with truth, opened as a graph.
///
/// ```no_run
/// use isomorph_model::Source;
/// use isomorph_psl::{OpenOptions, Predicates};
/// use isomorph_storage::Location;
///
/// let graph = Predicates::open(&Location::parse("simple.data")?, &OpenOptions::default())?;
/// println!("{:?} constants", graph.graph().node_rows());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct Predicates {
    root: Root,
    graph: Graph,
    layout: Layout,
    /// For each node type its constants.
    constants: Vec<Constants>,
    /// The names of labels.
    labels: Vec<String>,
    bytes: u64,
    budget: Budget,
    _held: Reservation,
}

/// A line of a file.
struct Atom {
    arguments: Vec<String>,
    truth: Option<f64>,
}

/// Reads the atoms of a file.
struct Atoms {
    reader: BufReader<Box<dyn Read + Send>>,
    arity: usize,
    place: Place,
    line: u64,
}

impl Atoms {
    fn open(root: &Root, name: &str, arity: usize) -> Result<(Atoms, u64)> {
        let file = PackedFile::of(root.file(name)?)?;
        let reader = BufReader::with_capacity(1 << 17, file.reader()?);
        Ok((Atoms { reader, arity, place: file.blob.place(), line: 0 }, file.blob.size()))
    }

    fn wrong(&self, what: impl Into<String>) -> Error {
        Error::broken(&rules::ATOM, what).at(self.place.clone().line(self.line))
    }

    fn next(&mut self) -> Result<Option<Atom>> {
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            self.line += 1;
            let read = (&mut self.reader).take(LINE + 1).read_until(b'\n', &mut bytes)?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 > LINE {
                return Err(
                    Error::new(Kind::TooLarge, "a line has more than 16 MiB").at(self.place.clone().line(self.line))
                );
            }
            let text = std::str::from_utf8(&bytes).map_err(|_| self.wrong("the line is not UTF-8"))?;
            let text = text.trim_end_matches(['\n', '\r']);
            if text.trim().is_empty() {
                continue;
            }
            let fields: Vec<&str> = text.split('\t').map(str::trim).collect();
            let truth = match fields.len().checked_sub(self.arity) {
                Some(0) => None,
                Some(1) => {
                    let text = fields.last().copied().unwrap_or_default();
                    let truth = text.parse::<f64>().ok().filter(|truth| (0.0..=1.0).contains(truth));
                    Some(truth.ok_or_else(|| self.wrong(format!("{text:?} is not a truth from 0 to 1")))?)
                }
                _ => {
                    let what = format!("expected {} arguments, found {} fields", self.arity, fields.len());
                    return Err(self.wrong(what));
                }
            };
            let arguments: Vec<String> = fields.iter().take(self.arity).map(|field| (*field).to_owned()).collect();
            if arguments.iter().any(String::is_empty) {
                return Err(self.wrong("an argument is empty"));
            }
            return Ok(Some(Atom { arguments, truth }));
        }
    }
}

impl Predicates {
    /// Opens the data at `location`, a data file or a directory with one, and reads all of it once.
    ///
    /// # Errors
    /// If it cannot be read, a predicate has other than one or two arguments, or the constants do not fit into memory.
    pub fn open(location: &Location, options: &OpenOptions) -> Result<Predicates> {
        let (root, name) = find(location)?.ok_or_else(|| {
            Error::unsupported("there is no data file of PSL").at(location.to_string()).hint("NAME.data")
        })?;
        let bytes = root.read(&name, limits::MANIFEST_BYTES)?;
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Error::broken(&rules::DATA, "the file is not UTF-8").at(Place::file(name.as_str())))?;
        let data = data::parse(text, &name)?;
        let budget = options.budget.clone().unwrap_or_else(Budget::of_this_machine);
        let held = budget.reserve(0)?;
        let mut own = Predicates {
            root,
            graph: Graph::default(),
            layout: Layout { data: Data::default(), says: Vec::new(), prefixes: false },
            constants: Vec::new(),
            labels: Vec::new(),
            bytes: bytes.len() as u64,
            budget,
            _held: held,
        };
        match &options.shown {
            Some(graph) => own.known(graph),
            None => own.told(data, &name)?,
        }
        own.read_all(options.shown.is_some())?;
        Ok(own)
    }

    /// Sets the graph that was written.
    fn known(&mut self, graph: &Graph) {
        self.layout = Layout::of(graph);
        self.graph = graph.clone();
        let labels = graph.nodes.iter().filter_map(|ty| match &ty.labels {
            LabelVocabulary::Declared(labels) => Some(labels.iter().cloned()),
            _ => None,
        });
        self.labels = labels.flatten().collect::<BTreeSet<String>>().into_iter().collect();
    }

    /// Makes a graph of what a data file says.
    fn told(&mut self, data: Data, name: &str) -> Result<()> {
        let mut ty = NodeType::new(CONSTANT, Key::utf8());
        let mut says = Vec::new();
        for file in &data.files {
            let Some(predicate) = data.predicates.get(file.predicate) else { continue };
            if let Some(kind) = &predicate.kind {
                self.graph.metadata.insert(kind_key(&predicate.name), kind.clone());
            }
            let called = format!("{}{}", predicate.name, file.role.suffix());
            match predicate.arity {
                1 => {
                    let place = ty.properties.iter().position(|property| property.name == called);
                    let place = place.unwrap_or_else(|| {
                        let mut property = Property::new(&called, DataType::Float64);
                        property.declared.insert(UNARY.to_owned(), file.role.section().to_owned());
                        ty.properties.push(property);
                        ty.properties.len() - 1
                    });
                    says.push(Says::Property(0, place));
                }
                2 => {
                    let known = self.graph.edges.iter().position(|ty| ty.relation.fixed() == Some(called.as_str()));
                    let at = known.unwrap_or_else(|| {
                        self.graph.edges.push(EdgeType::new(0, &called, 0));
                        self.graph.edges.len() - 1
                    });
                    says.push(Says::Edges(at));
                }
                other => {
                    let what = format!(
                        "the predicate {} has {other} arguments: nodes have predicates with one, edges with two",
                        predicate.name
                    );
                    return Err(Error::unsupported(what)
                        .at(Place::file(name))
                        .hint("split it into predicates with two arguments, about a constant for each atom"));
                }
            }
        }
        self.graph.nodes.push(ty);
        self.layout = Layout { data, says, prefixes: false };
        Ok(())
    }

    /// Reads all atoms: collects constants, and counts the rows of edges.
    fn read_all(&mut self, known: bool) -> Result<()> {
        self.constants = self.graph.nodes.iter().map(|_| Constants::default()).collect();
        let mut rows = vec![0u64; self.graph.edges.len()];
        // For each edge type whether some, and whether all rows have a truth.
        let mut truths = vec![(false, true); self.graph.edges.len()];
        // Files about nodes first: they have the order of nodes.
        let about_edges = |says: &Says| matches!(says, Says::Edges(_));
        let mut order: Vec<usize> = (0..self.layout.says.len()).collect();
        if known {
            order.sort_by_key(|at| self.layout.says.get(*at).is_some_and(about_edges));
        }
        for at in order {
            let (Some(file), Some(says)) = (self.layout.data.files.get(at), self.layout.says.get(at).cloned()) else {
                continue;
            };
            let (role, name) = (file.role, file.name.clone());
            let arity = self.layout.data.predicates.get(file.predicate).map_or(2, |predicate| predicate.arity);
            let (mut atoms, bytes) = Atoms::open(&self.root, &name, arity)?;
            self.bytes += bytes;
            while let Some(atom) = atoms.next()? {
                let mut places = Vec::with_capacity(2);
                for argument in &atom.arguments {
                    places.push(self.constant(argument).map_err(|error| atoms.at(error))?);
                }
                let (ty, row) = places.first().copied().unwrap_or_default();
                match says {
                    Says::Edges(edges) => {
                        if let (Some(rows), Some(truth)) = (rows.get_mut(edges), truths.get_mut(edges)) {
                            *rows += 1;
                            *truth = (truth.0 | atom.truth.is_some(), truth.1 & atom.truth.is_some());
                        }
                    }
                    Says::Nodes(_) => {}
                    Says::Label(ref label) => {
                        let number = self.labels.iter().position(|known| known == label).unwrap_or_default();
                        if let Some(own) = self.constants.get_mut(ty).and_then(|own| own.all.get_mut(row)) {
                            own.labels.push(number);
                        }
                    }
                    Says::Property(_, place) => {
                        let truth = atom.truth.unwrap_or(1.0);
                        let own = self.constants.get_mut(ty).and_then(|own| own.all.get_mut(row));
                        let Some(own) = own else { continue };
                        if own.truths.iter().any(|(known, _)| *known == place) {
                            let what = format!("{} comes twice", own.name);
                            return Err(atoms.at(Error::broken(&rules::TWICE, what)));
                        }
                        own.truths.push((place, truth));
                    }
                }
            }
            let _ = role;
        }
        for (ty, own) in self.graph.nodes.iter_mut().zip(&self.constants) {
            ty.rows = Some(own.all.len() as u64);
        }
        for ((ty, rows), (some, all)) in self.graph.edges.iter_mut().zip(rows).zip(truths) {
            ty.rows = Some(rows);
            if known {
                continue;
            }
            // Observations without a truth are true; targets without one are unknown.
            let observed = Role::split(ty.relation.fixed().unwrap_or_default()).1 != Role::Targets;
            if observed || some {
                let truth = Property::new(well_known::TRUTH, DataType::Float64);
                ty.properties.push(if observed || all { truth.required() } else { truth });
            }
        }
        Ok(())
    }

    /// The node type and the row of a constant, which is added if it is new.
    fn constant(&mut self, name: &str) -> Result<(usize, usize)> {
        let (ty, key) = self.split(name)?;
        let Some(own) = self.constants.get_mut(ty) else { return Err(Error::usage("no such node type")) };
        if let Some(row) = own.places.get(key) {
            return Ok((ty, *row));
        }
        self._held.grow(COST + 2 * key.len() as u64)?;
        let row = own.all.len();
        own.places.insert(key.to_owned(), row);
        own.all.push(Constant { name: key.to_owned(), ..Constant::default() });
        Ok((ty, row))
    }

    /// The node type of a constant, and its key.
    fn split<'n>(&self, name: &'n str) -> Result<(usize, &'n str)> {
        if !self.layout.prefixes {
            return Ok((0, name));
        }
        // Types may have a slash in their names: the longest one that fits.
        let fits = self.graph.nodes.iter().enumerate().filter_map(|(at, ty)| {
            let key = name.strip_prefix(ty.name.as_str())?.strip_prefix('/')?;
            Some((ty.name.len(), at, key))
        });
        let fit = fits.max_by_key(|(length, ..)| *length);
        fit.map(|(_, at, key)| (at, key))
            .ok_or_else(|| Error::broken(&rules::ATOM, format!("{name:?} does not begin with a node type")))
    }

    fn nodes_part(&self, ty: usize, rows: usize) -> Box<dyn Part + '_> {
        let all = self.constants.get(ty).map_or(&[][..], |own| own.all.as_slice());
        let chunks = all.chunks(rows.clamp(1, ROWS)).enumerate();
        let at_once = rows.clamp(1, ROWS);
        part::of(Some(all.len() as u64), chunks.map(move |(at, chunk)| self.node_batch(ty, at * at_once, chunk)))
    }

    fn node_batch(&self, ty: usize, start: usize, chunk: &[Constant]) -> Result<Batch> {
        let of = self.graph.nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
        let names: ArrayRef = Arc::new(StringArray::from_iter_values(chunk.iter().map(|own| own.name.as_str())));
        let keys = match of.key.kind {
            KeyKind::Row => None,
            _ => Some(as_type(&names, &of.key.data_type)?),
        };
        let properties = of.properties.iter().enumerate().map(|(place, property)| {
            let mut truths = Float64Builder::with_capacity(chunk.len());
            for own in chunk {
                truths.append_option(own.truths.iter().find(|(at, _)| *at == place).map(|(_, truth)| *truth));
            }
            as_type(&(Arc::new(truths.finish()) as ArrayRef), &property.data_type).map(Some)
        });
        let properties = properties.collect::<Result<_>>()?;
        let mut labels = LabelBuilder::default();
        for own in chunk {
            labels.push(own.labels.iter().filter_map(|at| self.labels.get(*at)).map(String::as_str));
        }
        let has_labels = of.labels != LabelVocabulary::None && chunk.iter().any(|own| !own.labels.is_empty());
        let (rows, labels) = (chunk.len(), has_labels.then(|| labels.finish()));
        Ok(Batch::Nodes(NodeBatch { ty, start: start as u64, numbers: None, rows, keys, labels, properties }))
    }

    fn edges_parts(&self, ty: usize, rows: usize) -> Vec<Box<dyn Part + '_>> {
        let files = self.layout.says.iter().enumerate().filter(|(_, says)| **says == Says::Edges(ty));
        let rows = rows.clamp(1, ROWS);
        let part = |at: usize| {
            let open = move || {
                let file = self.layout.data.files.get(at).ok_or_else(|| Error::usage("no such file"))?;
                Ok(Atoms::open(&self.root, &file.name, 2)?.0)
            };
            part::opened(None, open, move |atoms: &mut Atoms| self.edge_batch(ty, atoms, rows))
        };
        files.map(|(at, _)| part(at)).collect()
    }

    fn edge_batch(&self, ty: usize, atoms: &mut Atoms, most: usize) -> Result<Option<Batch>> {
        let of = self.graph.edges.get(ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let mut ends = [StringBuilder::new(), StringBuilder::new()];
        let (mut truths, mut rows) = (Float64Builder::new(), 0);
        let observed = Role::split(of.relation.fixed().unwrap_or_default()).1 != Role::Targets;
        while rows < most {
            let Some(atom) = atoms.next()? else { break };
            for ((end, argument), wanted) in ends.iter_mut().zip(&atom.arguments).zip([of.source, of.target]) {
                let (found, key) = self.split(argument).map_err(|error| atoms.at(error))?;
                if found != wanted {
                    return Err(atoms.wrong(format!("{argument:?} is a constant of another node type")));
                }
                end.append_value(key);
            }
            truths.append_option(atom.truth.or(observed.then_some(1.0)));
            rows += 1;
        }
        if rows == 0 {
            return Ok(None);
        }
        let [source, target] = ends.map(|mut end| Arc::new(end.finish()) as ArrayRef);
        let end = |texts: &ArrayRef, node: usize| -> Result<Ends> {
            let Some(node) = self.graph.nodes.get(node) else { return Err(Error::usage("no such node type")) };
            Ok(match node.key.kind {
                KeyKind::Row => Ends::Rows(as_type(texts, &DataType::UInt64)?.as_primitive::<UInt64Type>().clone()),
                _ => Ends::Keys(as_type(texts, &node.key.data_type)?),
            })
        };
        let (source, target) = (end(&source, of.source)?, end(&target, of.target)?);
        let truths: ArrayRef = Arc::new(truths.finish());
        let properties = of.properties.iter().map(|property| as_type(&truths, &property.data_type).map(Some));
        let properties = properties.collect::<Result<_>>()?;
        let (relations, layers, directed, keys) = (None, None, None, None);
        Ok(Some(Batch::Edges(EdgeBatch { ty, rows, relations, source, target, layers, directed, keys, properties })))
    }

    /// A number for a constant that no other has.
    fn number(&self, name: Option<&String>) -> Result<u64> {
        let (ty, key) = self.split(name.map_or("", String::as_str))?;
        let row = self.constants.get(ty).and_then(|own| own.places.get(key)).copied().unwrap_or_default();
        Ok((row as u64) << TYPE_BITS | ty as u64 & ((1 << TYPE_BITS) - 1))
    }

    fn is_row(&self, ty: usize) -> bool {
        self.graph.nodes.get(ty).is_none_or(|ty| ty.key.kind == KeyKind::Row)
    }
}

impl Atoms {
    fn at(&self, error: Error) -> Error {
        error.at(self.place.clone().line(self.line))
    }
}

/// A column of another type, which holds every value.
fn as_type(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, to, &options).map_err(|error| Error::broken(&rules::ATOM, error.to_string()))
}

impl Source for Predicates {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("the atoms of a file come in its order"));
        }
        let (nodes, edges) = (0..self.graph.nodes.len(), 0..self.graph.edges.len());
        let (nodes, edges) = match request.tables {
            Tables::All => (nodes, edges),
            Tables::AllNodes => (nodes, 0..0),
            Tables::AllEdges => (0..0, edges),
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => (ty..ty + 1, 0..0),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => (0..0, ty..ty + 1),
            Tables::Rest => (0..0, 0..0),
        };
        let mut parts: Vec<Box<dyn Part + '_>> = nodes.map(|ty| self.nodes_part(ty, request.batch_rows)).collect();
        parts.extend(edges.flat_map(|ty| self.edges_parts(ty, request.batch_rows)));
        Ok(parts)
    }

    fn end_form(&self, ty: usize) -> EndForm {
        let ends = self.graph.edges.get(ty).map(|ty| self.is_row(ty.source) && self.is_row(ty.target));
        if ends == Some(true) { EndForm::Rows } else { EndForm::Keys }
    }

    fn about(&self) -> About {
        let names: HashSet<&str> = self.layout.data.files.iter().map(|file| file.name.as_str()).collect();
        let predicates = self.layout.data.predicates.iter().map(|own| {
            let kind = own.kind.as_deref().unwrap_or("closed");
            format!("{}/{} {kind}", own.name, own.arity)
        });
        About {
            format: "PSL".to_owned(),
            files: names.len() as u64 + 1,
            bytes: self.bytes,
            layout: predicates.collect::<Vec<_>>().join(" · "),
            ..About::default()
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let ty = self.graph.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
        let near = if side == Side::Out { ty.source } else { ty.target };
        let text = match node {
            NodeId::Key(key) => key.to_owned(),
            NodeId::Row(row) if self.is_row(near) => row.to_string(),
            NodeId::Row(_) => {
                return Err(Error::unsupported("constants are looked up by name").hint("give the name of the constant"));
            }
        };
        if self.constants.get(near).is_none_or(|own| !own.places.contains_key(&text)) {
            return Err(Error::new(Kind::NotFound, format!("there is no constant {text}")));
        }
        let all = part::chained(self.edges_parts(edge, ROWS).into_iter().map(Ok))?;
        Ok(part::shown(all, move |batch, take| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let keys: ArrayRef = match if side == Side::Out { &edges.source } else { &edges.target } {
                Ends::Keys(keys) => Arc::clone(keys),
                Ends::Rows(rows) => Arc::new(rows.clone()),
            };
            let keys = as_type(&keys, &DataType::Utf8)?;
            let keys = keys.as_string::<i32>();
            let hits: Vec<bool> = keys.iter().map(|key| key == Some(text.as_str())).collect();
            let mut row = 0;
            for run in hits.chunk_by(|left, right| left == right) {
                if run.first() == Some(&true) {
                    take(Batch::Edges(edges.slice(row, run.len())))?;
                }
                row += run.len();
            }
            Ok(())
        }))
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        let mut held = self.budget.reserve(0)?;
        for (at, predicate) in self.layout.data.predicates.iter().enumerate().filter(|(_, own)| own.arity == 2) {
            let (mut seen, mut counted) = (Seen::default(), 0);
            for file in self.layout.data.files.iter().filter(|file| file.predicate == at) {
                let (mut atoms, _) = Atoms::open(&self.root, &file.name, 2)?;
                while let Some(atom) = atoms.next()? {
                    let [source, target] = [self.number(atom.arguments.first())?, self.number(atom.arguments.get(1))?];
                    let shown = || {
                        let name = format!("{}({})", predicate.name, atom.arguments.join(", "));
                        (name, atoms.place.clone().line(atoms.line))
                    };
                    seen.see([source, target], (file.role, atom.truth), shown, findings);
                    if seen.len() - counted >= 1 << 12 {
                        held.grow((seen.len() - counted) * COST_OF_ATOM)?;
                        counted = seen.len();
                    }
                }
            }
        }
        Ok(())
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}
