//! Rules of files of triples: V3 to V8, V16 and what V19 says of terms.

use std::cmp::Ordering;
use std::collections::HashSet;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::Blob;
use twox_hash::XxHash64;

use crate::bloom::Bloom;
use crate::cursor::{Cursor, shown};
use crate::id::TripleId;
use crate::read::{GraphLake, Order};
use crate::record::Prefixes;
use crate::snapshot::DataFile;
use crate::triple::Triple;
use crate::{path, rules, term};

/// Bytes that are hashed at once.
const BLOCK: u64 = 1 << 20;

pub(super) fn files(lake: &GraphLake, findings: &mut Findings) -> Result<()> {
    let mut seen = HashSet::new();
    for (_, file) in lake.snapshot.graphs.iter().flat_map(|graph| graph.files()) {
        // Copies of graphs share their files.
        let Ok(name) = path::resolve(&file.path, &lake.store.location) else { continue };
        if !seen.insert(name.clone()) {
            continue;
        }
        match lake.file(file) {
            Ok(blob) => records(lake, file, blob, findings)?,
            Err(error) => note(error, &name, findings)?,
        }
    }
    Ok(())
}

/// An error of a file as a finding; what is no breach ends the check.
fn note(error: Error, name: &str, findings: &mut Findings) -> Result<()> {
    let Some(rule) = error.broken_rule() else { return Err(error) };
    let place = if error.place().is_empty() { Place::file(name) } else { error.place().clone() };
    findings.push(rule, error.message().to_owned(), place);
    Ok(())
}

fn records(lake: &GraphLake, file: &DataFile, blob: Blob, findings: &mut Findings) -> Result<()> {
    let place = blob.place();
    if let Some(stated) = &file.checksum {
        let found = format!("xxh64:{:016x}", checksum(&blob)?);
        if stated.starts_with("xxh64:") && *stated != found {
            findings.push(&rules::CHECKSUM, format!("{found}, not {stated}"), place.clone());
        }
    }
    let prefixes = match Prefixes::of(file, &lake.options) {
        Ok(prefixes) => prefixes,
        Err(error) => return note(error, blob.name(), findings),
    };
    let order = if file.is_inverse { Order::Object } else { Order::Subject };
    let mut check = Check {
        file,
        order,
        bloom: Bloom::parse(&file.bloom_filter),
        ids: file.id_bloom_filter.as_deref().and_then(Bloom::parse),
        before: Triple::default(),
        line: String::new(),
    };
    let mut cursor = Cursor::new(blob.clone(), prefixes, None);
    loop {
        match cursor.advance() {
            Ok(true) => check.record(&cursor, findings),
            Ok(false) => break,
            // Behind a broken record nothing can be told.
            Err(error) => return note(error, blob.name(), findings),
        }
    }
    if cursor.records != file.triple_count {
        let message = format!("{} records, triple_count says {}", cursor.records, file.triple_count);
        findings.push(&rules::COUNT, message, place);
    }
    Ok(())
}

fn checksum(blob: &Blob) -> Result<u64> {
    use std::hash::Hasher;
    let mut hasher = XxHash64::with_seed(0);
    let mut at = 0;
    while at < blob.size() {
        let end = at.saturating_add(BLOCK).min(blob.size());
        hasher.write(&blob.read(at..end)?);
        at = end;
    }
    Ok(hasher.finish())
}

struct Check<'a> {
    file: &'a DataFile,
    order: Order,
    bloom: Option<Bloom>,
    ids: Option<Bloom>,
    before: Triple,
    line: String,
}

impl Check<'_> {
    fn record(&mut self, cursor: &Cursor, findings: &mut Findings) {
        let triple = &cursor.triple;
        let first = triple.first(self.order);
        let mut broken = |rule, message: String| findings.push(rule, message, cursor.place());
        if cursor.records > 1 && self.before.compare(triple, self.order) != Ordering::Less {
            let before = shown(self.before.first(self.order));
            broken(&rules::ORDER, format!("{:?} stands behind {before:?}", shown(first)));
        }
        if first.as_bytes() < self.file.min_value.as_bytes() || first.as_bytes() > self.file.max_value.as_bytes() {
            let (min, max) = (shown(&self.file.min_value), shown(&self.file.max_value));
            broken(&rules::BOUNDS, format!("{:?} is not between {min:?} and {max:?}", shown(first)));
        }
        if self.bloom.as_ref().is_some_and(|bloom| !bloom.may_have(first.as_bytes())) {
            broken(&rules::BLOOM, format!("bloom_filter denies {:?}", shown(first)));
        }
        if let Some(ids) = &self.ids {
            let id = TripleId::with(&mut self.line, &triple.subject, &self.file.predicate, &triple.as_object());
            if !ids.may_have(&id.0) {
                broken(&rules::BLOOM, format!("id_bloom_filter denies {id}"));
            }
        }
        for iri in [Some(&triple.subject), Some(&triple.object).filter(|_| !triple.literal)].into_iter().flatten() {
            if !iri.starts_with("_:") && !term::is_absolute_iri(iri) {
                broken(&rules::IRI, format!("{:?} is no absolute IRI", shown(iri)));
            }
        }
        if triple.literal {
            if triple.datatype == term::LANG_STRING {
                broken(&rules::LANGUAGE, "a literal of rdf:langString without a language".to_owned());
            } else if !triple.datatype.is_empty() && !term::is_absolute_iri(&triple.datatype) {
                broken(&rules::IRI, format!("the datatype {:?} is no absolute IRI", shown(&triple.datatype)));
            }
        }
        self.before.clone_from(triple);
    }
}
