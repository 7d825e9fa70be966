//! Rules of files of triples: V3 to V8, V16, and V19 for terms; and the sums that V9 needs.

use std::collections::{BTreeSet, HashMap, HashSet};

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::Blob;
use twox_hash::XxHash64;

use crate::bloom::Bloom;
use crate::cursor::{Cursor, out_of_order, shown};
use crate::id::TripleId;
use crate::lookup::each_in_order;
use crate::read::{GraphLake, Order};
use crate::record::Prefixes;
use crate::snapshot::{DataFile, Description};
use crate::triple::Triple;
use crate::{path, rules, term, verified};

/// Bytes that are hashed at once.
const BLOCK: u64 = 1 << 20;

/// Number of violations of one rule in one file whose positions are kept; all are counted. Several files are checked at
/// the same time, and the findings of one are held until those before it are complete.
const PLACES: usize = 1_000;

/// The sum of the ids of triples, which does not depend on their order, and their number.
pub(super) type Sum = (u128, u64);

/// Ids of triples used as terms that are looked up: a store with more unquoted ones is of another writer.
const IDS: usize = 100_000;

/// The sums of files that could be read to their ends, and ids of triples that are used as terms.
#[derive(Default)]
pub(super) struct Sums<'a>(HashMap<Description<'a>, Sum>, pub(super) BTreeSet<TripleId>);

impl<'a> Sums<'a> {
    pub(super) fn get(&self, file: &'a DataFile) -> Option<Sum> {
        self.0.get(&file.description()).copied()
    }
}

/// A file to check.
struct Task<'a> {
    name: String,
    file: &'a DataFile,
    /// Whether the ids of its triples are summed, to compare them with those of the other order.
    wants_sum: bool,
}

/// The findings of a file, its sum, and ids of triples used as terms.
type Checked<'a> = (Findings, &'a DataFile, Option<Sum>, BTreeSet<TripleId>);

/// Checks each file, on all threads; findings are in the order of the files. Records are decoded once for all rules. A
/// file that a copied graph lists again with equal metadata is checked once.
pub(super) fn files<'a>(lake: &'a GraphLake, findings: &mut Findings) -> Result<Sums<'a>> {
    let mut sums = Sums::default();
    let (mut seen, mut tasks) = (HashSet::new(), Vec::new());
    for (list, file) in lake.snapshot.graphs.iter().flat_map(|graph| graph.files()) {
        // An invalid path was reported before.
        let Ok(name) = path::resolve(&file.path, &lake.store.location) else { continue };
        let wants_sum = list != "tombstone_files";
        if seen.insert((wants_sum, file.description())) {
            tasks.push(Task { name, file, wants_sum });
        }
    }
    let check = |Task { name, file, wants_sum }: Task<'a>| -> Result<Checked<'a>> {
        let mut found = Findings::keeping(PLACES);
        let mut ids = BTreeSet::new();
        let sum = match lake.file(file) {
            Ok(blob) => records(lake, file, blob, wants_sum.then_some(&mut ids), &mut found)?,
            Err(error) => {
                note(error, &name, &mut found)?;
                None
            }
        };
        Ok((found, file, sum, ids))
    };
    each_in_order(tasks, lake.options.threads, check, |(found, file, sum, mut ids)| {
        findings.merge(found);
        sums.0.extend(sum.map(|sum| (file.description(), sum)));
        if sums.1.len() < IDS {
            sums.1.append(&mut ids);
        }
        Ok(())
    })?;
    Ok(sums)
}

/// Records an error of a file as a finding; an error that breaks no rule ends the check.
fn note(error: Error, name: &str, findings: &mut Findings) -> Result<()> {
    let Some(rule) = error.broken_rule() else { return Err(error) };
    let place = if error.place().is_empty() { Place::file(name) } else { error.place().clone() };
    findings.push(rule, error.message().to_owned(), place);
    Ok(())
}

