//! Checks every rule.

mod files;
mod live_counts;
pub(crate) mod metadata;
mod older;
pub(crate) mod orders;
mod quoted;
mod tombstones;

use std::collections::HashSet;

use isomorph_error::{Findings, Result};

use crate::path;
use crate::read::GraphLake;
use crate::rules;
use crate::snapshot::Snapshot;

/// Reads all metadata of the store, and every file of the opened snapshot; for files that only other snapshots list, it
/// checks that they exist and have the stated size.
///
/// # Errors
/// Returns an error if something cannot be read at all; broken rules are findings.
pub(crate) fn validate(lake: &GraphLake, findings: &mut Findings) -> Result<()> {
    findings.merge(lake.parsed.clone());
    metadata::store(&lake.store, findings);
    let mut named: HashSet<String> = HashSet::new();
    let mut older = older::Older::default();
    for entry in &lake.store.snapshots {
        // Violations of the opened snapshot were recorded when it was opened.
        let mut noticed = Findings::keeping(8);
        let snapshot = match Snapshot::read(&lake.root, &entry.id, &lake.options.budget, &mut noticed) {
            Ok(snapshot) => snapshot,
            Err(error) => {
                let rule = error.broken_rule().unwrap_or(&rules::STORE_ENTRY);
                findings.push(rule, error.message().to_owned(), crate::snapshot::file_of(&entry.id));
                continue;
            }
        };
        metadata::entry(entry, &snapshot, findings);
        if snapshot.id != lake.snapshot.id {
            findings.merge(noticed);
        }
        metadata::snapshot(&snapshot, findings);
        let opened = GraphLake::over(lake.root.clone(), lake.store.clone(), snapshot, lake.options.clone());
        metadata::orders(&opened, u64::MAX, findings)?;
        let snapshot = &opened.snapshot;
        for (_, file) in snapshot.graphs.iter().flat_map(|graph| graph.files()) {
            match path::resolve(&file.path, &lake.store.location) {
                Ok(name) => {
                    // Files of the opened snapshot are read.
                    if snapshot.id != lake.snapshot.id {
                        older.note(&name, file.size, entry.version);
                    }
                    named.insert(name);
                }
                Err(error) => {
                    let rule = error.broken_rule().unwrap_or(&rules::FILE);
                    findings.push(rule, error.message().to_owned(), crate::snapshot::file_of(&entry.id));
                }
            }
        }
    }
    let has_listing = lake.root.location().scheme().has_listing();
    let listed = if has_listing { lake.root.list("graphs")? } else { Vec::new() };
    older.check(lake, &listed, findings)?;
    let sums = files::files(lake, findings)?;
    orders::orders(lake, &sums, findings)?;
    live_counts::living(lake, findings)?;
    tombstones::tombstones(lake, findings)?;
    quoted::quoted(lake, &sums, findings)?;
    if has_listing {
        // An index file belongs to its file.
        let file = |name: &str| name.strip_suffix(crate::index_file::ENDING).unwrap_or(name).to_owned();
        for entry in listed.into_iter().filter(|entry| !named.contains(&file(&entry.name))) {
            findings.push(&rules::ORPHAN, format!("no snapshot lists this file of {} bytes", entry.size), entry.name);
        }
    }
    Ok(())
}
