//! Compares two graphs: whether they are equal, and if not, which kinds, types and elements differ.

mod one_sided;
mod shadowed;
mod values;

use isomorph_error::index;
use isomorph_storage::Resources;
use std::collections::{BTreeMap, HashMap, HashSet};

use isomorph_error::Result;
use isomorph_graphlake::{Apart, GraphLake};
use isomorph_model::digest::{Line, LineKind, Table, schema_json};
use isomorph_model::faces::RESOURCE;
use isomorph_model::{Request, Source, Tables};
use serde::Serialize;

use crate::digests::{Digested, digest};
use crate::parallel::Pass;
use crate::progress::Progress;
use crate::render::{Element, LineOf, Renderer};
use shadowed::Shadowed;
pub use values::DiffValue;

/// Number of buckets for elements; only buckets whose sums differ are examined.
const BUCKETS: usize = 1 << 16;

/// One line of the comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiffLine {
    /// The kind of facts.
    #[serde(flatten)]
    pub line: Line,
    /// Number of facts on the left.
    pub left: u64,
    /// Number of facts on the right.
    pub right: u64,
    /// Whether they are equal.
    pub equal: bool,
    /// The number of facts that only the left graph has, and that only the right graph has; a fact that one graph has
    /// more often counts by its surplus. `None` if they were not counted, because no elements were requested.
    pub only: Option<[u64; 2]>,
}

/// An element that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiffElement {
    /// `node`, `edge`, `hyperedge`, `member`, `group` or `membership`.
    pub kind: &'static str,
    /// Its type or relation.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its key, or its ends, as JSON.
    pub identity: String,
    /// Its canonical line on the left; `None` if it is missing there.
    pub left: Option<String>,
    /// Its canonical line on the right.
    pub right: Option<String>,
}

/// The differences between two graphs.
#[derive(Debug, Clone, Serialize)]
pub struct Diff {
    /// Whether the contents are equal.
    pub equal: bool,
    /// Whether the orders are equal.
    pub order_equal: bool,
    /// Whether the schemas are equal.
    pub schema_equal: bool,
    /// All lines of both.
    pub lines: Vec<DiffLine>,
    /// The first elements that differ.
    pub elements: Vec<DiffElement>,
    /// Number of elements that differ; `None` if they were not counted.
    pub differing: Option<u64>,
    /// Whether the search ended at the limit: then at least this many elements differ, and the facts of only one side
    /// were not counted.
    pub ended: bool,
}

/// The search for elements.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// The maximum number that is listed.
    limit: usize,
    /// Whether the search ends at this number.
    ends: bool,
}

