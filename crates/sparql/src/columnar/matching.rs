//! Matches patterns: one after another, each looked up in a sorted order for all solutions of those before.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use isomorph::error::{Error, Result};

use super::execute::{Context, Out};
use super::plan::{Atom, Condition, Slot};
use super::probe::{Probe, narrow};
use super::table::{Table, Var, Vars, each, has, number, only};
use crate::stack::large_stack;

/// Rows of the first pattern that are worked on at once, by one thread.
const CHUNK: usize = 1 << 13;

/// Rows of the first chunk: whoever wants few solutions gets them soon.
const FIRST_CHUNK: usize = 1 << 8;

/// Rows of the first pattern that are worth more than one thread.
const MANY: usize = 1 << 14;

/// Solutions that are passed on at once.
pub(super) const BATCH: usize = 1 << 15;

/// Batches of a chunk that wait for whoever takes them.
const WAITING: usize = 4;

/// Where a known term comes from.
#[derive(Debug, Clone, Copy)]
enum Known {
    Term(u32),
    Column(Var),
}

/// A pattern, when some of its variables have values.
struct Step<'g, 'p> {
    kind: Kind<'g, 'p>,
    /// Conditions whose variables have values after it.
    filters: Vec<&'p Condition>,
    /// The variables that are needed after it, and by its conditions.
    live: Vars,
    /// Those that are needed after its conditions.
    kept: Vars,
}

