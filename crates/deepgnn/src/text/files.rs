//! The files of a text: one file, those of a directory, or those that match a pattern; compressed or not.

use std::io::Read;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use isomorph_error::{Error, Kind, Result};
use isomorph_storage::parts::{has_sidecar, part_number, unrelated};
use isomorph_storage::{Blob, BlobReader, Entry, Location, Root, Unpacked};

use super::TextFormat;
use crate::rules;

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstd,
}

/// One file.
#[derive(Debug, Clone)]
pub(super) struct TextFile {
    pub blob: Blob,
    pub packing: Packing,
}

/// Files, with name and text of a `meta.json` among or next to them. An error in reading it matters only to formats
/// with defaults.
type Found = (Vec<TextFile>, Result<Option<(String, Bytes)>>);

/// Name of the file that contains defaults, or the metadata of a binary.
pub(super) const META: &str = "meta.json";

/// Returns the format and the compression that a name states.
pub(crate) fn of_name(name: &str) -> (Option<TextFormat>, Packing) {
    let name = name.to_ascii_lowercase();
    let (stem, packing) = match (name.strip_suffix(".gz"), name.strip_suffix(".zst")) {
        (Some(stem), _) => (stem, Packing::Gzip),
        (_, Some(stem)) => (stem, Packing::Zstd),
        _ => (name.as_str(), Packing::None),
    };
    let ending = stem.rsplit_once('.').map(|(_, ending)| ending);
    let format = match ending {
        Some("jsonl" | "ndjson") => Some(TextFormat::Json),
        Some(ending) => TextFormat::ALL.into_iter().find(|format| format.id() == ending),
        None => None,
    };
    (format, packing)
}

impl TextFile {
    /// Opens a file with the compression that its name states or, if it states none, that its first bytes show.
    fn of(blob: Blob) -> Result<TextFile> {
        let packing = match of_name(blob.name()) {
            (None, Packing::None) => match &*blob.read(0..blob.size().min(4))? {
                [0x1f, 0x8b, ..] => Packing::Gzip,
                [0x28, 0xb5, 0x2f, 0xfd] => Packing::Zstd,
                _ => Packing::None,
            },
            (_, packing) => packing,
        };
        Ok(TextFile { blob, packing })
    }

    /// Returns a reader of the whole text.
    ///
    /// # Errors
    /// Returns an error if it cannot be decompressed.
    pub fn reader(&self) -> Result<Box<dyn Read + Send>> {
        Ok(match self.packing {
            Packing::None => Box::new(self.blob.reader()),
            Packing::Gzip => Box::new(Unpacked::new(MultiGzDecoder::new(self.blob.reader()), "gzip")),
            Packing::Zstd => {
                let decoder: zstd::Decoder<'static, BlobReader> = zstd::Decoder::with_buffer(self.blob.reader())
                    .map_err(|error| Error::from(error).at(self.blob.place()))?;
                Box::new(Unpacked::new(decoder, "Zstandard"))
            }
        })
    }

    /// Reads the beginning of the text, at most `most` bytes.
    ///
    /// # Errors
    /// Returns an error if it cannot be decompressed.
    pub fn begin(&self, most: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.reader()?.take(most).read_to_end(&mut bytes);
        read.map_err(|error| Error::from(error).at(self.blob.place()))?;
        Ok(bytes)
    }
}

/// Reads the beginning of a text, at most `most` bytes.
///
/// # Errors
/// Returns an error if it cannot be decompressed.
pub(crate) fn begin(blob: Blob, most: u64) -> Result<Vec<u8>> {
    TextFile::of(blob)?.begin(most)
}

/// Returns whether a name is that of a text.
pub(crate) fn is_text(name: &str) -> bool {
    of_name(name).0.is_some()
}

/// Returns the names that the pattern in the last component of a location matches, and their directory; `None` if these are not all
/// names of texts.
///
/// # Errors
/// Returns an error if the directory cannot be listed.
pub(crate) fn of_pattern(location: &Location) -> Result<Option<(Root, Vec<String>)>> {
    let Some(directory) = location.parent() else { return Ok(None) };
    let root = Root::open(&directory)?;
    let mut names: Vec<String> = root.list_dir("")?.into_iter().map(|entry| entry.name).collect();
    names.retain(|name| matches(location.file_name().as_bytes(), name.as_bytes()));
    let are_texts = !names.is_empty() && names.iter().all(|name| is_text(name));
    Ok(are_texts.then_some((root, names)))
}

/// Returns whether a text matches a pattern of `*` and `?`.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    t = from + 1;
                    star = Some((at, from + 1));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Returns whether a file of a directory can be a text. Names that begin with `.` or `_` belong to other programs.
fn is_looked_at(name: &str) -> bool {
    name != META && !name.starts_with(['.', '_'])
}