/// Compares two graphs; lists the first `limit` elements that differ. For two snapshots of one GraphLake store, data in
/// files that both share is not read.
///
/// # Errors
/// If one of them cannot be read or is invalid.
pub fn diff(
    left: &dyn Source,
    right: &dyn Source,
    limit: usize,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Diff> {
    apart(left, right, Wanted { limit, ends: false }, resources, progress)
}

/// The same, but the search ends at the `limit`-th element that differs: nodes are compared first, then edges, then
/// everything else, and if very many differ, only this many are examined. Both graphs are read once in any case, to
/// determine whether they are equal.
///
/// # Errors
/// As [`diff`].
pub fn diff_first(
    left: &dyn Source,
    right: &dyn Source,
    limit: usize,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Diff> {
    apart(left, right, Wanted { limit, ends: true }, resources, progress)
}

fn apart(
    left: &dyn Source,
    right: &dyn Source,
    wanted: Wanted,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Diff> {
    let apart = match (lake(left), lake(right)) {
        (Some(left), Some(right)) => left.apart(right)?,
        _ => None,
    };
    let Some(apart) = apart else { return whole(left, right, wanted, resources, progress) };
    let mut diff = whole(&apart.left, &apart.right, wanted, resources, progress)?;
    diff.lines = recounted(diff.lines, &apart);
    Ok(diff)
}

fn lake(side: &dyn Source) -> Option<&GraphLake> {
    side.as_any()?.downcast_ref()
}

/// Sets the number of facts in lines, including those that were not read.
fn recounted(lines: Vec<DiffLine>, apart: &Apart) -> Vec<DiffLine> {
    let mut all: BTreeMap<Line, DiffLine> = lines.into_iter().map(|line| (line.line.clone(), line)).collect();
    for (predicate, [left, right]) in &apart.counts {
        let edges = [left, right].map(|living| living.triples.saturating_sub(living.literals));
        let counted = [
            (Line::new(LineKind::Nodes, &[RESOURCE], predicate), [left.literals, right.literals]),
            (Line::new(LineKind::Edges, &[RESOURCE, predicate, RESOURCE], ""), edges),
        ];
        for (line, [left, right]) in counted.into_iter().filter(|(_, counts)| *counts != [0; 2]) {
            let of_line = || DiffLine { line: line.clone(), left, right, equal: true, only: Some([0; 2]) };
            let known = all.entry(line.clone()).or_insert_with(of_line);
            (known.left, known.right) = (left, right);
        }
    }
    all.into_values().collect()
}

fn whole(
    left: &dyn Source,
    right: &dyn Source,
    wanted: Wanted,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Diff> {
    let schema_equal = schema_json(left.graph()) == schema_json(right.graph());
    let (left, right) = (Shadowed::of(left), Shadowed::of(right));
    let (left, right): (&dyn Source, &dyn Source) = (&left, &right);
    let (of_left, of_right) = (digest(left, resources, progress)?, digest(right, resources, progress)?);
    let lines = lines(&of_left.table, &of_right.table);
    let equal = of_left.digests.content == of_right.digests.content;
    let mut diff = Diff {
        equal,
        order_equal: of_left.digests.order == of_right.digests.order,
        schema_equal,
        lines,
        elements: Vec::new(),
        differing: Some(0).filter(|_| equal || wanted.limit > 0),
        ended: false,
    };
    if equal || wanted.limit == 0 {
        return Ok(diff);
    }
    let has_values = [left, right].iter().any(|side| !side.graph().values.is_empty());
    let differing = Differing::of(&of_left, &of_right, has_values);
    let sides = [Side::new(left, resources, progress)?, Side::new(right, resources, progress)?];
    elements(&sides, &differing, wanted, &mut diff, (resources, progress))?;
    if !diff.ended {
        let counts = one_sided::count([left, right], [&of_left.table, &of_right.table], resources, progress)?;
        for line in &mut diff.lines {
            line.only = Some(counts.get(&line.line).copied().unwrap_or_default());
        }
    }
    Ok(diff)
}

/// Finds elements that differ: in all tables at once, or in one after another until the limit is reached.
fn elements(
    [left, right]: &[Side<'_>; 2],
    differing: &Differing,
    wanted: Wanted,
    diff: &mut Diff,
    (resources, progress): (&Resources, &dyn Progress),
) -> Result<()> {
    let all: Vec<Tables> = differing.tables().collect();
    let mut steps = all.chunks(if wanted.ends { 1 } else { all.len().max(1) }).peekable();
    let mut found = 0u64;
    while let Some(tables) = steps.next() {
        let mut sums = left.sums(differing, tables, resources, progress)?;
        for (sum, other) in sums.iter_mut().zip(right.sums(differing, tables, resources, progress)?) {
            *sum = sum.wrapping_sub(other);
        }
        // Each bucket that differs contains an element that differs.
        let room = (wanted.limit as u64).saturating_sub(found);
        let is_cut = wanted.ends && cut(&mut sums, room);
        let kept_left = left.keep(differing, tables, &sums, resources, progress)?;
        let kept_right = right.keep(differing, tables, &sums, resources, progress)?;
        found += pair(kept_left, kept_right, wanted.limit, diff);
        if wanted.ends && found >= wanted.limit as u64 {
            diff.ended = is_cut || found > wanted.limit as u64 || steps.peek().is_some();
            break;
        }
    }
    diff.differing = Some(found);
    Ok(())
}

/// Keeps the first `room` sums that are not zero; returns whether there are more.
fn cut(sums: &mut [u128], room: u64) -> bool {
    let mut left = room;
    let mut is_cut = false;
    for sum in sums.iter_mut().filter(|sum| **sum != 0) {
        match left.checked_sub(1) {
            Some(less) => left = less,
            None => {
                *sum = 0;
                is_cut = true;
            }
        }
    }
    is_cut
}

fn lines(left: &Table, right: &Table) -> Vec<DiffLine> {
    let all: std::collections::BTreeSet<&Line> = left.lines().chain(right.lines()).map(|(line, _)| line).collect();
    all.into_iter()
        .map(|line| {
            let (of_left, of_right) = (left.get(line), right.get(line));
            let equal = of_left == of_right;
            let only = Some([0; 2]).filter(|_| equal);
            DiffLine { line: line.clone(), left: of_left.count, right: of_right.count, equal, only }
        })
        .collect()
}

/// The types with lines that differ.
struct Differing(HashSet<(LineOf, String)>);

impl Differing {
    fn of(left: &Digested, right: &Digested, has_values: bool) -> Self {
        let lines = left.table.differences(&right.table).into_iter();
        let types = lines.filter_map(|(line, _, _)| match line.kind {
            LineKind::Nodes => Some((LineOf::Node, line.ty.first()?.clone())),
            LineKind::Edges => Some((LineOf::Edge, line.ty.get(1)?.clone())),
            LineKind::Hyperedges => Some((LineOf::Hyperedge, line.ty.first()?.clone())),
            LineKind::Members => Some((LineOf::Member, line.ty.first()?.clone())),
            LineKind::Groups => Some((LineOf::Group, line.ty.first()?.clone())),
            LineKind::Memberships => Some((LineOf::Membership, line.ty.first()?.clone())),
            LineKind::Documents => None,
        });
        let mut types: HashSet<_> = types.collect();
        // Values of nodes may be stored separately from them.
        let nodes = types.iter().filter(|(of, _)| has_values && *of == LineOf::Node);
        let apart: Vec<_> = nodes.map(|(_, ty)| ty.clone()).collect();
        types.extend(apart.into_iter().map(|ty| (LineOf::Value, ty)));
        Differing(types)
    }

    fn has(&self, element: &Element<'_>) -> bool {
        self.0.contains(&(element.of, element.ty.to_owned()))
    }

    fn tables(&self) -> impl Iterator<Item = Tables> + '_ {
        let of = |kind: LineOf| match kind {
            LineOf::Node => Tables::AllNodes,
            LineOf::Edge => Tables::AllEdges,
            _ => Tables::Rest,
        };
        let all = [Tables::AllNodes, Tables::AllEdges, Tables::Rest].into_iter();
        all.filter(move |tables| self.0.iter().any(|(kind, _)| of(*kind) == *tables))
    }
}

/// The elements in buckets that differ: kind, type, identity, and for a value the number of its statement; then the
/// lines of the element.
type Kept = BTreeMap<(LineOf, String, String, String), Vec<String>>;

struct Side<'a> {
    source: &'a dyn Source,
    renderer: Renderer,
}

impl<'a> Side<'a> {
    fn new(source: &'a dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<Self> {
        Ok(Side { source, renderer: Renderer::new(source, resources, progress)? })
    }

    /// The bucket of an element: by its identity, so that two versions of it are in the same bucket.
    fn bucket(element: &Element<'_>) -> usize {
        let hash = xxhash_rust::xxh3::xxh3_64(element.identity.as_bytes());
        index(hash) % BUCKETS
    }

    fn sums(
        &self,
        differing: &Differing,
        tables: &[Tables],
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Vec<u128>> {
        let states = self.each(
            (differing, tables),
            resources,
            progress,
            || vec![0u128; BUCKETS],
            |sums, element| {
                if let Some(sum) = sums.get_mut(Side::bucket(&element)) {
                    *sum = sum.wrapping_add(xxhash_rust::xxh3::xxh3_128(element.line.as_bytes()));
                }
            },
        )?;
        let mut total = vec![0u128; BUCKETS];
        for state in states {
            total.iter_mut().zip(state).for_each(|(total, sum)| *total = total.wrapping_add(sum));
        }
        Ok(total)
    }

    fn keep(
        &self,
        differing: &Differing,
        tables: &[Tables],
        sums: &[u128],
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Kept> {
        let states = self.each((differing, tables), resources, progress, Kept::new, |kept, element| {
            if sums.get(Side::bucket(&element)).is_some_and(|sum| *sum != 0) {
                let (ty, identity) = (element.ty.to_owned(), element.identity.to_owned());
                let key = (element.of, ty, identity, element.statement.to_owned());
                kept.entry(key).or_default().push(element.line.to_owned());
            }
        })?;
        let mut all = Kept::new();
        for (key, lines) in states.into_iter().flatten() {
            all.entry(key).or_default().extend(lines);
        }
        Ok(all)
    }

    fn each<S: Send>(
        &self,
        (differing, tables): (&Differing, &[Tables]),
        resources: &Resources,
        progress: &dyn Progress,
        new: impl Fn() -> S + Sync,
        step: impl Fn(&mut S, Element<'_>) + Sync,
    ) -> Result<Vec<S>> {
        let mut states = Vec::new();
        for tables in tables {
            let parts = self.source.scan(&Request::of(*tables))?;
            let pass = Pass::new(parts, "compare", resources.threads, progress);
            states.extend(pass.fold(&new, |state, _, batch| {
                self.renderer.batch(&batch, |element| {
                    if differing.has(&element) {
                        step(state, element);
                    }
                    Ok(())
                })
            })?);
        }
        Ok(states)
    }
}

/// Pairs the elements of both sides: equal lines cancel, the others differ. In the order of kinds, types and
/// identities. Returns the number of elements that differ.
fn pair(left: Kept, right: Kept, limit: usize, diff: &mut Diff) -> u64 {
    let mut both: BTreeMap<_, [Vec<String>; 2]> =
        left.into_iter().map(|(key, lines)| (key, [lines, Vec::new()])).collect();
    for (key, lines) in right {
        both.entry(key).or_default()[1] = lines;
    }
    let mut differing = 0;
    for (key, [lines, mut others]) in both {
        let mut open = cancel(lines, &mut others);
        // The pairing does not depend on the order in which threads finish.
        open.sort_unstable_by(|one, other| other.cmp(one));
        others.sort_unstable_by(|one, other| other.cmp(one));
        while !open.is_empty() || !others.is_empty() {
            let (left, right) = (open.pop(), others.pop());
            differing += 1;
            if diff.elements.len() < limit {
                let (kind, ty, identity) = (key.0.word(), key.1.clone(), key.2.clone());
                diff.elements.push(DiffElement { kind, ty, identity, left, right });
            }
        }
    }
    differing
}

/// Removes from both what both contain, as often as they do; returns what is left of the first.
fn cancel(lines: Vec<String>, others: &mut Vec<String>) -> Vec<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    others.drain(..).for_each(|line| *counts.entry(line).or_default() += 1);
    let open = lines.into_iter().filter(|line| match counts.get_mut(line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    let open = open.collect();
    for (line, count) in counts {
        others.extend(std::iter::repeat_n(line, count));
    }
    open
}
