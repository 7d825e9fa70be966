//! A graph in any of these formats as a source of model batches.

use std::sync::OnceLock;

use isomorph_error::{Error, Findings, Result};
use isomorph_model::statistics::{Known, Statistics};
use isomorph_model::{About, Cost, EdgeOrder, Graph, Narrowing, NodeId, Part, Request, Side, Source, Tables, part};
use isomorph_storage::{Blob, Budget, Location, Root, Scratch};

use crate::batches::{Columns, WATERMARK};
use crate::binary::{self, Binary, META, OLD_META, Weights};
use crate::block::{Block, Depth};
use crate::combined::{self, United};
use crate::feature::FeatureColumns;
use crate::survey::{Place, Survey};
use crate::text::{self, Parser, Text};
use crate::write::Records;
use crate::{OpenOptions, by_id, neighbors, rules, validate};

/// Number of bytes in which JSON of nodes is distinguished from other JSON.
const LOOK: u64 = 64 << 10;

/// An opened graph: a text in one of the four formats, or a binary.
///
/// ```no_run
/// use isomorph_deepgnn::{DeepGnn, OpenOptions};
/// use isomorph_model::Source;
/// use isomorph_storage::Location;
///
/// let graph = DeepGnn::open(&Location::parse("graph.tsv")?, &OpenOptions::default())?;
/// println!("{:?} nodes", graph.graph().node_rows());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct DeepGnn {
    pub(crate) form: Form,
    pub(crate) columns: Columns,
    graph: Graph,
    /// Memory and temporary files for sorting.
    room: (Budget, Option<Scratch>),
    /// The statements of nodes, if some have several; determined when nodes are read.
    united: OnceLock<Option<United>>,
}

/// The stored form of a graph.
pub(crate) enum Form {
    Text(Text, Box<Survey>),
    Binary(Box<Binary>),
}

/// Returns whether `location` has one of the formats, judged by names and, for JSON, by the first bytes.
///
/// # Errors
/// Returns an error if nothing exists there, or it cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    let name = location.file_name();
    if location.scheme().has_listing()
        && let Ok(root) = Root::open(location)
    {
        let entries = root.list_dir("")?;
        let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let has = |wanted: &str| names.iter().any(|name| name == wanted);
        let data = || names.iter().filter(|name| *name != META && !name.starts_with(['.', '_']));
        let by_workers = || names.iter().any(|name| binary::worker(name).is_some());
        return Ok(is_binary(&names) && (has(META) || has(OLD_META) || by_workers())
            || data().next().is_some()
                && data().all(|name| text::is_text(name))
                && text::apart(&entries, None).1.is_none()
                && all_of_nodes(data(), &root)?);
    }
    if name.contains(['*', '?']) {
        let Some((root, names)) = text::of_pattern(location)? else { return Ok(false) };
        return all_of_nodes(names.iter(), &root);
    }
    let blob = Blob::open(location)?;
    Ok(text::is_text(name) && (!is_json(name) || begins_with_node(blob)))
}

/// Returns whether a name is that of JSON, of which files may contain anything: a table of edges.
fn is_json(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|ending| lower.strip_suffix(ending)).unwrap_or(&lower);
    [".json", ".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending))
}

/// Returns whether JSON begins with an object of a node. What is wrong with a file that cannot be decompressed, the reader says best.
fn begins_with_node(blob: Blob) -> bool {
    text::begin(blob, LOOK).map_or(true, |begin| is_node(&begin))
}

/// Returns whether a text begins with a node: an object with the member `node_id` of its own. A graph without nodes is an empty text.
fn is_node(begin: &[u8]) -> bool {
    let Some(first) = begin.trim_ascii_start().first() else { return true };
    // Records in a list are read, too.
    let own = if *first == b'[' { 2 } else { 1 };
    let (mut level, mut rest) = (0u32, begin);
    while let Some((byte, others)) = rest.split_first() {
        rest = others;
        match byte {
            b'{' | b'[' => level += 1,
            b'}' | b']' => level = level.saturating_sub(1),
            b'"' => {
                let mut escaped = false;
                let end = rest.iter().position(|byte| {
                    let ends = *byte == b'"' && !escaped;
                    escaped = *byte == b'\\' && !escaped;
                    ends
                });
                let Some((text, others)) = end.and_then(|end| rest.split_at_checked(end)) else { return false };
                if level == own && text == b"node_id" {
                    return true;
                }
                rest = others.get(1..).unwrap_or_default();
            }
            _ => {}
        }
    }
    false
}