/// Returns the files of a directory that would be read as one text, and why they are not one text, if so. The format
/// may be given.
pub(crate) fn apart(entries: &[Entry], format: Option<TextFormat>) -> (Vec<&str>, Option<String>) {
    let files = entries.iter().filter(|entry| !entry.is_dir).map(|entry| entry.name.as_str());
    let files: Vec<&str> = files.filter(|name| is_looked_at(name)).collect();
    let why = || {
        if let Some(file) = files.iter().find(|file| has_sidecar(entries, file)) {
            return Some(format!("{file} has a sidecar of its own"));
        }
        if files.len() < 2 {
            return None;
        }
        if let Some(file) = files.iter().find(|file| part_number(file).is_none()) {
            return Some(format!("{file} is not named as a part of a text"));
        }
        let of_first = |file: &&&str| of_name(file).0 == of_name(files[0]).0;
        if let Some(file) = files.iter().find(|file| format.is_none() && !of_first(file)) {
            return Some(format!("{file} has another text format than {}", files[0]));
        }
        let mut stems: Vec<&str> = files.iter().map(|file| unpacked(file)).collect();
        stems.sort_unstable();
        let twin = stems.windows(2).find(|pair| pair[0] == pair[1])?;
        Some(format!("{} exists twice, with different compression", twin[0]))
    };
    let why = why();
    (files, why)
}

/// Returns a name without its compression suffix.
fn unpacked(name: &str) -> &str {
    match of_name(name).1 {
        Packing::None => name,
        _ => name.rsplit_once('.').map_or(name, |(stem, _)| stem),
    }
}

/// Returns the files at a location, sorted by name, and the text of the defaults among or next to them.
///
/// # Errors
/// Returns an error if there are no files, and [`rules::DATASET`] if the files of a directory are not one text.
pub(super) fn find(location: &Location, format: Option<TextFormat>) -> Result<Found> {
    let name = location.file_name();
    if name.contains(['*', '?']) {
        let directory =
            location.parent().ok_or_else(|| Error::usage("a pattern requires a directory").at(location.to_string()))?;
        let wanted = |file: &str| matches(name.as_bytes(), file.as_bytes()) && !file.starts_with('.');
        let root = Root::open(&directory)?;
        return in_directory(&root, &root.list_dir("")?, &directory, wanted);
    }
    if location.scheme().has_listing()
        && let Ok(root) = Root::open(location)
    {
        let entries = root.list_dir("")?;
        if let (files, Some(why)) = apart(&entries, format) {
            return Err(unrelated(&rules::DATASET, location, &files, &why));
        }
        return in_directory(&root, &entries, location, is_looked_at);
    }
    let blob = Blob::open(location)?;
    let meta = beside(location);
    Ok((vec![TextFile::of(blob)?], meta))
}

/// Reads the `meta.json` next to a file.
///
/// # Errors
/// Returns an error if the file exists but cannot be read: without its defaults, the text would mean something else.
fn beside(location: &Location) -> Result<Option<(String, Bytes)>> {
    let Some(directory) = location.parent() else { return Ok(None) };
    let blob = match Blob::open(&directory.join(META)?) {
        Ok(blob) => blob,
        Err(error) if error.kind() == Kind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match blob.name() == location.to_string() {
        true => Ok(None),
        false => Ok(Some((blob.name().to_owned(), blob.read_all(isomorph_storage::limits::MANIFEST_BYTES)?))),
    }
}

fn in_directory(root: &Root, entries: &[Entry], location: &Location, wanted: impl Fn(&str) -> bool) -> Result<Found> {
    let (mut files, mut meta) = (Vec::new(), Ok(None));
    for entry in entries.iter().filter(|entry| !entry.is_dir) {
        if entry.name == META {
            let text = root.read(&entry.name, isomorph_storage::limits::MANIFEST_BYTES);
            meta = text.map(|text| Some((entry.name.clone(), text)));
        } else if wanted(&entry.name) {
            files.push(TextFile::of(root.file(&entry.name)?)?);
        }
    }
    if files.is_empty() {
        return Err(Error::new(Kind::NotFound, "no text found here").at(location.to_string()));
    }
    Ok((files, meta))
}

/// Returns the single format of these files.
///
/// # Errors
/// Returns an error if their names do not state it, or state several.
pub(super) fn format(files: &[TextFile], location: &Location) -> Result<TextFormat> {
    let mut formats = files.iter().map(|file| of_name(file.blob.name()).0);
    let first = formats.next().flatten();
    match first.filter(|_| formats.all(|format| format == first)) {
        Some(format) => Ok(format),
        None => Err(Error::usage("the file names do not determine the text format")
            .at(location.to_string())
            .hint("--text-format linear|edgelist|json|tsv")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_format_and_packing() {
        assert_eq!(of_name("a/GRAPH.tsv.gz"), (Some(TextFormat::Tsv), Packing::Gzip));
        assert_eq!(of_name("graph.jsonl.zst"), (Some(TextFormat::Json), Packing::Zstd));
        assert_eq!(of_name("graph.linear"), (Some(TextFormat::Linear), Packing::None));
        assert_eq!(of_name("graph.csv").0, None);
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, matched) in [
            ("*.tsv", "a.tsv", true),
            ("*.tsv", "a.tsv.gz", false),
            ("p?-*", "p1-x", true),
            ("p?-*", "p-x", false),
            ("*a*b", "xaayb", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), matched, "{pattern} {name}");
        }
    }
}
