//! The data files of GraphAr: a valid graph with one file replaced by the input.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isomorph::convert::{ConvertOptions, Digested, Format, OpenOptions, Opened, SidecarUse, Silent, digest};
use isomorph::error::{Findings, Severity};
use isomorph::formats::graphar::GraphAr;
use isomorph::formats::graphar::info::FileType;
use isomorph::model::{Batch, EdgeBatch, Ends, NodeId, Request, Side, Source, Tables};
use isomorph::tables::quiet_fenced_panics;
use isomorph::{Error, Kind, Location, Result};
use tempfile::TempDir;

use crate::graph::{convert_seed, seed_csv};
use crate::home::{home, resources};

pub(crate) const WORDS: &[&str] = &[
    "\n",
    ",",
    "0",
    "1",
    "2",
    "3",
    "\"_graphArSrcIndex\"",
    "\"_graphArDstIndex\"",
    "\"_graphArOffset\"",
    "\"_graphArVertexIndex\"",
    "{\"_graphArOffset\":",
    "{\"_graphArSrcIndex\":",
    "}\n",
];

/// A valid graph on disk, and its files.
struct Template {
    _home: TempDir,
    graph: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
    sound: Digested,
}

/// The encodings of the graphs; the first byte of an input selects one.
const TYPES: [FileType; 4] = [FileType::Csv, FileType::Json, FileType::Parquet, FileType::Orc];

thread_local! {
    static TEMPLATES: Vec<Template> = TYPES.iter().map(|file_type| Template::new(*file_type)).collect();
}

impl Template {
    fn new(file_type: FileType) -> Self {
        let home = home();
        let (source, graph) = (home.path().join("seed.csv"), home.path().join("graph"));
        std::fs::write(&source, seed_csv()).expect("a file");
        let mut options = ConvertOptions { to: Some(Format::GRAPHAR), lossy: true, ..ConvertOptions::default() };
        options.write.get_mut::<isomorph::formats::graphar::WriteOptions>().file_type = Some(file_type);
        options.write.get_mut::<isomorph::formats::graphar::WriteOptions>().vertex_chunk = Some(2);
        options.write.get_mut::<isomorph::formats::graphar::WriteOptions>().edge_chunk = Some(2);
        convert_seed(&source, &graph, &options, home.path());
        let mut files = BTreeMap::new();
        collect(&graph, &graph, &mut files);
        let sound = digested(&graph, home.path()).expect("a sound graph");
        Template { _home: home, graph, files, sound }
    }

    /// Names of the files whose paths contain `part`.
    fn named(&self, part: &str) -> Vec<&String> {
        self.files.keys().filter(|name| name.contains(part)).collect()
    }
}

pub(crate) fn collect(directory: &Path, graph: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(directory).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, graph, files);
        } else {
            let name = path.strip_prefix(graph).expect("a name").to_string_lossy().into_owned();
            files.insert(name, std::fs::read(&path).expect("a file"));
        }
    }
}

fn seeds(kind: fn(&Template) -> Vec<&String>) -> Vec<Vec<u8>> {
    TEMPLATES.with(|templates| {
        let mut seeds = Vec::new();
        for (number, template) in templates.iter().enumerate() {
            for (position, name) in kind(template).into_iter().enumerate() {
                let choice = [number as u8, position as u8];
                seeds.push([&choice[..], template.files.get(name).map_or(&[], Vec::as_slice)].concat());
            }
        }
        seeds
    })
}

fn counts(template: &Template) -> Vec<&String> {
    template.named("_count")
}

fn offsets(template: &Template) -> Vec<&String> {
    template.named("/offset/")
}

fn chunks(template: &Template) -> Vec<&String> {
    template.files.keys().filter(|name| name.contains("/chunk") && !name.contains("/offset/")).collect()
}

pub(crate) fn count_seeds() -> Vec<Vec<u8>> {
    seeds(counts)
}

pub(crate) fn offset_seeds() -> Vec<Vec<u8>> {
    seeds(offsets)
}

pub(crate) fn chunk_seeds() -> Vec<Vec<u8>> {
    seeds(chunks)
}

pub(crate) fn check_count(data: &[u8]) {
    check(data, counts, true);
}

pub(crate) fn check_offset(data: &[u8]) {
    check(data, offsets, true);
}

pub(crate) fn check_chunk(data: &[u8]) {
    check(data, chunks, false);
}

