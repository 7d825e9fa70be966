//! Resumes interrupted loads.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_graphlake::{
    Committed, Lake, LakeWriter, OpenOptions, Piece as LakePiece, QUOTED_GRAPH, Resume, Traced, Transaction,
    WriteOptions,
};
use isomorph_rdf::Piece;
use isomorph_storage::{Blob, FileHasher, Location, Root, Staging, Workplace};
use serde::{Deserialize, Serialize};

use super::{LakeLoad, LakeLoaded, LakeText};
use isomorph_storage::Resources;

/// Identifies a load: if it changes, earlier runs cannot be reused.
#[derive(Serialize)]
struct Job<'l> {
    texts: Vec<Identity>,
    syntax: Option<String>,
    graph: Option<&'l str>,
    base: Option<&'l str>,
    lenient: bool,
    /// Labels are recorded only if they are requested.
    blank_map: bool,
}

/// The identity of a text.
#[derive(Serialize)]
struct Identity {
    name: String,
    size: u64,
    /// Nanoseconds since 1970.
    modified: Option<u64>,
    etag: Option<String>,
}

/// What is about to be published.
#[derive(Serialize, Deserialize)]
struct Publishing {
    made: Made,
    quads: u64,
    skipped: u64,
    triples: u64,
    files: u64,
    bytes: u64,
}

/// How to recognise later whether it was published.
#[derive(Serialize, Deserialize)]
enum Made {
    /// A new store, whose snapshot has this BLAKE3 hash.
    Store { blake3: String },
    /// A commit on top of a version, with a file whose path is unique.
    Commit { since: i64, file: String },
}

/// Opens what an earlier load of the same store left, or starts from scratch.
pub(super) fn open(location: &Location, load: &LakeLoad, resources: &Resources) -> Result<Arc<Resume>> {
    let job = Job {
        texts: load.texts.iter().map(identity).collect::<Result<_>>()?,
        syntax: load.syntax.map(|syntax| syntax.to_string()),
        graph: load.graph.as_deref(),
        base: load.base.as_deref(),
        lenient: load.lenient,
        blank_map: load.blank_map.is_some(),
    };
    let workplace = Workplace::open(location, Resume::PURPOSE, &resources.scratch)?;
    Ok(Arc::new(Resume::open(workplace, &written(&job)?, &resources.budget, &resources.scratch)?))
}

fn identity(text: &LakeText) -> Result<Identity> {
    let text = match text {
        LakeText::At(location) => location,
        LakeText::Stream(_) => {
            let error = Error::usage("a load from a stream cannot be resumed, because a stream can only be read once");
            return Err(error
                .at(Place::file(text.to_string()))
                .hint("write it to a file, or load it without --resume"));
        }
    };
    let blob = Blob::open(text)?;
    let found = blob.opened_as();
    // A time that cannot be represented is treated as missing, which is refused below.
    let modified = found.modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = modified.and_then(|span| u64::try_from(span.as_nanos()).ok());
    if modified.is_none() && found.etag.is_none() {
        return Err(Error::usage(
            "a load of this text cannot be resumed, because there is no way to tell whether it has changed",
        )
        .at(blob.place()));
    }
    // The same relative path is another file in another directory. A text without such a path is a remote location.
    let path = text.as_path().and_then(|path| std::fs::canonicalize(path).ok());
    let name = path.map_or_else(|| text.to_string(), |path| path.display().to_string());
    Ok(Identity { name, size: found.size, modified, etag: found.etag.clone() })
}

/// The pieces of a text that need not be read again.
pub(super) fn read_already(resume: Option<&Arc<Resume>>, text: usize) -> Vec<Piece> {
    let pieces = resume.map_or_else(Vec::new, |resume| resume.read_already(text as u64));
    let piece = |LakePiece { begin, end, lines, quads, last, .. }| Piece { begin, end, lines, quads, last };
    pieces.into_iter().map(piece).collect()
}

/// A piece of a text, in the form of the store.
pub(super) fn piece(text: usize, piece: Piece) -> LakePiece {
    let Piece { begin, end, lines, quads, last } = piece;
    LakePiece { text: text as u64, begin, end, lines, quads, last }
}

