//! Binds a sidecar to files: verifies all bytes, binds again, and removes.

use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Blob, FileHasher, Location, Mode, Root, Staging};

use super::unread::Reread;
use super::{
    Bound, CARRY_OTHER, CARRY_STALE, FOLDER, Sidecar, VERSION, VERSION_ALTERNATE, location_of, reread, says_more,
};
use crate::driver::Format;
use crate::open::{Opened, home_of};
use crate::options::{OpenOptions, SidecarUse};
use crate::parallel;
use crate::progress::{Progress, Silent};
use crate::registry::Registry;
use isomorph_storage::Resources;

/// Bytes that are read at once.
const PIECE: u64 = 4 << 20;

fn nothing(location: &Location) -> Error {
    Error::new(Kind::NotFound, "this data has no sidecar").at(location.to_string())
}

/// The sidecar of the data at `location`, and the differences: names, sizes, and the BLAKE3 hash of all bytes. Reads
/// all files.
///
/// # Errors
/// Returns [`Kind::NotFound`] if there is no sidecar; and errors of reading.
pub fn verify(location: &Location, formats: &Registry) -> Result<(Sidecar, Vec<String>)> {
    verify_as(location, formats.at(location)?, formats)
}

/// The same for data of a known format.
///
/// # Errors
/// As [`verify`].
pub fn verify_as(location: &Location, format: Format, formats: &Registry) -> Result<(Sidecar, Vec<String>)> {
    let (home, directory) = home_of(location, format);
    let sidecar = Sidecar::read(&home, directory, formats)?.ok_or_else(|| nothing(location))?;
    let mut differences = sidecar.differences(&home, directory)?;
    // A difference at the end of a file is not reported twice.
    let found = |name: &str| differences.iter().any(|difference| difference.starts_with(&format!("{name} ")));
    let unseen = Sidecar {
        files: sidecar.files.iter().filter(|bound| !found(&bound.name)).cloned().collect(),
        ..sidecar.clone()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    differences.extend(other_bytes(&unseen, &home, directory, threads, &Silent)?);
    Ok((sidecar, differences))
}

/// The files that the sidecar is bound to whose bytes differ. Reads all of them, on this number of threads.
///
/// # Errors
/// If a file cannot be read.
pub(crate) fn other_bytes(
    sidecar: &Sidecar,
    home: &Location,
    directory: bool,
    threads: usize,
    progress: &dyn Progress,
) -> Result<Vec<String>> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = vec![(); threads.clamp(1, sidecar.files.len().max(1))];
    parallel::drive(workers, |()| {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(bound) = sidecar.files.get(at) else { return Ok(false) };
        let place = bound.location(home, directory)?;
        if hashed(&bound.name, &Blob::open(&place)?, progress)?.blake3 != bound.blake3 {
            let difference = format!("{} has different bytes", bound.name);
            found.lock().unwrap_or_else(PoisonError::into_inner).push((at, difference));
        }
        Ok(true)
    })?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, difference)| difference).collect())
}

/// The options for opening the files at `location` without the sidecar, with whatever only the sidecar states and
/// opening needs. A sidecar that cannot be read has no effect.
pub fn told(location: &Location, options: OpenOptions) -> OpenOptions {
    let mut options = OpenOptions { sidecar: SidecarUse::Ignore, ..options };
    if let Some(format) = options.from {
        let formats = options.formats.clone();
        let carried = || {
            let (home, directory) = home_of(location, format);
            let sidecar = Sidecar::read(&home, directory, &formats).ok().flatten();
            sidecar.filter(|sidecar| sidecar.format == format.id()).and_then(|sidecar| sidecar.mapping.shown().cloned())
        };
        format.options_from_sidecar(&mut options, &carried);
    }
    options
}