/// With one file replaced, the graph is refused, or look-ups and scans agree; if `derived`, the file holds only what
/// other files also hold, and a graph without errors equals the original.
fn check(data: &[u8], kind: fn(&Template) -> Vec<&String>, derived: bool) {
    quiet_fenced_panics();
    let [number, position, bytes @ ..] = data else { return };
    TEMPLATES.with(|templates| {
        let template = &templates[usize::from(*number) % templates.len()];
        let names = kind(template);
        let name = names[usize::from(*position) % names.len()];
        let path = template.graph.join(name);
        std::fs::write(&path, bytes).expect("a file");
        let home = home();
        let read = digested(&template.graph, home.path());
        let sound = validated(&template.graph);
        let agreed = read.is_ok().then(|| look_ups(&template.graph));
        std::fs::write(&path, &template.files[name]).expect("a file");
        if let Err(error) = &read {
            assert_bad_input(error);
            assert!(!sound, "{name}: found sound, and cannot be read: {error:?}");
        }
        match agreed {
            Some(Err(error)) => {
                assert_bad_input(&error);
                assert!(!sound, "{name}: found sound, and look-ups fail: {error:?}");
            }
            Some(Ok(Some(difference))) => assert!(!sound, "{name}: found sound, and {difference}"),
            _ => {}
        }
        if let Ok(read) = read
            && sound
            && derived
        {
            assert_eq!(read.digests, template.sound.digests, "{name}: found sound, and is another graph");
        }
    });
}

fn assert_bad_input(error: &Error) {
    let kind = error.kind();
    let bad = matches!(kind, Kind::Malformed | Kind::TooLarge | Kind::Unsupported | Kind::Incomplete | Kind::NotFound);
    assert!(bad, "{error:?}");
}

fn digested(graph: &Path, home: &Path) -> Result<Digested> {
    let options = OpenOptions { from: Some(Format::GRAPHAR), sidecar: SidecarUse::Ignore, ..OpenOptions::default() };
    let opened = Opened::open(&Location::from_path(graph), &options)?;
    digest(opened.graph.as_ref(), &resources(home), &Silent)
}

fn open(graph: &Path) -> Result<GraphAr> {
    GraphAr::open(&Location::from_path(graph), &isomorph::formats::graphar::OpenOptions::default())
}

/// Whether validation finds no errors.
fn validated(graph: &Path) -> bool {
    let mut findings = Findings::keeping(10);
    let checked = open(graph).and_then(|graph| graph.validate(&mut findings));
    if let Err(error) = &checked {
        assert_bad_input(error);
    }
    checked.is_ok() && findings.worst() < Some(Severity::Error)
}

/// Whether the looked-up edges of every node equal those of a scan; the first difference if they do not.
fn look_ups(graph: &Path) -> Result<Option<String>> {
    let graph = open(graph)?;
    for edge in 0..graph.graph().edges.len() {
        for side in [Side::Out, Side::In] {
            let mut scanned: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
            for mut part in graph.scan(&Request::of(Tables::Edges(edge)))? {
                part.read(&mut |batch| {
                    let Batch::Edges(batch) = batch else { return Ok(()) };
                    for (source, target) in ends(&batch) {
                        scanned
                            .entry(if side == Side::Out { source } else { target })
                            .or_default()
                            .push((source, target));
                    }
                    Ok(())
                })?;
            }
            let ty = &graph.graph().edges[edge];
            let ty = if side == Side::Out { ty.source } else { ty.target };
            let rows = graph.graph().nodes[ty].rows.unwrap_or_default().min(8);
            for row in 0..rows {
                let found =
                    graph.neighbors(edge, NodeId::Row(row), side).and_then(isomorph::model::part::edge_batches)?;
                let mut found: Vec<_> = found.iter().flat_map(ends).collect();
                let mut expected = scanned.remove(&row).unwrap_or_default();
                found.sort_unstable();
                expected.sort_unstable();
                if found != expected {
                    return Ok(Some(format!("edge type {edge}, {side:?} of {row}: {found:?}, in a scan {expected:?}")));
                }
            }
        }
    }
    Ok(None)
}

fn ends(batch: &EdgeBatch) -> Vec<(u64, u64)> {
    let rows = |ends: &Ends| match ends {
        Ends::Rows(rows) => rows.values().to_vec(),
        Ends::Keys(_) => Vec::new(),
    };
    rows(&batch.source).into_iter().zip(rows(&batch.target)).collect()
}