/// Returns whether all files of JSON among these begin with a node.
fn all_of_nodes<'a>(names: impl Iterator<Item = &'a String>, root: &Root) -> Result<bool> {
    for name in names.filter(|name| is_json(name)) {
        if !begins_with_node(root.file(name)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_binary(names: &[String]) -> bool {
    names.iter().any(|name| name == "node_0_0.map" || name == "neighbors_0_0.index")
}

impl DeepGnn {
    /// Opens a text, which is read once to determine its rows and feature types, or a binary, of which metadata and
    /// file lengths are read.
    ///
    /// # Errors
    /// Returns an error if nothing exists there, a text is malformed (with file, line, column and rule), or files of a
    /// binary are missing or do not match.
    pub fn open(location: &Location, options: &OpenOptions) -> Result<DeepGnn> {
        if options.format.is_none()
            && location.scheme().has_listing()
            && let Ok(root) = Root::open(location)
        {
            let names: Vec<String> = root.list_dir("")?.into_iter().map(|entry| entry.name).collect();
            if is_binary(&names) || names.iter().all(|name| name == META || name == OLD_META) {
                return DeepGnn::of_binary(Binary::open(location, options.asked())?, options);
            }
        }
        let text = Text::open(location, options)?;
        if options.later {
            let (columns, graph) = (Columns::default(), Graph::default());
            let room = room(options);
            return Ok(DeepGnn {
                form: Form::Text(text, Box::default()),
                columns,
                graph,
                room,
                united: OnceLock::new(),
            });
        }
        Ok(DeepGnn { room: room(options), ..DeepGnn::of_text(text)? })
    }

    /// Opens the graph of a text, which is read once.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
    pub fn of_text(text: Text) -> Result<DeepGnn> {
        let survey = Survey::of(&text)?;
        let (columns, graph) = (survey.columns.clone(), survey.graph.clone());
        let (room, united) = (room(&OpenOptions::default()), OnceLock::new());
        if text.raw {
            // A comparison with a binary needs all statements.
            united.get_or_init(|| None);
        }
        Ok(DeepGnn { form: Form::Text(text, Box::new(survey)), columns, graph, room, united })
    }

    /// Returns the text, if it is one.
    pub fn text(&self) -> Option<&Text> {
        match &self.form {
            Form::Text(text, _) => Some(text),
            Form::Binary(_) => None,
        }
    }

    /// Bytes that were read of a binary so far.
    pub fn bytes_read(&self) -> u64 {
        match &self.form {
            Form::Text(..) => 0,
            Form::Binary(binary) => binary.root.bytes_read(),
        }
    }

    /// The same with each statement of a node as a node of its own: what a text and its binary are compared by, in which they come in
    /// different orders.
    pub fn as_stated(self) -> DeepGnn {
        DeepGnn { united: OnceLock::from(None), ..self }
    }

    /// Returns whether a node has several statements.
    ///
    /// # Errors
    /// Returns an error if they cannot be read or sorted.
    pub fn is_split(&self) -> Result<bool> {
        self.united().map(|united| united.is_some())
    }

    fn of_binary(mut binary: Binary, options: &OpenOptions) -> Result<DeepGnn> {
        let asked = options.asked();
        let mut node_weights = asked.node_weights;
        if !(node_weights || options.raw || options.no_node_weights || options.no_recovery) {
            match binary::recover(&binary, &options.budget)? {
                // If no weight is stated, it is 1.
                Weights::One => {}
                Weights::Of(weights) => {
                    node_weights = true;
                    binary.partitions.iter_mut().zip(weights).for_each(|(partition, own)| partition.weights = own);
                }
                Weights::Lost(lost) => binary.lost = Some(lost),
            }
        }
        let columns = Columns {
            node_weights,
            node_times: asked.node_times,
            // Only the bytes of a text are compared with a binary.
            edge_times: (binary.meta.watermark >= 0 || asked.edge_times) && !options.raw,
            node_features: FeatureColumns::declared(binary.meta.node_features, &options.node_features, asked.types),
            edge_features: FeatureColumns::declared(binary.meta.edge_features, &options.edge_features, asked.types),
        };
        let mut graph = columns.graph(Some(binary.meta.nodes), Some(binary.edges()));
        if columns.edge_times && binary.meta.watermark >= 0 {
            graph.metadata.insert(WATERMARK.to_owned(), binary.meta.watermark.to_string());
        }
        let united = OnceLock::new();
        if options.raw {
            united.get_or_init(|| None);
        }
        Ok(DeepGnn { form: Form::Binary(Box::new(binary)), columns, graph, room: room(options), united })
    }

    /// Creates a sorter within the memory that the graph was opened with.
    pub(crate) fn records(&self) -> Result<Records> {
        Records::new(&self.room.0, self.room.1.as_ref())
    }

    /// Returns the statements of nodes, if one has several.
    ///
    /// # Errors
    /// Returns an error if they cannot be read or sorted.
    pub(crate) fn united(&self) -> Result<Option<&United>> {
        if let Some(known) = self.united.get() {
            return Ok(known.as_ref());
        }
        let found = combined::united(self, &self.graph, &self.room.0, self.room.1.as_ref())?;
        Ok(self.united.get_or_init(|| found).as_ref())
    }

    /// Whether a node has several statements, if that is known.
    pub(crate) fn is_known_to_be_united(&self) -> Option<bool> {
        self.united.get().map(Option::is_some)
    }

    /// Hands over all nodes as blocks, in their order; of a binary with so much of each.
    pub(crate) fn node_blocks(&self, depth: Depth, mut take: impl FnMut(&Block) -> Result<()> + Send) -> Result<()> {
        match &self.form {
            Form::Text(text, _) => text.each(|_, block| take(block)),
            Form::Binary(binary) => binary.pieces().try_for_each(|piece| {
                let Some(partition) = binary.partitions.get(piece.partition) else { return Ok(()) };
                partition.nodes(piece.entries, &self.columns.node_features, depth, &mut take)
            }),
        }
    }

    /// Delivers everything as blocks, in its order, each with the source of its records for errors.
    pub(crate) fn blocks(&self, mut take: impl FnMut(BlockPlace<'_>, &Block) -> Result<()> + Send) -> Result<()> {
        match &self.form {
            Form::Text(text, _) => text.each(|piece, block| take(BlockPlace::Text(text, piece), block)),
            Form::Binary(binary) => {
                for piece in binary.pieces() {
                    let Some(partition) = binary.partitions.get(piece.partition) else { continue };
                    let mut start = piece.entries.start;
                    partition.nodes(piece.entries.clone(), &self.columns.node_features, Depth::Full, &mut |block| {
                        take(BlockPlace::Nodes(piece.partition, partition, start), block)?;
                        start += block.nodes.ids.len() as u64;
                        Ok(())
                    })?;
                    partition.edges(piece.entries, &self.columns.edge_features, Depth::Full, &mut |start, block| {
                        take(BlockPlace::Edges(piece.partition, partition, start), block)
                    })?;
                }
                Ok(())
            }
        }
    }
}

fn room(options: &OpenOptions) -> (Budget, Option<Scratch>) {
    (options.budget.clone(), options.scratch.clone())
}

/// The source of a block.
pub(crate) enum BlockPlace<'a> {
    Text(&'a Text, &'a text::Piece),
    /// The number of a partition, and the first entry.
    Nodes(usize, &'a binary::Partition, u64),
    /// The number of a partition, and the first edge.
    Edges(usize, &'a binary::Partition, u64),
}

/// The requested tables of a part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    nodes: bool,
    edges: bool,
    /// How much of each.
    pub depth: Depth,
    /// Rows of a batch.
    pub rows: usize,
}

impl Wanted {
    fn of(request: &Request, columns: &Columns) -> Option<Wanted> {
        let (nodes, edges) = match request.tables {
            Tables::All => (true, true),
            Tables::AllNodes | Tables::Nodes(0) | Tables::NodeKeys(0) => (true, false),
            Tables::AllEdges | Tables::Edges(0) | Tables::EdgeEnds(0) => (false, true),
            _ => return None,
        };
        let depth = match (request.tables, request.narrowing()) {
            (Tables::EdgeEnds(_), _) => Depth::Bare,
            _ if request.is_of_keys() => Depth::Bare,
            (_, None) => Depth::Full,
            (_, Some(narrowing)) => {
                let (first, features) = match nodes {
                    true => (columns.first_node_feature(), &columns.node_features),
                    false => (columns.first_edge_feature(), &columns.edge_features),
                };
                match narrowing.properties.last() {
                    Some(last) if *last >= first => {
                        let wanted = narrowing.properties.iter().filter_map(|at| at.checked_sub(first));
                        Depth::of_features(features.ids(wanted))
                    }
                    _ => Depth::Plain,
                }
            }
        };
        Some(Wanted { nodes, edges, depth, rows: request.batch_rows.max(1) })
    }
}

/// A piece of a text.
struct TextPart<'a> {
    text: &'a Text,
    columns: &'a Columns,
    place: &'a Place,
    wanted: Wanted,
}

impl<'a> TextPart<'a> {
    /// Returns it as a part of a scan.
    fn part(self) -> Box<dyn Part + 'a> {
        let TextPart { text, columns, place, wanted: Wanted { nodes, edges, depth, rows } } = self;
        let count = |wanted: bool, rows: u64| if wanted { rows } else { 0 };
        let all = count(nodes, place.nodes) + count(edges, place.edges);
        let mut next = place.first_node;
        let open = || Ok((Parser::default(), Block::default(), text.pieces_of(place.file), false));
        part::stepped(Some(all), open, move |(parser, block, pieces, is_done), take| {
            let piece = match &place.range {
                _ if *is_done => None,
                Some(range) => Some(text.piece_at(place.file, place.line, range.clone())?),
                None => pieces.next_of_file()?,
            };
            *is_done = place.range.is_some();
            let Some(piece) = piece else { return Ok(false) };
            text.parse(parser, &piece, block)?;
            if nodes {
                next = columns.nodes(block, next, rows, depth, take)?;
            }
            if edges {
                columns.edges(block, rows, depth, take)?;
            }
            Ok(true)
        })
    }
}

/// A piece of a partition.
struct BinaryPart<'a> {
    binary: &'a Binary,
    columns: &'a Columns,
    piece: binary::Piece,
    wanted: Wanted,
}

impl<'a> BinaryPart<'a> {
    /// Returns it as parts of a scan: nodes, then edges.
    fn part(self) -> Box<dyn Part + 'a> {
        let BinaryPart { binary, columns, piece, wanted: Wanted { nodes, edges, depth, rows } } = self;
        let before: u64 = binary.partitions.iter().take(piece.partition).map(|other| other.entries).sum();
        let mut next = before + piece.entries.start;
        let open = move || {
            let partition = binary.partitions.get(piece.partition);
            let entries = || piece.entries.clone();
            let nodes = partition.filter(|_| nodes).map(|of| of.node_blocks(entries(), &columns.node_features, depth));
            Ok((partition.filter(|_| edges), piece.entries.clone(), nodes, None, Block::default()))
        };
        part::stepped(None, open, move |(edges, entries, node_blocks, edge_blocks, block), take| {
            if let Some(blocks) = node_blocks {
                if blocks.fill(block)?.is_some() {
                    next = columns.nodes(block, next, rows, depth, take)?;
                    return Ok(true);
                }
                *node_blocks = None;
            }
            if let Some(partition) = edges.take() {
                *edge_blocks = Some(partition.edge_blocks(entries.clone(), &columns.edge_features, depth)?);
            }
            let Some(blocks) = edge_blocks else { return Ok(false) };
            match blocks.fill(block)? {
                Some(_) => columns.edges(block, rows, depth, take).map(|()| true),
                None => Ok(false),
            }
        })
    }
}

