//! The tables in a directory, with the names of their columns.

use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::json::Members;
use isomorph_storage::{Blob, Entry, Root};
use isomorph_tables::rules::CSV_HEADER;
use isomorph_tables::{Encoding, PackedFile, ReadOptions, TableReader, separator_line};

use crate::parts;
use crate::survey::{LINE, object};

/// The bytes of a text that are looked at.
const LOOK: u64 = 64 << 10;

/// The most tables that a directory may have to be looked at.
const MOST: usize = 500;

/// The most directories that are looked into: more are a collection of graphs.
const DIRECTORIES: usize = 64;

/// A table in a directory.
#[derive(Debug, Clone)]
pub(crate) struct TableFile {
    /// Its name; that of a directory of its parts ends with `/`.
    pub name: String,
    /// The name without endings.
    pub stem: String,
    pub encoding: Encoding,
    /// What divides the fields of CSV.
    pub delimiter: Option<u8>,
    /// The names of its columns; JSON lines without a line name none.
    pub columns: Vec<String>,
    /// The types that cells have, by column, if they have any.
    pub cells: Vec<(String, DataType)>,
    /// Further files of the table.
    pub parts: Vec<String>,
    /// The columns of the table of edges of this name whose different values are its rows.
    pub ends: Vec<String>,
}

impl TableFile {
    /// A table in one file.
    pub fn new(name: String, stem: String, encoding: Encoding, delimiter: Option<u8>, columns: Vec<String>) -> Self {
        TableFile { name, stem, encoding, delimiter, columns, cells: Vec::new(), parts: Vec::new(), ends: Vec::new() }
    }

    /// The column of this name, in upper or lower case.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.columns.iter().find(|column| column.eq_ignore_ascii_case(name)).map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }
}

/// A file with the name of a table that cannot be read as one.
pub(crate) struct BrokenFile {
    pub name: String,
    pub stem: String,
    pub error: Error,
    /// Whether it has no bytes.
    pub is_empty: bool,
}

impl BrokenFile {
    /// Why it cannot be read, with its name.
    pub fn error(self) -> Error {
        if self.error.place().is_empty() { self.error.at(self.name) } else { self.error }
    }
}

/// The tables among the files of a directory and its directories of parts, and files that only have such names; none where there are very
/// many files.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn tables(root: &Root, entries: &[Entry]) -> Result<(Vec<TableFile>, Vec<BrokenFile>)> {
    // The name of a table, its stem and encoding, and the file whose first line is looked at.
    let mut named = Vec::new();
    let has_few = entries.iter().filter(|entry| entry.is_dir).count() <= DIRECTORIES;
    for entry in entries {
        match entry.is_dir {
            true if !has_few || entry.name.starts_with(['_', '.']) => {}
            // Hidden: copies of editors and file systems.
            false if entry.name.starts_with('.') => {}
            false => named
                .extend(encoding(&entry.name).map(|(stem, own)| (entry.name.clone(), stem, own, entry.name.clone()))),
            true => {
                let found = parts::of_directory(root, entry)?;
                named.extend(found.map(|(first, own)| {
                    // A directory may have the ending of its files, as Spark's often do.
                    let stem = encoding(&entry.name).map_or_else(|| entry.name.clone(), |(stem, _)| stem);
                    (format!("{}/", entry.name), stem, own, first)
                }));
            }
        }
        if named.len() > MOST {
            return Ok((Vec::new(), Vec::new()));
        }
    }
    let (mut all, mut broken) = (Vec::new(), Vec::new());
    for (name, stem, encoding, first) in named {
        let blob = root.file(&first);
        let is_empty = blob.as_ref().is_ok_and(|blob| blob.size() == 0);
        match blob.and_then(|blob| columns(blob, encoding)) {
            Ok((delimiter, columns)) => {
                all.push(TableFile::new(name, stem, encoding, delimiter, columns));
            }
            Err(error) if error.kind() == Kind::NotFound => {}
            // It may be no table at all: whether that matters depends on the others.
            Err(error) if matches!(error.kind(), Kind::Malformed | Kind::Unsupported | Kind::TooLarge) => {
                broken.push(BrokenFile { name, stem, error, is_empty });
            }
            Err(error) => return Err(error),
        }
    }
    Ok((all, broken))
}