/// Binds the sidecar of the data at `location` to the current files, if they still hold the graph that it states, and
/// nothing that it does not read. Reads all files, and writes the graph to temporary files.
///
/// # Errors
/// Returns [`Kind::NotFound`] if there is no sidecar, and [`CARRY_OTHER`] if the graph is a different one. Nothing is
/// changed in these cases.
pub fn rebind(
    location: &Location,
    formats: &Registry,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Sidecar> {
    let options = OpenOptions { sidecar: SidecarUse::Schema, formats: formats.clone(), ..OpenOptions::default() };
    let opened = Opened::open(location, &options)?;
    let mut sidecar = opened.sidecar.clone().ok_or_else(|| nothing(location))?;
    if sidecar.mapping.detachment().is_some() {
        let message = "a sidecar with tables of nodes or edges belongs to exactly the files that it was written for";
        return Err(Error::new(Kind::StaleSidecar, message).rule(&CARRY_STALE).at(location.to_string()).hint(
            "isomorph sidecar drop PATH    remove the sidecar; the data is then an ordinary graph of its format",
        ));
    }
    let stated = sidecar.digests.ok_or_else(|| {
        Error::new(
            Kind::StaleSidecar,
            "the sidecar was written without verification (--no-verify) and does not state which graph it belongs to",
        )
        .rule(&CARRY_OTHER)
        .at(location.to_string())
    })?;
    let Reread { graph: digests, unread } = reread(&opened, &sidecar, resources, progress)?;
    if digests != stated {
        let what = if digests.content == stated.content { "order or schema" } else { "content" };
        let message = format!("this is no longer the graph that the sidecar was written for: its {what} differs");
        return Err(Error::new(Kind::StaleSidecar, message)
            .rule(&CARRY_OTHER)
            .at(location.to_string())
            .hint("isomorph convert PATH NEW --sidecar schema    use only its names and types"));
    }
    if !unread.is_empty() {
        return Err(says_more(location, &unread).hint(
            "isomorph sidecar drop PATH    remove the sidecar; the data is then an ordinary graph of its format",
        ));
    }
    sidecar.schema_only = false;
    // From now on, rows that were moved between rows of other types are found by their keys.
    let native = Arc::clone(&opened.native);
    (_, sidecar.alternate) = sidecar.mapping.inverse().apply_anew(native, &resources.budget, resources.threads)?;
    sidecar.version = if sidecar.alternate { VERSION_ALTERNATE } else { VERSION };
    let (home, directory) = home_of(location, opened.format);
    let bound = Sidecar { files: files(&home, directory, &sidecar)?, ..sidecar };
    let staging = Staging::file(&location_of(&home, directory)?, Mode::Replace)?;
    let mut file = staging.create("")?;
    file.write_all(bound.to_json()?.as_bytes())?;
    file.finish()?;
    staging.commit(&[])?;
    Ok(bound)
}

/// Removes the sidecar of the data at `location`, and its folder if it is empty then. Returns the location of what was
/// removed.
///
/// # Errors
/// Returns [`Kind::NotFound`] if there is none; [`Kind::Unsupported`] in an object store.
pub fn remove(location: &Location, formats: &Registry) -> Result<Location> {
    let (home, directory) = home_of(location, formats.at(location)?);
    let sidecar = Sidecar::read(&home, directory, formats)?.ok_or_else(|| nothing(location))?;
    let document = location_of(&home, directory)?;
    let path = document.as_path().ok_or_else(|| {
        Error::unsupported("removing a sidecar from an object store is not supported")
            .at(document.to_string())
            .hint("remove the object with the store's own tools")
    })?;
    fs::remove_file(path).map_err(|error| Error::from(error).at(document.to_string()))?;
    if let Some(folder) = path.parent() {
        let ours = format!("{FOLDER}/");
        for name in sidecar.files.iter().filter_map(|bound| bound.name.strip_prefix(&ours)) {
            // Only files in the folder itself are removed.
            if !name.contains('/') && name != ".." {
                let _ = fs::remove_file(folder.join(name));
            }
        }
        // The folder is kept if it holds other files.
        let _ = fs::remove_dir(folder);
    }
    Ok(document)
}

/// The current files of the data. Files in our own folder that were not bound before are caches, and may change at any
/// time.
fn files(home: &Location, directory: bool, before: &Sidecar) -> Result<Vec<Bound>> {
    if !directory {
        return Ok(vec![hashed(home.file_name(), &Blob::open(home)?, &Silent)?]);
    }
    let root = Root::open(home)?;
    let own = format!("{FOLDER}/");
    let is_bound = |name: &str| before.files.iter().any(|bound| bound.name == name);
    let names = root.list("")?.into_iter().map(|entry| entry.name);
    let names = names.filter(|name| !name.starts_with(&own) || is_bound(name));
    names.map(|name| hashed(&name, &root.file(&name)?, &Silent)).collect()
}

fn hashed(name: &str, blob: &Blob, progress: &dyn Progress) -> Result<Bound> {
    let mut hasher = FileHasher::new();
    let mut at = 0;
    while at < blob.size() {
        // The last point at which the operation can be cancelled.
        progress.advance(0)?;
        let end = blob.size().min(at + PIECE);
        hasher.update(&blob.read(at..end)?);
        at = end;
    }
    Ok(Bound::new(name, &hasher.finish()))
}