impl Source for DeepGnn {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("edges in DeepGNN files are in the order of their lines"));
        }
        let Some(mut wanted) = Wanted::of(request, &self.columns) else { return Ok(Vec::new()) };
        let columns = &self.columns;
        let mut parts: Vec<Box<dyn Part>> = Vec::new();
        if wanted.nodes
            && let Some(united) = self.united()?
        {
            parts.push(united.part(wanted.depth == Depth::Bare, wanted.rows));
            wanted.nodes = false;
        }
        match &self.form {
            _ if !wanted.nodes && !wanted.edges => {}
            Form::Text(text, survey) => {
                let part = |place| TextPart { text, columns, place, wanted }.part();
                parts.extend(survey.places.iter().map(part));
            }
            Form::Binary(binary) => {
                let column = if wanted.nodes { Narrowing::KEY } else { Narrowing::SOURCE };
                match request.filter().and_then(|filter| filter.set_of(column)) {
                    Some(ids) if wanted.nodes => parts.extend(by_id::nodes(self, binary, ids, wanted)),
                    Some(ids) => parts.extend(by_id::edges(self, binary, ids, wanted)),
                    None => {
                        let part = |piece| BinaryPart { binary, columns, piece, wanted }.part();
                        parts.extend(binary.pieces().map(part));
                    }
                }
            }
        }
        Ok(parts)
    }

    fn about(&self) -> About {
        let count = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        match &self.form {
            Form::Text(text, survey) => About {
                format: format!("DeepGNN ({})", text.format()),
                files: text.file_count() as u64,
                bytes: text.bytes(),
                layout: count(survey.records, "record"),
                findings: if survey.records > 0 { survey.findings.clone() } else { text.noticed.clone() },
                ..About::default()
            },
            Form::Binary(binary) => {
                let mut layout = count(binary.partitions.len() as u64, "partition");
                let dummies = binary.entries().saturating_sub(binary.meta.nodes);
                if dummies > 0 {
                    layout.push_str(&format!(
                        " · {} without a type",
                        count(dummies, "entry").replace("entrys", "entries")
                    ));
                }
                if binary.meta.watermark >= 0 {
                    layout.push_str(&format!(" · times up to {}", binary.meta.watermark));
                }
                About {
                    format: "DeepGNN (binary)".to_owned(),
                    version: binary.meta.version.clone().unwrap_or_else(|| "before v1".to_owned()),
                    files: binary.files,
                    bytes: binary.bytes,
                    layout,
                    edge_layouts: Vec::new(),
                    findings: {
                        let mut findings = binary.noticed.clone();
                        if let Some(lost) = &binary.lost {
                            findings.push(&rules::NODE_WEIGHTS, lost.why.clone(), lost.place.clone());
                        }
                        findings
                    },
                }
            }
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        match edge {
            0 => neighbors::neighbors(self, node, side),
            _ => Err(Error::usage("DeepGNN has only one edge table")),
        }
    }

    fn look_up_cost(&self, tables: Tables, column: &str) -> Cost {
        self.cost_of(tables, column)
    }

    /// The number of nodes is what the files claim, or that of their statements; edges are as many as lengths of files say.
    fn statistics(&self, tables: Tables) -> Result<Statistics> {
        let rows = match tables {
            Tables::Nodes(0) | Tables::NodeKeys(0) => self.graph.node_rows().map_or(Known::Unknown, Known::Estimated),
            Tables::Edges(0) | Tables::EdgeEnds(0) => match &self.form {
                Form::Binary(binary) => Known::Exact(binary.edges()),
                Form::Text(..) => {
                    self.graph.edges.first().and_then(|ty| ty.rows).map_or(Known::Unknown, Known::Estimated)
                }
            },
            _ => Known::Unknown,
        };
        Ok(Statistics { rows, columns: Vec::new() })
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        validate::validate(self, findings)
    }
}
