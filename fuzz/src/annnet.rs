//! annnet: a valid graph with one file replaced by the input, members of hyperedges, and archives.

use isomorph::storage::Resources;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use isomorph::convert::{
    ConvertOptions, Digested, Format, OpenOptions, Opened, Plan, SidecarUse, Silent, convert, digest,
};
use isomorph::error::{Findings, Severity};
use isomorph::formats::annnet::{Annnet, OpenOptions as AnnnetOptions, WriteLayout};
use isomorph::model::{Batch, EndForm, Ends, Graph, NodeId, Part, Request, Side, Source, Tables};
use isomorph::tables::{Compression, Encoding, TableWriter, WriteOptions, quiet_fenced_panics};
use isomorph::{Error, Kind, Location, Result};
use tempfile::TempDir;

use crate::home::{home, resources};

pub(crate) const JSON_WORDS: &[&str] = &[
    "\"graph_version\":",
    "\"directed\":",
    "\"active_slice\":",
    "\"default_slice\":",
    "\"counts\":",
    "\"layers\":",
    "\"aspects\":",
    "\"elem_layers\":",
    "\"__ordered__\":",
    "[\"_\"]",
    "null",
    "true",
    "NaN",
    "-Infinity",
    "\"default\"",
    "[[[[",
    "{}",
    ",",
];

pub(crate) const MEMBER_WORDS: &[&str] = &[
    "{\"kind\": \"supra\", \"layer\": [\"_\"], \"node\": \"",
    "\"]}",
    "\"\\\"1\\\"\"",
    "\"a\"",
    "\\u0000",
    "\\ud800",
    "[\"",
    "null",
    "\n",
];

/// Graphs with layers, hyperedges of every kind, edges that are entities, and slices; the first byte of an input
/// selects one.
pub(crate) const GRAPHS: [&[u8]; 4] = [
    include_bytes!("../graphs/layers_of_nobody.annnet"),
    include_bytes!("../graphs/layers.annnet"),
    include_bytes!("../graphs/one_sided.annnet"),
    include_bytes!("../graphs/flat.annnet"),
];

/// A valid graph on disk, and its files.
struct Template {
    _home: TempDir,
    graph: PathBuf,
    archive: Vec<u8>,
    files: BTreeMap<String, Vec<u8>>,
}

thread_local! {
    static TEMPLATES: Vec<Template> = GRAPHS.iter().map(|archive| Template::new(archive)).collect();
}

impl Template {
    fn new(kept: &[u8]) -> Self {
        let home = home();
        let [source, graph, archive] = ["kept.annnet", "graph", "graph.annnet"].map(|name| home.path().join(name));
        std::fs::write(&source, kept).expect("a file");
        let resources = resources(home.path());
        let opened = open(&source, &resources).expect("a sound graph");
        for place in [&graph, &archive] {
            written(&opened, place, &resources, Way::default()).expect("a sound graph");
        }
        let mut files = BTreeMap::new();
        crate::graphar::collect(&graph, &graph, &mut files);
        let archive = std::fs::read(archive).expect("a file");
        Template { _home: home, graph, archive, files }
    }
}

/// How a graph is written.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub layout: WriteLayout,
    pub compression: Compression,
    /// With its matrix and with views for look-ups.
    pub arrays: bool,
}

impl Default for Way {
    fn default() -> Self {
        Way { layout: WriteLayout::V2, compression: Compression::None, arrays: false }
    }
}

pub(crate) fn written(opened: &Opened, place: &Path, resources: &Resources, way: Way) -> Result<()> {
    let destination = Location::from_path(place);
    let mut options = ConvertOptions { to: Some(Format::ANNNET), ..ConvertOptions::default() };
    options.epoch = Some(std::time::UNIX_EPOCH);
    let annnet = options.write.get_mut::<isomorph::formats::annnet::WriteOptions>();
    (annnet.layout, annnet.compression, annnet.matrix, annnet.cache) =
        (way.layout, way.compression, way.arrays, way.arrays);
    let plan = Plan::new(opened, &destination, &options, resources, &Silent)?;
    convert(opened, &plan, &destination, &options, resources, &Silent).map(|_| ())
}

fn is_json(name: &str) -> bool {
    name.ends_with(".json")
}

fn is_table(name: &str) -> bool {
    name.ends_with(".parquet")
}

fn seeds(kind: fn(&str) -> bool) -> Vec<Vec<u8>> {
    TEMPLATES.with(|templates| {
        let mut seeds = Vec::new();
        for (number, template) in templates.iter().enumerate() {
            for (position, (_, bytes)) in template.files.iter().filter(|(name, _)| kind(name)).enumerate() {
                seeds.push([&[number as u8, position as u8][..], bytes].concat());
            }
        }
        seeds
    })
}