enum Kind<'g, 'p> {
    /// No pattern: conditions on nothing.
    Nothing,
    Triple {
        probe: Arc<Probe<'g>>,
        /// The first term that is not constant, and its position.
        key: Option<(Known, usize)>,
        /// Known terms after it.
        rest: Vec<Known>,
        /// Positions that bind variables.
        binds: Vec<(usize, Var)>,
        /// Positions that must be equal: of a variable that a pattern has twice.
        same: Option<(usize, usize)>,
    },
    Path(&'p Atom),
}

/// Matches `atoms` for every row of `input`. See [`Context::run`].
pub(super) fn run(
    context: &Context<'_>,
    atoms: &[Atom],
    filters: &[Condition],
    input: &Table,
    needed: Vars,
    out: &mut Out<'_>,
) -> Result<bool> {
    let vars = atoms.iter().fold(0, |set, atom| set | atom.vars());
    // A variable without a value in some rows is bound by the patterns there.
    for (bound, rows) in parts(input, vars) {
        let part = rows.map(|rows| input.take(&rows, !(vars & !bound)));
        let input = part.as_ref().unwrap_or(input);
        let steps = ordered(context, atoms, filters, input, needed)?;
        if !all(context, &steps, input, out)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The rows of a table by which of the variables have values; `None` for all rows.
fn parts(input: &Table, vars: Vars) -> Vec<(Vars, Option<Vec<u32>>)> {
    let shared = input.set() & vars;
    let complete = each(shared).all(|var| input.column(var).is_none_or(|column| !column.contains(&0)));
    if complete {
        return if input.rows == 0 { Vec::new() } else { vec![(shared, None)] };
    }
    input.by_bound(shared).into_iter().map(|(bound, rows)| (bound, Some(rows))).collect()
}

/// About how many solutions patterns have.
pub(super) fn size(context: &Context<'_>, atoms: &[Atom]) -> Result<f64> {
    let mut least = f64::MAX;
    for atom in atoms {
        least = least.min(fan_out(context, atom, 0)?);
    }
    Ok(if atoms.is_empty() { 1.0 } else { least })
}

/// The order in which some positions are known first: its number, and its positions as those of the pattern.
fn order_of(known: [bool; 3]) -> (usize, [usize; 3]) {
    match known {
        [true, false, true] | [false, false, true] => (2, [2, 0, 1]),
        [false, true, _] => (1, [1, 2, 0]),
        _ => (0, [0, 1, 2]),
    }
}

/// About how many matches a pattern has, for each solution in which the variables `bound` have values.
fn fan_out(context: &Context<'_>, atom: &Atom, bound: Vars) -> Result<f64> {
    let is_known = |slot: Slot| match slot {
        Slot::Term(_) => true,
        Slot::Var(var) => has(bound, var),
    };
    match atom {
        Atom::Path(subject, _, object) => Ok(match (is_known(*subject), is_known(*object)) {
            (true, true) => 10.0,
            (false, false) => 1e12,
            _ => 1_000.0,
        }),
        Atom::Triple(slots) => {
            let (order, positions) = order_of(slots.map(is_known));
            let first = constants(slots, positions);
            let probe = context.probe(order, &first)?;
            let known = slots.iter().filter(|slot| is_known(**slot)).count();
            if known == first.len() {
                return Ok(probe.rows().len() as f64);
            }
            // Each further term leaves a part of the rows.
            let further = i32::try_from(known - first.len()).unwrap_or(1) - 1;
            Ok(probe.fan_out() * 0.3f64.powi(further))
        }
    }
}

/// The terms of a pattern that begin an order.
fn constants(slots: &[Slot; 3], positions: [usize; 3]) -> Vec<u32> {
    let terms = positions.iter().map_while(|at| match slots[*at] {
        Slot::Term(term) => Some(term),
        Slot::Var(_) => None,
    });
    terms.collect()
}

/// Brings patterns into an order: always the one with the fewest matches next, and conditions as soon as they can be tested.
fn ordered<'g, 'p>(
    context: &Context<'g>,
    atoms: &'p [Atom],
    filters: &'p [Condition],
    input: &Table,
    needed: Vars,
) -> Result<Vec<Step<'g, 'p>>> {
    let mut bound = input.set();
    let mut left: Vec<&Atom> = atoms.iter().collect();
    let (mut untested, mut waiting): (Vec<&Condition>, Vec<&Condition>) = (filters.iter().collect(), Vec::new());
    let mut steps: Vec<Step<'_, '_>> = Vec::with_capacity(atoms.len() + 1);
    if left.is_empty() {
        steps.push(Step { kind: Kind::Nothing, filters: Vec::new(), live: 0, kept: 0 });
    }
    while !left.is_empty() {
        let (mut best, mut least, mut rows) = (0, f64::MAX, f64::MAX);
        for (at, atom) in left.iter().enumerate() {
            let connected = atom.vars() & bound != 0 || atom.vars() == 0 || bound == 0;
            let found = fan_out(context, atom, bound)?;
            // A product with other solutions comes last.
            let cost = found * if connected { 1.0 } else { 1e6 };
            // What a condition removes is not joined.
            let tested = untested.iter().any(|one| one.vars() & !(bound | atom.vars()) == 0);
            let cost = if tested { cost * 0.3 } else { cost };
            if cost < least {
                (best, least, rows) = (at, cost, found);
            }
        }
        let atom = left.remove(best);
        // A condition on several variables costs more than a look-up that leaves fewer solutions.
        if let Some(last) = steps.last_mut().filter(|_| rows >= 1.0) {
            last.filters.append(&mut waiting);
        }
        let kind = kind(context, atom, bound)?;
        bound |= atom.vars();
        let (ready, later): (Vec<&Condition>, Vec<&Condition>) =
            untested.into_iter().partition(|one| one.vars() & !bound == 0);
        untested = later;
        let (cheap, costly) = ready.into_iter().partition(|one| one.vars().count_ones() <= 1);
        waiting.extend::<Vec<&Condition>>(costly);
        steps.push(Step { kind, filters: cheap, live: 0, kept: 0 });
    }
    if let Some(last) = steps.last_mut() {
        last.filters.append(&mut waiting);
        last.filters.append(&mut untested);
    }
    let mut live = needed;
    for step in steps.iter_mut().rev() {
        step.kept = live;
        step.live = step.filters.iter().fold(live, |set, one| set | one.vars());
        live = step.live | step.kind.reads();
    }
    Ok(steps)
}

fn kind<'g, 'p>(context: &Context<'g>, atom: &'p Atom, bound: Vars) -> Result<Kind<'g, 'p>> {
    let Atom::Triple(slots) = atom else { return Ok(Kind::Path(atom)) };
    let known = slots.map(|slot| match slot {
        Slot::Term(term) => Some(Known::Term(term)),
        Slot::Var(var) if has(bound, var) => Some(Known::Column(var)),
        Slot::Var(_) => None,
    });
    let (order, positions) = order_of(known.map(|known| known.is_some()));
    let first = constants(slots, positions);
    let mut after = positions.iter().enumerate().skip(first.len());
    let mut following = after.by_ref().map_while(|(place, at)| Some((known[*at]?, place)));
    let key = following.next();
    let rest = following.map(|(known, _)| known).collect();
    let (mut binds, mut same) = (Vec::<(usize, Var)>::new(), None);
    for (place, at) in positions.iter().enumerate() {
        if let (None, Slot::Var(var)) = (known[*at], slots[*at]) {
            match binds.iter().find(|(_, of)| *of == var) {
                Some((earlier, _)) if same.is_none() => same = Some((*earlier, place)),
                // The third position of one variable.
                _ => binds.push((place, var)),
            }
        }
    }
    Ok(Kind::Triple { probe: context.probe(order, &first)?, key, rest, binds, same })
}

impl Kind<'_, '_> {
    /// The variables that it reads.
    fn reads(&self) -> Vars {
        let of = |known: &Known| match known {
            Known::Term(_) => 0,
            Known::Column(var) => only(*var),
        };
        match self {
            Kind::Nothing => 0,
            Kind::Path(atom) => atom.vars(),
            Kind::Triple { key, rest, .. } => {
                rest.iter().chain(key.iter().map(|(known, _)| known)).fold(0, |set, known| set | of(known))
            }
        }
    }
}

/// What is worked on by chunks: the rows of the first pattern, or those of the input.
fn all(context: &Context<'_>, steps: &[Step<'_, '_>], input: &Table, out: &mut Out<'_>) -> Result<bool> {
    let scan = match steps.first() {
        Some(Step { kind: Kind::Triple { probe, key: None, .. }, .. }) if input.rows == 1 => Some(probe.rows()),
        _ => None,
    };
    let count = scan.map_or(input.rows, <[_]>::len);
    let work = |start: usize, end: usize, out: &mut Out<'_>| match scan {
        Some(rows) => scanned(context, steps, input, &rows[start..end], out),
        None if (start, end) == (0, input.rows) => after(context, steps, input.clone(), out),
        None => after(context, steps, input.slice(start, end), out),
    };
    let (mut done, mut size) = (0, FIRST_CHUNK);
    while done < count {
        if context.threads > 1 && size >= CHUNK && count - done >= MANY {
            let chunks = (count - done).div_ceil(CHUNK);
            let chunk = |at: usize, out: &mut Out<'_>| {
                let start = done + at * CHUNK;
                work(start, (start + CHUNK).min(count), out)
            };
            return in_parallel(context, chunks, &chunk, out);
        }
        let end = (done + size).min(count);
        if !work(done, end, out)? {
            return Ok(false);
        }
        done = end;
        // Rows of an input are few already, and are looked up together.
        size = if scan.is_some() { (size * 8).min(CHUNK) } else { CHUNK };
    }
    Ok(true)
}

/// Works on chunks on several threads. Their solutions are passed on in the order of the chunks, so that answers do not depend on
/// the number of threads.
fn in_parallel(
    context: &Context<'_>,
    chunks: usize,
    work: &(dyn Fn(usize, &mut Out<'_>) -> Result<bool> + Sync),
    out: &mut Out<'_>,
) -> Result<bool> {
    /// `None` at the end of a chunk.
    type Message = Result<Option<Table>>;
    let failed = || Error::malformed("internal error: a thread that evaluates the query failed");
    let (senders, receivers): (Vec<_>, Vec<Receiver<Message>>) = (0..chunks)
        .map(|_| {
            let (sender, receiver) = sync_channel::<Message>(WAITING);
            (Mutex::new(Some(sender)), receiver)
        })
        .unzip();
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let one = |at: usize, sender: &SyncSender<Message>| {
        let done = work(at, &mut |table| Ok(!stopped.load(Relaxed) && sender.send(Ok(Some(table))).is_ok()));
        // Nobody waits for it if the evaluation has ended.
        let _ = sender.send(done.map(|_| None));
    };
    let worker = || {
        loop {
            let at = next.fetch_add(1, Relaxed);
            let sender = senders.get(at).filter(|_| !stopped.load(Relaxed));
            let sender = sender.and_then(|sender| sender.lock().unwrap_or_else(PoisonError::into_inner).take());
            match sender {
                Some(sender) => one(at, &sender),
                None => return,
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..context.threads.min(chunks) {
            large_stack(scope, worker)?;
        }
        let mut taken = Ok(true);
        'chunks: for receiver in &receivers {
            loop {
                match receiver.recv() {
                    Ok(Ok(None)) => break,
                    Ok(Ok(Some(table))) => match out(table) {
                        Ok(true) => {}
                        other => {
                            taken = other;
                            break 'chunks;
                        }
                    },
                    Ok(Err(error)) => {
                        taken = Err(error);
                        break 'chunks;
                    }
                    // The sender is dropped without an end only by a panic.
                    Err(_) => {
                        taken = Err(failed());
                        break 'chunks;
                    }
                }
            }
        }
        stopped.store(true, Relaxed);
        drop(receivers);
        taken
    })
}

/// Rows of the first pattern become a table.
fn scanned(
    context: &Context<'_>,
    steps: &[Step<'_, '_>],
    input: &Table,
    rows: &[[u32; 3]],
    out: &mut Out<'_>,
) -> Result<bool> {
    let Some((step, rest)) = steps.split_first() else { return Ok(true) };
    let Kind::Triple { binds, same, .. } = &step.kind else { return Ok(true) };
    let matching: Vec<[u32; 3]>;
    let rows = if same.is_some() {
        matching = rows.iter().filter(|row| agrees(row, binds, *same)).copied().collect();
        &matching
    } else {
        rows
    };
    if rows.is_empty() {
        return Ok(true);
    }
    let mut table = input.take(&vec![0; rows.len()], step.live);
    for (place, var) in binds {
        if has(step.live, *var) && !table.vars.contains(var) {
            table.push_column(*var, rows.iter().map(|row| row[*place]).collect());
        }
    }
    tested(context, step, rest, table, out)
}

/// Whether the positions of variables that a pattern has several times are equal.
fn agrees(row: &[u32; 3], binds: &[(usize, Var)], same: Option<(usize, usize)>) -> bool {
    same.is_none_or(|(first, second)| row[first] == row[second])
        && binds.iter().all(|(place, var)| binds.iter().all(|(other, of)| of != var || row[*place] == row[*other]))
}

/// Tests the conditions of a step, and goes on.
fn tested(
    context: &Context<'_>,
    step: &Step<'_, '_>,
    rest: &[Step<'_, '_>],
    mut table: Table,
    out: &mut Out<'_>,
) -> Result<bool> {
    for filter in &step.filters {
        match context.rows_where(std::slice::from_ref(*filter), &table)? {
            None => {}
            Some(rows) if rows.is_empty() => return Ok(true),
            Some(rows) => table = table.take(&rows, step.live),
        }
    }
    after(context, rest, table.keep(step.kept), out)
}

/// Goes on with the steps that are left.
fn after(context: &Context<'_>, steps: &[Step<'_, '_>], table: Table, out: &mut Out<'_>) -> Result<bool> {
    context.alive()?;
    if table.rows == 0 {
        return Ok(true);
    }
    let Some((step, rest)) = steps.split_first() else { return out(table) };
    match &step.kind {
        Kind::Nothing => tested(context, step, rest, table, out),
        Kind::Path(atom) => {
            context.paths(atom, &table, step.live, &mut |table| tested(context, step, rest, table, out))
        }
        Kind::Triple { probe, key, rest: known, binds, same } => {
            probe.announce(table.rows, &context.budget);
            let column = |known: &Known| match known {
                Known::Term(term) => (*term, None),
                Known::Column(var) => (0, table.column(*var)),
            };
            let value = |(term, column): (u32, Option<&[u32]>), row: usize| column.map_or(term, |column| column[row]);
            let key = key.as_ref().map(|(known, place)| (column(known), *place));
            let known: Vec<_> = known.iter().map(column).collect();
            let bound: Vec<(usize, Var)> = binds.iter().copied().filter(|(_, var)| has(step.live, *var)).collect();
            let (mut rows, mut found) = (Vec::new(), vec![Vec::new(); bound.len()]);
            let mut near = 0;
            let mut flush = |rows: &mut Vec<u32>, found: &mut Vec<Vec<u32>>| {
                let mut joined = table.take(rows, step.live);
                rows.clear();
                for ((_, var), column) in bound.iter().zip(found) {
                    let column = std::mem::take(column);
                    if !joined.vars.contains(var) {
                        joined.push_column(*var, column);
                    }
                }
                tested(context, step, rest, joined, out)
            };
            for row in 0..table.rows {
                let mut matches = match &key {
                    None => probe.rows(),
                    Some((key, place)) => {
                        let mut matches = probe.find(value(*key, row), &mut near);
                        let mut terms = [0; 2];
                        let terms = &mut terms[..known.len().min(2)];
                        if !terms.is_empty() {
                            for (term, known) in terms.iter_mut().zip(&known) {
                                *term = value(*known, row);
                            }
                            matches = narrow(matches, place + 1, terms);
                        }
                        matches
                    }
                };
                while !matches.is_empty() {
                    let (part, others) = matches.split_at(matches.len().min(BATCH));
                    matches = others;
                    if same.is_some() {
                        for one in part.iter().filter(|one| agrees(one, binds, *same)) {
                            rows.push(number(row));
                            bound.iter().zip(&mut found).for_each(|((place, _), column)| column.push(one[*place]));
                        }
                    } else {
                        rows.resize(rows.len() + part.len(), number(row));
                        for ((place, _), column) in bound.iter().zip(&mut found) {
                            column.extend(part.iter().map(|one| one[*place]));
                        }
                    }
                    if rows.len() >= BATCH && !flush(&mut rows, &mut found)? {
                        return Ok(false);
                    }
                }
            }
            if rows.is_empty() { Ok(true) } else { flush(&mut rows, &mut found) }
        }
    }
}