/// The table in a file, if its name says an encoding.
///
/// # Errors
/// When the file cannot be read, or is no table.
pub(crate) fn table_file(blob: &Blob, name: &str) -> Result<Option<TableFile>> {
    let Some((stem, encoding)) = encoding(name) else { return Ok(None) };
    let (delimiter, columns) = columns(blob.clone(), encoding)?;
    Ok(Some(TableFile::new(name.to_owned(), stem, encoding, delimiter, columns)))
}

/// The table in a stream, whose name says no encoding: its first bytes do.
///
/// # Errors
/// When the stream cannot be read, or is no table.
pub(crate) fn table_stream(blob: &Blob, name: &str) -> Result<TableFile> {
    let encoding = encoding_of(blob)?;
    let (delimiter, columns) = columns(blob.clone(), encoding)?;
    Ok(TableFile::new(name.to_owned(), String::new(), encoding, delimiter, columns))
}

/// The encoding that the first bytes of a stream say; CSV, if they say no other.
///
/// # Errors
/// When it cannot be read.
pub(super) fn encoding_of(blob: &Blob) -> Result<Encoding> {
    let begin = PackedFile::of(blob.clone())?.begin(LOOK)?;
    let text = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&begin).trim_ascii_start();
    Ok(match begin.as_slice() {
        [b'P', b'A', b'R', b'1', ..] => Encoding::Parquet,
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Encoding::Arrow,
        [b'O', b'R', b'C', ..] => Encoding::Orc,
        // What Arrow writes as a stream, which its reader explains.
        [0xff, 0xff, 0xff, 0xff, ..] => Encoding::Arrow,
        _ if text.starts_with(b"{") => Encoding::JsonLines,
        _ => Encoding::Csv,
    })
}

/// Whether a file has the name of a part of a table, as Spark writes it: `part-00000-….csv`.
pub(crate) fn is_part(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.starts_with("part-") || name.starts_with("part_")
}

/// The name without endings, and the encoding that these say.
pub(crate) fn encoding(name: &str) -> Option<(String, Encoding)> {
    let lower = name.to_ascii_lowercase();
    let packed = [".gz", ".zst"].iter().find_map(|ending| lower.strip_suffix(ending));
    let plain = packed.unwrap_or(&lower);
    let (stem, ending) = plain.rsplit_once('.')?;
    let encoding = match ending {
        "csv" | "tsv" => Encoding::Csv,
        "jsonl" | "ndjson" => Encoding::JsonLines,
        // Spark calls JSON lines so.
        "json" if is_part(&lower) => Encoding::JsonLines,
        _ if packed.is_some() => return None,
        "parquet" | "parq" | "pq" => Encoding::Parquet,
        "arrow" | "feather" | "ipc" => Encoding::Arrow,
        "orc" => Encoding::Orc,
        _ => return None,
    };
    (!stem.is_empty()).then(|| (name[..stem.len()].to_owned(), encoding))
}

type Columns = (Option<u8>, Vec<String>);

/// What divides the fields of a CSV file, as its first line tells.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn delimiter(blob: Blob) -> Result<Option<u8>> {
    Ok(columns(blob, Encoding::Csv)?.0)
}