pub(crate) fn json_seeds() -> Vec<Vec<u8>> {
    seeds(is_json)
}

pub(crate) fn table_seeds() -> Vec<Vec<u8>> {
    seeds(is_table)
}

pub(crate) fn member_seeds() -> Vec<Vec<u8>> {
    let text =
        "\"n\"\n{\"kind\": \"supra\", \"layer\": [\"_\"], \"node\": \"n\"}\n\"\\\"1\\\"\"\nn\n1\n[\"n\", [\"_\"]]\n";
    (0..GRAPHS.len() as u8).map(|number| [&[number, 0b010][..], text.as_bytes()].concat()).collect()
}

pub(crate) fn archive_seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> =
        TEMPLATES.with(|templates| templates.iter().map(|template| template.archive.clone()).collect());
    let files: [(&str, &[u8]); 2] = [("graph.annnet/manifest.json", b"{}"), ("graph.annnet/structure/x", b"")];
    let mut tar = Vec::new();
    for (name, bytes) in files {
        tar.extend(header(name, bytes.len()));
        tar.extend_from_slice(bytes);
        tar.resize(tar.len().div_ceil(512) * 512, 0);
    }
    tar.resize(tar.len() + 1024, 0);
    // Stored blocks only, so that changes of the input are changes of the archive.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    packed.write_all(&tar).expect("bytes");
    seeds.push(packed.finish().expect("bytes"));
    seeds
}

