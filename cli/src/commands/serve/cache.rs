//! `--cache`: a graph that is not a binary is read once, and mapped from a directory as long as it does not change.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use isomorph::convert::{Opened, home_of};
use isomorph::sampling::answers::KeyedGraph;
use isomorph::sampling::{Graph, GraphOptions, KeptGraph};
use isomorph::storage::{Blob, FileHasher, Location, Root};
use isomorph::{Error, Kind, Result, Sampled};
use serde::Serialize;

/// Bytes that are read at a time.
const STEP: u64 = 4 << 20;

/// What a graph is read from. Two graphs with equal inputs are read alike.
#[derive(Debug, PartialEq, Serialize)]
struct Input {
    location: String,
    format: String,
    /// The flags that change what is read.
    flags: String,
    files: Vec<Found>,
}

/// A file of the input.
#[derive(Debug, PartialEq, Serialize)]
struct Found {
    name: String,
    size: u64,
    blake3: String,
}

/// Returns the graph from `directory` if it was kept there and its input has not changed; else reads it with `read`, and keeps it. The
/// flags are those that change what is read.
///
/// # Errors
/// When the graph or the directory cannot be read, when the directory cannot be written, or when the input changes meanwhile.
pub fn sampled(
    directory: &Path,
    opened: &Opened,
    flags: String,
    options: &GraphOptions,
    read: impl FnOnce() -> Result<Sampled>,
) -> Result<Sampled> {
    let place = || directory.display().to_string();
    std::fs::create_dir_all(directory).map_err(|error| Error::from(error).at(place()))?;
    let input = Input::of(opened, &flags)?;
    let name = input.name();
    // Of several servers that start at once, one reads; the others wait for it.
    let lock = File::create(directory.join(format!("{name}.lock"))).map_err(|error| Error::from(error).at(place()))?;
    lock.lock().map_err(|error| Error::from(error).at(place()))?;
    let location = Location::from_path(&directory.join(name));
    let text = input.text()?;
    if let Some(kept) = Graph::kept(&location, &text, options)? {
        return Ok(of(kept));
    }
    let sampled = read()?;
    if Input::of(opened, &flags)? != input {
        return Err(Error::new(Kind::Conflict, "the graph was changed while it was read").at(input.location));
    }
    let names = sampled.graph.names().ok_or_else(|| Error::usage("a binary is mapped where it is"))?;
    sampled.graph.graph().keep(names, &text, &sampled.left_out, &location)?;
    // From here on like the next start: what was read makes room.
    drop(sampled);
    let kept = Graph::kept(&location, &text, options)?;
    kept.map(of).ok_or_else(|| Error::new(Kind::Conflict, "the cache was changed while it was written").at(place()))
}

fn of(kept: KeptGraph) -> Sampled {
    let graph = KeyedGraph::new(Arc::new(kept.graph), Some(kept.names), isomorph::model::Graph::default());
    Sampled { graph, left_out: kept.notes }
}

impl Input {
    fn of(opened: &Opened, flags: &str) -> Result<Input> {
        let (home, is_directory) = home_of(&opened.location, opened.format);
        let mut files = Vec::new();
        if is_directory {
            add_all(&home, &mut files)?;
        } else {
            files.push(Found::of(String::new(), &Blob::open(&home)?)?);
            add_all(&home.companion(), &mut files)?;
        }
        files.sort_by(|left, right| left.name.cmp(&right.name));
        let (location, format) = (opened.location.to_string(), opened.format.id().to_owned());
        Ok(Input { location, format, flags: flags.to_owned(), files })
    }

    fn text(&self) -> Result<String> {
        let wrong = |error| Error::unsupported(format!("the input cannot be described: {error}"));
        serde_json::to_string(self).map_err(wrong)
    }

    /// The name of its directory: the same for each content of the input, so that an old one makes room.
    fn name(&self) -> String {
        let mut hasher = FileHasher::new();
        for text in [&self.location, &self.format, &self.flags] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hex(&hasher.finish().blake3[..16])
    }
}

/// Adds all files below a directory, if it exists.
fn add_all(directory: &Location, files: &mut Vec<Found>) -> Result<()> {
    let root = match Root::open(directory) {
        Ok(root) => root,
        Err(error) if error.kind() == Kind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in root.list("")? {
        files.push(Found::of(entry.name.clone(), &root.file(&entry.name)?)?);
    }
    Ok(())
}

impl Found {
    fn of(name: String, blob: &Blob) -> Result<Found> {
        let mut hasher = FileHasher::new();
        let mut at = 0;
        while at < blob.size() {
            let end = blob.size().min(at + STEP);
            hasher.update(&blob.read(at..end)?);
            at = end;
        }
        Ok(Found { name, size: blob.size(), blake3: hex(&hasher.finish().blake3) })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
