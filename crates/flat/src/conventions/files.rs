//! The tables in a directory, with the names of their columns.

use isomorph_error::{Kind, Result};
use isomorph_storage::{Blob, Entry, Root};
use isomorph_tables::{Encoding, PackedFile, ReadOptions, TableReader};

/// The bytes of a text that are looked at.
const LOOK: u64 = 64 << 10;

/// The most tables that a directory may have to be looked at.
const MOST: usize = 500;

/// A table in a directory.
pub(crate) struct TableFile {
    /// Its name.
    pub name: String,
    /// The name without endings.
    pub stem: String,
    pub encoding: Encoding,
    /// What divides the fields of CSV.
    pub delimiter: Option<u8>,
    /// The names of its columns.
    pub columns: Vec<String>,
}

impl TableFile {
    /// The column of this name, in upper or lower case.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.columns.iter().find(|column| column.eq_ignore_ascii_case(name)).map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }
}

/// The tables among the files of a directory; none where there are very many files.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn tables(root: &Root, entries: &[Entry]) -> Result<Vec<TableFile>> {
    let named = entries.iter().filter(|entry| !entry.is_dir).filter_map(|entry| Some((entry, encoding(&entry.name)?)));
    let named: Vec<_> = named.take(MOST + 1).collect();
    if named.len() > MOST {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for (entry, (stem, encoding)) in named {
        match root.file(&entry.name).and_then(|blob| columns(blob, encoding)) {
            Ok(Some((delimiter, columns))) => {
                all.push(TableFile { name: entry.name.clone(), stem, encoding, delimiter, columns });
            }
            // A file that is none of its name is not a table.
            Ok(None) => {}
            Err(error)
                if matches!(error.kind(), Kind::Malformed | Kind::Unsupported | Kind::TooLarge | Kind::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
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
        _ if packed.is_some() => return None,
        "parquet" | "parq" => Encoding::Parquet,
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
    Ok(columns(blob, Encoding::Csv)?.and_then(|(delimiter, _)| delimiter))
}

fn columns(blob: Blob, encoding: Encoding) -> Result<Option<Columns>> {
    if !encoding.is_text() {
        let reader = TableReader::open(blob, encoding, &ReadOptions::default())?;
        let names = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        return Ok(Some((None, names)));
    }
    let begin = PackedFile::of(blob)?.begin(LOOK)?;
    let begin = begin.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&begin);
    if encoding == Encoding::JsonLines {
        let line = begin.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
        let object = line.and_then(|line| serde_json::from_slice::<serde_json::Map<_, serde_json::Value>>(line).ok());
        return Ok(object.map(|object| (None, object.keys().cloned().collect())));
    }
    let Ok(text) = std::str::from_utf8(&begin[..begin.iter().position(|byte| *byte == b'\n').unwrap_or(begin.len())])
    else {
        return Ok(None);
    };
    let line = text.trim_end_matches('\r');
    // The character that divides the line into most fields; a comma where none does.
    let delimiters = [b',', b'\t', b';', b'|'];
    let best = delimiters.iter().rev().copied().max_by_key(|delimiter| fields(line, *delimiter).len());
    let delimiter = best.unwrap_or(b',');
    Ok((!line.is_empty()).then(|| (Some(delimiter), fields(line, delimiter))))
}

/// The fields of the first line.
fn fields(line: &str, delimiter: u8) -> Vec<String> {
    let delimiter = char::from(delimiter);
    let mut all = vec![String::new()];
    let (mut quoted, mut begins) = (false, true);
    let mut rest = line.chars().peekable();
    while let Some(next) = rest.next() {
        let field = all.last_mut();
        match (next, quoted, field) {
            ('"', false, _) if begins => quoted = true,
            ('"', true, Some(field)) if rest.peek() == Some(&'"') => {
                rest.next();
                field.push('"');
            }
            ('"', true, _) => quoted = false,
            (other, false, _) if other == delimiter => {
                all.push(String::new());
                begins = true;
                continue;
            }
            (other, _, Some(field)) => field.push(other),
            (_, _, None) => {}
        }
        begins = false;
    }
    all
}