/// The header of a file in a tar archive.
fn header(name: &str, length: usize) -> Vec<u8> {
    let mut header = vec![0u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{length:011o}").as_bytes());
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    header
}

pub(crate) fn check_json(data: &[u8]) {
    let [number, position, bytes @ ..] = data else { return };
    check_file(*number, *position, bytes, is_json);
}

pub(crate) fn check_table(data: &[u8]) {
    let [number, position, bytes @ ..] = data else { return };
    check_file(*number, *position, bytes, is_table);
}

/// The input replaces one file of a valid graph.
fn check_file(number: u8, position: u8, bytes: &[u8], kind: fn(&str) -> bool) {
    TEMPLATES.with(|templates| {
        let template = &templates[usize::from(number) % templates.len()];
        let names: Vec<&String> = template.files.keys().filter(|name| kind(name)).collect();
        check_with(template, names[usize::from(position) % names.len()], bytes);
    });
}

fn check_with(template: &Template, name: &str, bytes: &[u8]) {
    let path = template.graph.join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    std::fs::write(&path, bytes).expect("a file");
    let checked = std::panic::catch_unwind(|| check(&template.graph));
    match template.files.get(name) {
        Some(sound) => std::fs::write(&path, sound).expect("a file"),
        None => std::fs::remove_file(&path).expect("a file"),
    }
    if let Err(panic) = checked {
        eprintln!("with another {name}");
        std::panic::resume_unwind(panic);
    }
}

/// Lines are members of one hyperedge; the second byte says in which lists they are, and whether it has a direction.
pub(crate) fn check_members(data: &[u8]) {
    let [number, roles, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    TEMPLATES.with(|templates| {
        let template = &templates[usize::from(*number) % templates.len()];
        let (ids, directed) = (["x", "1"], roles & 0b1000 != 0);
        let list = |bit: u8| -> ArrayRef {
            let mut lists = ListBuilder::new(StringBuilder::new());
            for at in 0..ids.len() {
                if roles & bit != 0 {
                    text.lines().skip(at).for_each(|line| lists.values().append_value(line));
                }
                lists.append(roles & bit != 0);
            }
            Arc::new(lists.finish())
        };
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("edge_id", Arc::new(StringArray::from(ids.to_vec()))),
            ("directed", Arc::new(BooleanArray::from(vec![directed; ids.len()]))),
            ("members", list(0b001)),
            ("head", list(0b010)),
            ("tail", list(0b100)),
        ];
        let fields = columns.iter().map(|(name, column)| Field::new(*name, column.data_type().clone(), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns.into_iter().map(|(_, column)| column).collect());
        let mut writer =
            TableWriter::create(Vec::new(), Encoding::Parquet, &schema, &WriteOptions::default()).expect("a table");
        writer.write(&batch.expect("columns")).expect("rows");
        let (bytes, _) = writer.finish().expect("a table");
        check_with(template, "structure/hyperedge_definitions.parquet", &bytes);
    });
}

/// The input is an archive.
pub(crate) fn check_archive(data: &[u8]) {
    let home = home();
    let path = home.path().join("input.annnet");
    std::fs::write(&path, data).expect("a file");
    check(&path);
    let names: Vec<_> = std::fs::read_dir(home.path()).expect("a folder").map(|entry| entry.expect("a name")).collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

/// The graph is refused; or it is equal in whatever batches it is read, look-ups find what scans find, and writing it
/// gives an equal graph.
pub(crate) fn check(graph: &Path) {
    quiet_fenced_panics();
    let home = home();
    let resources = resources(home.path());
    let found = read(graph, &resources);
    let sound = validated(graph, &resources);
    let (whole, pieces, neighbors) = match found {
        Ok(found) => found,
        Err(error) => {
            assert_bad_input(&error);
            assert!(!sound, "found sound, and cannot be read: {error:?}");
            return;
        }
    };
    assert_eq!(whole.digests, pieces.digests, "read in pieces it is another graph");
    if let Some(difference) = neighbors {
        assert!(!sound, "found sound, and {difference}");
    }
    let opened = open(graph, &resources).expect("a graph that was opened");
    let place = home.path().join("made.annnet");
    if let Err(error) = written(&opened, &place, &resources, Way::default()) {
        let told = error.kind() == Kind::WouldLose && !error.message().contains("differs from the input");
        assert!(told || !sound, "found sound, and cannot be written: {error:?}");
        if !told {
            assert_bad_input(&error);
        }
        assert!(!place.exists());
    }
}

pub(crate) fn open(graph: &Path, resources: &Resources) -> Result<Opened> {
    let mut options = OpenOptions { from: Some(Format::ANNNET), sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
    options.own.set(annnet_options(resources));
    Opened::open(&Location::from_path(graph), &options)
}

fn annnet_options(resources: &Resources) -> AnnnetOptions {
    // Checksums would reject every change at once.
    AnnnetOptions { budget: resources.budget.clone(), scratch: Some(resources.scratch.clone()), verify: false }
}

/// Digests of the whole and of its batches, and the first difference between look-ups and a scan.
fn read(graph: &Path, resources: &Resources) -> Result<(Digested, Digested, Option<String>)> {
    let opened = open(graph, resources)?;
    let whole = digest(opened.graph.as_ref(), resources, &Silent)?;
    let pieces = digest(&Pieces(opened.graph.as_ref()), resources, &Silent)?;
    let out = look_ups(opened.graph.as_ref(), Side::Out)?;
    Ok((whole, pieces, out.or(look_ups(opened.graph.as_ref(), Side::In)?)))
}

/// Whether validation finds no errors.
fn validated(graph: &Path, resources: &Resources) -> bool {
    let mut findings = Findings::keeping(10);
    let opened = Annnet::open(&Location::from_path(graph), &annnet_options(resources));
    let checked = opened.and_then(|graph| graph.validate(&mut findings));
    if let Err(error) = &checked {
        assert_bad_input(error);
    }
    checked.is_ok() && findings.worst() < Some(Severity::Error)
}

pub(crate) fn assert_bad_input(error: &Error) {
    let kind = error.kind();
    let bad = matches!(kind, Kind::Malformed | Kind::TooLarge | Kind::Unsupported | Kind::Incomplete | Kind::NotFound);
    assert!(bad, "{error:?}");
}

/// A graph in batches of one row.
struct Pieces<'a>(&'a dyn Source);

impl Source for Pieces<'_> {
    fn graph(&self) -> &Graph {
        self.0.graph()
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        self.0.scan(&request.clone().in_batches_of(1))
    }

    fn end_form(&self, ty: usize) -> EndForm {
        self.0.end_form(ty)
    }
}

/// Whether the edges of the first nodes equal those of a scan, by the end on `side`; the first difference if they do
/// not.
fn look_ups(graph: &dyn Source, side: Side) -> Result<Option<String>> {
    let mut scanned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let text = |column: &ArrayRef, row: usize| {
        assert_eq!(column.data_type(), &DataType::Utf8);
        column.as_string::<i32>().value(row).to_owned()
    };
    for mut part in graph.scan(&Request::of(Tables::Edges(0)))? {
        part.read(&mut |batch| {
            let Batch::Edges(batch) = batch else { return Ok(()) };
            let (Ends::Keys(source), Ends::Keys(target), Some(keys)) = (&batch.source, &batch.target, &batch.keys)
            else {
                return Ok(());
            };
            for row in 0..batch.rows {
                let end = if side == Side::Out { source } else { target };
                scanned.entry(text(end, row)).or_default().insert(text(keys, row));
            }
            Ok(())
        })?;
    }
    for (node, expected) in scanned.iter().take(8) {
        let found = graph.neighbors(0, NodeId::Key(node), side).and_then(isomorph::model::part::edge_batches)?;
        let keys = found.iter().filter_map(|batch| batch.keys.as_ref());
        let found: BTreeSet<String> =
            keys.flat_map(|keys| (0..keys.len()).map(|row| text(keys, row)).collect::<Vec<_>>()).collect();
        if found != *expected {
            return Ok(Some(format!("{node:?} has the edges {found:?}, in a scan {expected:?}")));
        }
    }
    Ok(None)
}