/// Checks the records of a file. Returns their sum, if it is wanted and no record is broken, and the ids of triples
/// used as terms.
fn records(
    lake: &GraphLake,
    file: &DataFile,
    blob: Blob,
    terms: Option<&mut BTreeSet<TripleId>>,
    findings: &mut Findings,
) -> Result<Option<Sum>> {
    let place = blob.place();
    if let Some(stated) = &file.checksum {
        let found = verified::shown(checksum(&blob)?);
        if stated.starts_with("xxh64:") && *stated != found {
            findings.push(&rules::CHECKSUM, format!("{found}, not {stated}"), place.clone());
        }
    }
    let prefixes = match Prefixes::of(file, &lake.options) {
        Ok(prefixes) => prefixes,
        Err(error) => return note(error, blob.name(), findings).map(|()| None),
    };
    let order = if file.is_inverse { Order::Object } else { Order::Subject };
    let mut check = Check {
        file,
        order,
        bloom: Bloom::parse(&file.bloom_filter),
        ids: file.id_bloom_filter.as_deref().and_then(Bloom::parse),
        sum: terms.is_some().then_some((0, 0)),
        terms,
        literals: 0,
        before: Triple::default(),
        line: String::new(),
    };
    let mut cursor = Cursor::new(blob.clone(), prefixes, None, &lake.options.budget);
    loop {
        match cursor.advance() {
            Ok(true) => check.record(&cursor, findings),
            Ok(false) => break,
            // After a broken record, the rest cannot be checked.
            Err(error) => return note(error, blob.name(), findings).map(|()| None),
        }
    }
    if cursor.records != file.triple_count {
        let message = format!("the file has {} records, but triple_count is {}", cursor.records, file.triple_count);
        findings.push(&rules::COUNT, message, place.clone());
    }
    if let Some(stated) = file.literal_count.filter(|stated| *stated != check.literals) {
        findings.push(
            &rules::COUNT,
            format!("the file has {} literals, but literal_count is {stated}", check.literals),
            place,
        );
    }
    Ok(check.sum)
}

/// Adds a triple to a sum.
pub(super) fn add((sum, count): &mut Sum, id: &TripleId) {
    let half = id.0.first_chunk::<16>().map_or(0, |half| u128::from_le_bytes(*half));
    (*sum, *count) = (sum.wrapping_add(half), *count + 1);
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
    sum: Option<Sum>,
    terms: Option<&'a mut BTreeSet<TripleId>>,
    literals: u64,
    before: Triple,
    line: String,
}

impl Check<'_> {
    fn record(&mut self, cursor: &Cursor, findings: &mut Findings) {
        let triple = &cursor.triple;
        let first = triple.first(self.order);
        let mut broken = |rule, message: String| findings.push(rule, message, cursor.place());
        // Datatypes may be sorted as they are spelled; a repeated triple is out of order in any spelling.
        let compared = self.before.compare(triple, self.order);
        let is_behind = compared.is_lt() || compared.is_gt() && self.before.is_written_before(triple, self.order);
        if cursor.records > 1 && !is_behind {
            broken(&rules::ORDER, out_of_order(&self.before, triple, self.order));
        }
        if first.as_bytes() < self.file.min_value.as_bytes() || first.as_bytes() > self.file.max_value.as_bytes() {
            let (min, max) = (shown(&self.file.min_value), shown(&self.file.max_value));
            broken(&rules::BOUNDS, format!("{:?} is not between {min:?} and {max:?}", shown(first)));
        }
        if self.bloom.as_ref().is_some_and(|bloom| !bloom.may_have(first.as_bytes())) {
            broken(&rules::BLOOM, format!("bloom_filter excludes {:?}", shown(first)));
        }
        if self.ids.is_some() || self.sum.is_some() {
            let id = TripleId::with(&mut self.line, &triple.subject, &self.file.predicate, &triple.as_object());
            if let Some(sum) = &mut self.sum {
                add(sum, &id);
            }
            if self.ids.as_ref().is_some_and(|ids| !ids.may_have(&id.0)) {
                broken(&rules::BLOOM, format!("id_bloom_filter excludes {id}"));
            }
        }
        for iri in [Some(&triple.subject), Some(&triple.object).filter(|_| !triple.literal)].into_iter().flatten() {
            if !iri.starts_with("_:") && !term::is_absolute_iri(iri) {
                broken(&rules::IRI, format!("{:?} is not an absolute IRI", shown(iri)));
            }
            if let Some(terms) = &mut self.terms
                && terms.len() < IDS
                && let Some(id) = TripleId::of_term(iri)
            {
                terms.insert(id);
            }
        }
        if triple.literal {
            self.literals += 1;
            if triple.untagged {
                broken(&rules::LANGUAGE, "a literal has the datatype rdf:langString, but no language".to_owned());
            } else if !triple.datatype.is_empty() && !term::is_absolute_iri(&triple.datatype) {
                broken(&rules::IRI, format!("the datatype {:?} is not an absolute IRI", shown(&triple.datatype)));
            }
        }
        self.before.clone_from(triple);
    }
}