/// Records that a new store is about to be published.
pub(super) fn note_store(resume: &Resume, staging: &Staging, loaded: &LakeLoaded, triples: u64) -> Result<()> {
    let [snapshot, _] = LakeWriter::manifests();
    let finished = staging.finished();
    let found = finished.iter().find(|(name, _)| *name == snapshot);
    let Some((_, digest)) = found else { return Err(Error::usage("the snapshot was never written")) };
    let files = finished.iter().filter(|(name, _)| !LakeWriter::manifests().contains(name)).count() as u64;
    let bytes = finished.iter().map(|(_, digest)| digest.size).sum();
    note(resume, loaded, Made::Store { blake3: hex(&digest.blake3) }, (triples, files, bytes))
}

/// Records that a transaction is about to be committed.
pub(super) fn note_commit(resume: &Resume, transaction: &Transaction<'_>, loaded: &LakeLoaded) -> Result<()> {
    let written = transaction.bulk_files();
    let Some(first) = written.first() else { return Ok(()) };
    let made = Made::Commit { since: transaction.base_version(), file: first.path.clone() };
    let triples = written
        .iter()
        .filter(|file| !file.is_inverse && file.graph != QUOTED_GRAPH)
        .map(|file| file.triple_count)
        .sum();
    let bytes = written.iter().map(|file| file.size).sum();
    note(resume, loaded, made, (triples, written.len() as u64, bytes))
}

fn note(resume: &Resume, loaded: &LakeLoaded, made: Made, (triples, files, bytes): (u64, u64, u64)) -> Result<()> {
    let (quads, skipped) = (loaded.quads, loaded.skipped);
    resume.publish(&written(&Publishing { made, quads, skipped, triples, files, bytes })?)
}

/// The result of an earlier load that published it and was interrupted before it could report it; `None` if it did not
/// publish.
pub(super) fn published(
    resume: &Resume,
    location: &Location,
    opening: &OpenOptions,
    writing: &WriteOptions,
) -> Result<Option<LakeLoaded>> {
    let Some(text) = resume.publishing() else { return Ok(None) };
    let publishing: Publishing = serde_json::from_str(&text)
        .map_err(|error| Error::malformed("what was about to be published cannot be read").caused_by(error))?;
    let root = match Root::open(location) {
        Ok(root) => root,
        Err(error) if error.kind() == Kind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let unknown = || {
        Error::new(Kind::Conflict, "it is unknown whether an earlier load was published")
            .at(Place::file(location.to_string()))
            .hint("check whether its quads exist, and load without --resume if they do not")
    };
    let (id, version, timestamp) = match &publishing.made {
        Made::Store { blake3 } => {
            let [snapshot, _] = LakeWriter::manifests();
            let Some(blob) = root.try_file(&snapshot)? else {
                // A store without snapshots can be filled by anyone.
                let lake = Lake::open(location, opening, writing)?;
                return if lake.begin()?.base_version() == 0 { Ok(None) } else { Err(unknown()) };
            };
            let mut hasher = FileHasher::new();
            hasher.update(&blob.read_all(writing.budget.limit())?);
            if hex(&hasher.finish().blake3) != *blake3 {
                return Ok(None);
            }
            ("snapshot1".to_owned(), 1, 0)
        }
        Made::Commit { since, file } => match Lake::open(location, opening, writing)?.trace(*since, file)? {
            Traced::Made(entry) => (entry.id, entry.version, entry.timestamp),
            Traced::NotMade => return Ok(None),
            Traced::Unknown => return Err(unknown()),
        },
    };
    let created = matches!(publishing.made, Made::Store { .. });
    let Publishing { quads, skipped, triples: inserted, files, bytes, .. } = publishing;
    let commit = Committed { version, id, timestamp, inserted, files, bytes, ..Committed::default() };
    Ok(Some(LakeLoaded {
        quads,
        skipped,
        created,
        commit: Some(commit),
        finished_before: true,
        ..LakeLoaded::default()
    }))
}

/// The error of a load that can be resumed.
pub(super) fn told(error: Error) -> Error {
    match error.kind() {
        Kind::NoSpace | Kind::Io => error.hint("repeat the command to continue from here"),
        _ => error,
    }
}

fn written(what: &impl Serialize) -> Result<String> {
    serde_json::to_string(what)
        .map_err(|error| Error::new(Kind::Io, "the state of the load cannot be recorded").caused_by(error))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