/// The delimiter of CSV, and the names of columns.
fn columns(blob: Blob, encoding: Encoding) -> Result<Columns> {
    if !encoding.is_text() {
        let options = ReadOptions { embedded_types: true, ..ReadOptions::default() };
        let reader = TableReader::open(blob, encoding, &options)?;
        let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        return Ok((None, names));
    }
    let place = blob.place();
    let file = PackedFile::of(blob)?;
    let mut begin = file.begin(LOOK)?;
    if begin.len() as u64 == LOOK && !begin.contains(&b'\n') {
        begin = file.begin(LINE)?;
    }
    let begin = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&begin);
    if encoding == Encoding::JsonLines {
        let mut lines = (1..).zip(begin.split(|byte| *byte == b'\n')).map(|(number, line)| (number, line.trim_ascii()));
        // A table without rows has no line that names its columns.
        let Some((number, line)) = lines.find(|(_, line)| !line.is_empty()) else { return Ok((None, Vec::new())) };
        let mut names = Vec::new();
        let read = object(line).and_then(|object| {
            Members::default().read(object, |name, _| {
                names.push(name.to_owned());
                Ok(())
            })
        });
        read.map_err(|error| error.at(place.line(number)))?;
        return Ok((None, names));
    }
    let wrong = |what: &str| Error::broken(&CSV_HEADER, what).at(place.clone());
    if begin.starts_with(b"\xff\xfe") || begin.starts_with(b"\xfe\xff") {
        return Err(wrong("the encoding of the file is UTF-16, not UTF-8")
            .hint("save the file as UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW.csv"));
    }
    // A line may be cut within a character only behind the header.
    let text = match std::str::from_utf8(begin) {
        Ok(text) => text,
        Err(error) => {
            let text = std::str::from_utf8(&begin[..error.valid_up_to()]).unwrap_or_default();
            if !text.contains(['\n', '\r']) {
                return Err(wrong("the first line is not UTF-8").hint(
                    "save the file as UTF-8, for example from Windows-1252: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW.csv",
                ));
            }
            text
        }
    };
    let (stated, text) = match separator_line(text.as_bytes()) {
        Some((separator, length)) => (Some(separator), text.get(length..).unwrap_or_default()),
        None => (None, text),
    };
    let text = text.trim_start_matches(['\n', '\r']);
    // The character that divides the line into most fields; a comma where none does.
    let delimiters = stated.map_or_else(|| vec![b'|', b';', b'\t', b','], |stated| vec![stated]);
    let all = delimiters.into_iter().filter_map(|delimiter| Some((delimiter, fields(text, delimiter)?)));
    match all.max_by_key(|(_, fields)| fields.len()) {
        Some((delimiter, fields)) if !text.is_empty() => Ok((Some(delimiter), fields)),
        Some(_) => Err(wrong("the file is empty")),
        None => Err(wrong("quotation marks do not enclose whole fields of the first line")),
    }
}

/// The fields of the first line; `None` where quotation marks do not enclose whole fields.
fn fields(text: &str, delimiter: u8) -> Option<Vec<String>> {
    let delimiter = char::from(delimiter);
    let mut all = Vec::new();
    let mut rest = text;
    loop {
        let mut field = String::new();
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut inside = quoted.char_indices().peekable();
            loop {
                match inside.next()? {
                    (_, '"') if inside.next_if(|(_, next)| *next == '"').is_some() => field.push('"'),
                    (at, '"') => {
                        rest = quoted.get(at + 1..)?;
                        break;
                    }
                    (_, other) => field.push(other),
                }
            }
        } else {
            let end = rest.find([delimiter, '\n', '\r']).unwrap_or(rest.len());
            field.push_str(rest.get(..end)?);
            rest = rest.get(end..)?;
        }
        all.push(field);
        match rest.chars().next() {
            Some(next) if next == delimiter => rest = rest.get(next.len_utf8()..)?,
            None | Some('\n' | '\r') => return Some(all),
            Some(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_divided_outside_quotes() {
        let of = |text: &str, delimiter: u8| fields(text, delimiter).map(|all| all.join("/"));
        assert_eq!(of("a,b\r\n1,2", b','), Some("a/b".to_owned()));
        assert_eq!(of("a\tb\r1\t2\r", b'\t'), Some("a/b".to_owned()));
        assert_eq!(of("\"id\",\"a,b\",\"x;y;z;w\"\n", b','), Some("id/a,b/x;y;z;w".to_owned()));
        assert_eq!(of("\"id\",\"a,b\",\"x;y;z;w\"\n", b';'), None);
        assert_eq!(of("\"a\"\"b\nc\",,d", b','), Some("a\"b\nc//d".to_owned()));
        assert_eq!(of("\"a", b','), None);
    }
}
