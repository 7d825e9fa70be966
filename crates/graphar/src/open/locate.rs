//! Finds the graph file and the directory of the data.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_storage::{Location, PATH_ESCAPE, Root, check_relative, limits};

use crate::info::GraphInfo;
use crate::layout::directory;
use crate::rules;
use crate::yml;

/// File name extensions of graph files.
const ENDINGS: [&str; 2] = [".graph.yml", ".graph.yaml"];

fn is_graph_file(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns whether `location` is a GraphAr graph: a graph file, or a directory that contains one.
///
/// # Errors
/// Returns an error if the location cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    let name = location.file_name();
    if name.ends_with(".yml") || name.ends_with(".yaml") {
        let Some(directory) = location.parent() else { return Ok(false) };
        return match Root::open(&directory)?.read(name, limits::MANIFEST_BYTES) {
            // Whether the link is followed is decided on opening.
            Err(error) if is_graph_file(name) && error.broken_rule() == Some(&PATH_ESCAPE) => Ok(true),
            bytes => bytes.map(|bytes| is_graph_file(name) || says_so(name, &bytes)),
        };
    }
    if !location.scheme().has_listing() {
        return Ok(false);
    }
    match Root::open(location) {
        Ok(root) => Ok(root.list_dir("")?.iter().any(|entry| !entry.is_dir && is_graph_file(&entry.name))),
        Err(error) if error.kind() == Kind::Usage => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether the content of a YAML file of another name is that of a graph file.
fn says_so(name: &str, bytes: &[u8]) -> bool {
    // A file that is not YAML is not ours, and not an error.
    let Ok(map) = yml::parse(name, bytes, &mut Findings::default()) else { return false };
    let has = |wanted: &str| map.entries.iter().any(|(key, _)| key == wanted);
    let version = map.entries.iter().any(|(key, node)| {
        key == "version" && matches!(node, yml::Node::Scalar { text, .. } if text.starts_with("gar/"))
    });
    version && (has("vertices") || has("edges"))
}

/// Returns the directory of the graph file, and its name there.
///
/// # Errors
/// Returns [`Kind::NotFound`] if there is none, [`Kind::Usage`] if the directory contains several.
pub(crate) fn manifest(location: &Location, links: Option<&Location>) -> Result<(Root, String)> {
    let name = location.file_name();
    if name.ends_with(".yml") || name.ends_with(".yaml") {
        let directory =
            location.parent().ok_or_else(|| Error::usage("a file must have a directory").at(location.to_string()))?;
        return Ok((Root::open_within(&directory, links)?, name.to_owned()));
    }
    let root = Root::open_within(location, links)?;
    let mut found: Vec<String> = root
        .list_dir("")?
        .into_iter()
        .filter(|entry| !entry.is_dir && is_graph_file(&entry.name))
        .map(|e| e.name)
        .collect();
    match found.len() {
        0 => {
            Err(Error::new(Kind::NotFound, "no graph file (*.graph.yml) found in this directory")
                .at(location.to_string()))
        }
        1 => Ok((root, found.remove(0))),
        several => {
            let error = Error::usage(format!("this directory contains {several} graph files"));
            Err(found.iter().take(5).fold(error.at(location.to_string()), |error, name| error.hint(name.as_str())))
        }
    }
}

/// The bytes of information files, by name.
pub(crate) type InfoFiles = BTreeMap<String, Bytes>;

/// Reads the graph file `name` in `root`, and the files that it names.
///
/// # Errors
/// As [`GraphInfo::read`].
pub(crate) fn load(root: &Root, name: &str, findings: &mut Findings) -> Result<(GraphInfo, InfoFiles)> {
    let bytes = root.read(name, limits::MANIFEST_BYTES).map_err(|error| linked(error, name))?;
    let read = RefCell::new(InfoFiles::new());
    let files = |name: &str| match root.try_file(name).map_err(|error| linked(error, name))? {
        Some(blob) => {
            let bytes = blob.read_all(limits::MANIFEST_BYTES)?;
            read.borrow_mut().insert(name.to_owned(), bytes.clone());
            Ok(Some(bytes))
        }
        None => Ok(None),
    };
    let info = GraphInfo::read(name, &bytes, &files, findings)?;
    Ok((info, read.into_inner()))
}

/// Opens the directory of the data: `chosen`, else the graph's prefix if it is the graph file's directory or
/// below it, else the graph file's directory. Also returns its path below the graph file's directory, if it is there.
///
/// # Errors
/// Returns [`PATH_ESCAPE`] for a relative prefix that leads out of that directory, or an error of opening.
pub(crate) fn data_root(
    beside: &Root,
    graph_file: &str,
    prefix: Option<&str>,
    chosen: Option<&Location>,
    links: Option<&Location>,
    findings: &mut Findings,
) -> Result<(Root, Option<String>)> {
    let here = || Ok((beside.clone(), Some(String::new())));
    if let Some(chosen) = chosen {
        let below = (chosen == beside.location()).then(String::new);
        return Ok((Root::open_within(chosen, links)?, below));
    }
    let Some(prefix) = prefix else { return here() };
    let place = || Place::file(graph_file).in_field("prefix");
    if !prefix.ends_with('/') && !prefix.contains('?') {
        findings.push(&rules::META_PREFIX_SLASH, format!("{prefix} is read as {prefix}/"), place());
    }
    let Some(relative) = relative_to(beside.location(), prefix) else {
        findings.push(&rules::META_PREFIX_ELSEWHERE, format!("{prefix} is not followed"), place());
        return here();
    };
    if relative.split('/').any(|part| part == "..") {
        let message = format!("the prefix {prefix} leads out of the directory of the graph file");
        return Err(Error::broken(&PATH_ESCAPE, message).at(place()).hint("--root DIRECTORY"));
    }
    match directory(&relative).map_err(|error| error.at(place()))? {
        same if same.is_empty() => here(),
        below => Ok((Root::open_within(&beside.location().join(&below)?, links)?, Some(below))),
    }
}

/// Adds a hint to an error of opening the file `path` if a link leads out of the directory.
pub(crate) fn linked(error: Error, path: &str) -> Error {
    // The path itself stays below the directory.
    let by_link = error.broken_rule() == Some(&PATH_ESCAPE) && check_relative(path).is_ok();
    if by_link { error.hint("--follow-links DIRECTORY    follow links that stay below it") } else { error }
}

/// Makes a prefix relative to `base`: unchanged if it is relative, shortened if it is absolute and below `base`.
fn relative_to(base: &Location, prefix: &str) -> Option<String> {
    let prefix = prefix.split('?').next().unwrap_or_default();
    let absolute = match prefix.split_once("://") {
        Some(("file", path)) => path,
        Some(_) => return strip(prefix, &base.to_string()),
        None if prefix.starts_with('/') => prefix,
        None if has_drive(prefix) => return None,
        None => return Some(prefix.to_owned()),
    };
    let here = base.as_path()?;
    // If the directory's path is unknown, the prefix is not below it; that it is not followed is a finding.
    let spelled = std::path::absolute(here).ok()?;
    let real = here.canonicalize().ok();
    [Some(spelled), real].into_iter().flatten().find_map(|here| {
        let rest = Path::new(absolute).strip_prefix(&here).ok()?;
        rest.to_str().map(str::to_owned)
    })
}

/// Returns whether a prefix is an absolute path of another system: `C:/…`, `C:\…`.
fn has_drive(prefix: &str) -> bool {
    let mut chars = prefix.chars();
    chars.next().is_some_and(|letter| letter.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), None | Some('/' | '\\'))
}

/// Returns the rest of `prefix` after the directory `base`.
fn strip(prefix: &str, base: &str) -> Option<String> {
    let rest = prefix.strip_prefix(base.trim_end_matches('/'))?;
    (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_followed_into_the_directory_only() {
        let base = Location::from_path(Path::new("/data/graph"));
        assert_eq!(relative_to(&base, "./").as_deref(), Some("./"));
        assert_eq!(relative_to(&base, "/data/graph/").as_deref(), Some(""));
        assert_eq!(relative_to(&base, "file:///data/graph/sub/").as_deref(), Some("sub"));
        assert_eq!(relative_to(&base, "/data/graphs/"), None);
        assert_eq!(relative_to(&base, "/tmp/graphar/nebula2graphar/"), None);
        assert_eq!(relative_to(&base, "s3://bucket/graph/"), None);
        assert_eq!(relative_to(&base, "C:\\data\\graph\\"), None);
        assert_eq!(relative_to(&base, "c:/data/"), None);
        assert_eq!(strip("s3://bucket/graph/sub/", "s3://bucket/graph").as_deref(), Some("/sub/"));
        assert_eq!(strip("s3://bucket/graph2/", "s3://bucket/graph"), None);
    }
}
