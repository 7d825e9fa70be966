//! Converts triples directly: snapshots of GraphLake and RDF texts become stores and texts without batches of the
//! model, in which triples have no order.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use isomorph_error::{Error, Kind, Result};
use isomorph_graphlake::{GraphLake, LakeWriter, OpenOptions, Order, QUOTED_GRAPH, Section, WriteOptions, check_graph};
use isomorph_model::digest::LineKind;
use isomorph_model::faces::Quad;
use isomorph_model::{Graph, Source};
use isomorph_rdf::{OpenOptions as TextOptions, Packed, Packing, QuadWriter, RdfText, ReadOptions, Syntax};
use isomorph_storage::{Location, Published};

use crate::conversion::{Certificate, Job, compare, staged};
use crate::digests::{Digested, digest};
use crate::driver::Format;
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::parallel::pieces_in_order;
use crate::plan::{Plan, PlanLine, counted};
use crate::progress::Progress;
use crate::running::{Running, State};
use crate::shortcut::Shortcut;

/// Quads between two checks for cancellation.
const AT_ONCE: u64 = 1 << 14;

/// Approximate size of a piece of a text in bytes; number of pieces of one section that may wait for those before it.
const PIECE: u64 = 80 << 10;
const MOST_AHEAD: u64 = 1 << 10;

/// The source of the triples.
enum Triples<'a> {
    /// A snapshot.
    Lake(&'a GraphLake),
    /// A text.
    Text(&'a RdfText),
}

/// The direct conversion of triples to a store or a text, if it applies.
pub(crate) fn of(opened: &Opened, to: Format) -> Option<Box<dyn Shortcut + '_>> {
    if opened.sidecar.is_some() {
        return None;
    }
    let source = opened.native.as_any()?;
    let lake = source.downcast_ref::<GraphLake>().map(Triples::Lake);
    let triples = lake.or_else(|| source.downcast_ref::<RdfText>().map(Triples::Text))?;
    Some(Box::new(Way { triples, from: opened.format, to }))
}

/// The direct conversion of triples to a store or a text.
struct Way<'a> {
    triples: Triples<'a>,
    from: Format,
    to: Format,
}

impl Triples<'_> {
    fn source(&self) -> &dyn Source {
        match self {
            Triples::Lake(lake) => *lake,
            Triples::Text(text) => *text,
        }
    }

    /// Refuses triples that the syntax cannot represent, as far as they are known without reading them: from the lists
    /// of a snapshot, and the predicates of a text with literals. For data that is partly deleted, this is checked
    /// during writing.
    fn check(&self, syntax: Syntax) -> Result<()> {
        let lake = match self {
            Triples::Text(text) => {
                return text.graph().values.iter().try_for_each(|table| syntax.check_predicate(&table.property.name));
            }
            Triples::Lake(lake) => lake,
        };
        let sure = lake.snapshot().graphs.iter().filter(|graph| graph.tombstones.is_empty());
        for graph in sure.filter(|graph| graph.name != QUOTED_GRAPH) {
            let mut files = graph.once().filter(|file| file.triple_count > 0).peekable();
            if files.peek().is_some() && lake.named_graphs().any(|name| name == graph.name) {
                syntax.check_graphs()?;
            }
            files.try_for_each(|file| syntax.check_predicate(&file.predicate))?;
        }
        Ok(())
    }

    /// What a text cannot store of a snapshot.
    ///
    /// # Errors
    /// If files that must be read for this are damaged.
    fn lost(&self) -> Result<Option<String>> {
        let Triples::Lake(lake) = self else { return Ok(None) };
        let empty = lake.empty_graphs()?.len();
        Ok((empty > 0).then(|| counted(empty, "graph without triples")))
    }
}

impl Shortcut for Way<'_> {
    fn plan(&self, destination: &Location, options: &ConvertOptions, started: Instant) -> Result<Plan> {
        let mut lines = Vec::new();
        let mut line = |subject: String, becomes: String| lines.push(PlanLine { subject, becomes });
        let syntax = self.to.syntax(destination, &options.write)?;
        let (passes, sorts) = match syntax {
            Some(_) => (vec!["write"], Vec::new()),
            None => (vec!["sort"], vec!["triples by subject".to_owned(), "triples by object".to_owned()]),
        };
        let becomes = match syntax {
            Some(syntax) => format!("one text of {syntax}"),
            None => "the only snapshot of a new store, version 1".to_owned(),
        };
        match &self.triples {
            Triples::Lake(lake) => {
                line(format!("snapshot {}", lake.snapshot().id), becomes);
                let others = lake.store().snapshots.len().saturating_sub(1);
                if others > 0 {
                    line("other snapshots".to_owned(), format!("{others} not converted"));
                }
            }
            Triples::Text(text) => {
                line(format!("text of {}", text.text().syntax()), becomes);
                let (prefixes, skipped) = (text.reading().prefixes.len(), text.reading().skipped);
                if prefixes > 0 {
                    let kept = syntax.is_some_and(Syntax::has_prefixes);
                    line(
                        counted(prefixes, "prefix").replace("prefixs", "prefixes"),
                        if kept { "the same" } else { "dropped, they are not content" }.to_owned(),
                    );
                }
                if skipped > 0 {
                    line("malformed statements".to_owned(), format!("{skipped} skipped"));
                }
            }
        }
        let mut lost = None;
        if let Some(syntax) = syntax {
            self.triples.check(syntax)?;
            if options.rdf_1_1.is_some() {
                line("triple terms".to_owned(), "refused when one is found: RDF 1.1 has none".to_owned());
            } else if !syntax.has_triple_terms() {
                line("statements about triples".to_owned(), format!("refused when one is found: {syntax} has none"));
            }
            lost = self.triples.lost()?;
        }
        if let Some(lost) = lost.as_ref().filter(|_| !options.loses()) {
            return Err(Error::new(Kind::WouldLose, format!("a text cannot store {lost}")).hint("--lossy    drop them"));
        }
        let carried = lost.iter().cloned().collect();
        let losses = lost.map(|subject| PlanLine { subject, becomes: "nothing".to_owned() });
        Ok(Plan {
            passes,
            sorts,
            lines,
            carried,
            losses: losses.into_iter().collect(),
            seconds: started.elapsed().as_secs_f64(),
            ..Plan::shortcut(self.from, self.to)
        })
    }

    fn build(&self, job: &Job<'_>, progress: &dyn Progress) -> Result<Certificate> {
        let (Job { plan, destination, options, .. }, started) = (*job, Instant::now());
        let writing = Writing { triples: &self.triples, job, progress };
        let (published, proof, written) = match self.to.syntax(destination, &options.write)? {
            Some(syntax) => writing.text(syntax)?,
            None => writing.store()?,
        };
        let edges = proof.as_ref().map_or(0, |(source, _)| {
            let lines = source.table.lines();
            let edges = lines.filter(|(line, _)| line.kind == LineKind::Edges && line.property.is_empty());
            edges.map(|(_, sum)| sum.count).sum()
        });
        Ok(Certificate {
            source: proof.as_ref().map(|(source, _)| source.digests),
            result: proof.as_ref().map(|(_, result)| result.digests),
            edges,
            triples: Some(written),
            lost: plan.losses.iter().map(|loss| format!("{}: {}", loss.subject, loss.becomes)).collect(),
            ..Certificate::of(plan, &published, started)
        })
    }
}

/// Digests of the input and of the output.
type Proof = Option<(Digested, Digested)>;

/// Triples that are being written.
struct Writing<'a> {
    triples: &'a Triples<'a>,
    job: &'a Job<'a>,
    progress: &'a dyn Progress,
}

impl Writing<'_> {
    fn store(&self) -> Result<(Published, Proof, u64)> {
        let staging = staged(self.job.destination, true, self.job.options)?;
        let write = WriteOptions {
            time: self.job.options.epoch,
            threads: self.job.resources.threads,
            budget: self.job.resources.budget.clone(),
            scratch: Some(self.job.resources.scratch.clone()),
            ..WriteOptions::default()
        };
        let mut writer = LakeWriter::create(&staging, &write)?;
        self.progress.begin("sort", None);
        let pushed = match self.triples {
            // In their stored form: ids of quoted triples stay ids.
            Triples::Lake(lake) => lake
                .named_graphs()
                .try_for_each(|name| writer.graph(name))
                .and_then(|()| lake.quads(Order::Subject, &mut self.counting(&mut |quad| writer.push(&quad))))
                .map(|()| None),
            Triples::Text(text) => self.text_to_store(text, &mut writer),
        };
        let finished = pushed.and_then(|source| Ok((source, writer.finish(&|rows| self.progress.advance(rows))?)));
        self.progress.end();
        let (source, created) = finished?;
        // The last point at which the conversion can be cancelled.
        self.progress.advance(0)?;
        let manifests = LakeWriter::manifests();
        let (published, proof) = staging.commit_proved(&manifests.each_ref().map(String::as_str), |location| {
            let open = OpenOptions { budget: self.job.resources.budget.clone(), ..OpenOptions::default() };
            self.prove(source, |graph| Ok(Box::new(GraphLake::open(location, &open)?.described_as(graph))))
        })?;
        Ok((published, proof, created.triples))
    }

    fn text(&self, syntax: Syntax) -> Result<(Published, Proof, u64)> {
        let packing = Packing::of_name(self.job.destination.file_name());
        let staging = staged(self.job.destination, false, self.job.options)?;
        let mut write =
            isomorph_rdf::WriteOptions { rdf_1_1: self.job.options.rdf_1_1.is_some(), ..Default::default() };
        if let Triples::Text(text) = self.triples {
            (write.prefixes, write.base) = (text.reading().prefixes.clone(), text.reading().base.clone());
        }
        let mut out = Packed::new(packing, staging.create("")?)?;
        self.progress.begin("write", None);
        let written = match self.triples {
            Triples::Lake(lake) if matches!(syntax, Syntax::NTriples | Syntax::NQuads) => {
                self.lines(lake, (syntax, &write), &mut out)
            }
            _ => self.one_by_one(syntax, &write, &mut out),
        };
        self.progress.end();
        let written = written?;
        out.finish()?.finish()?;
        // The last point at which the conversion can be cancelled.
        self.progress.advance(0)?;
        let (published, proof) = staging.commit_proved(&[], |location| {
            let read = ReadOptions { budget: self.job.resources.budget.clone(), ..ReadOptions::default() };
            let scratch = Some(self.job.resources.scratch.clone());
            // Unpublished output has a name that does not show its format.
            let threads = self.job.resources.threads;
            let open = TextOptions { syntax: Some(syntax), packing: Some(packing), read, scratch, threads };
            self.prove(None, |graph| Ok(Box::new(RdfText::open(location, &open)?.described_as(graph))))
        })?;
        Ok((published, proof, written))
    }

    /// Writes a text of any syntax on one thread. Returns the number of quads.
    fn one_by_one(&self, syntax: Syntax, write: &isomorph_rdf::WriteOptions, out: &mut impl Write) -> Result<u64> {
        let mut writer = QuadWriter::new(syntax, out, write)?;
        match self.triples {
            Triples::Lake(lake) => lake.statements(Order::Subject, &mut self.counting(&mut |quad| writer.push(&quad))),
            Triples::Text(text) => text.quads(&mut self.counting(&mut |quad| writer.push(&quad))),
        }?;
        let quads = writer.quads();
        writer.finish()?;
        Ok(quads)
    }

    /// Writes a snapshot as a line-based text: sections, or stretches of large sections, are read and formatted on all
    /// threads, and written in order.
    fn lines(
        &self,
        lake: &GraphLake,
        (syntax, write): (Syntax, &isomorph_rdf::WriteOptions),
        out: &mut impl Write,
    ) -> Result<u64> {
        let threads = self.job.resources.threads;
        // Sections have very different sizes: the output of those that are finished early waits in memory, with a share
        // for each thread.
        let room = self.job.resources.budget.available() / 4;
        let ahead = (room / PIECE / (2 * threads as u64 + 1)).clamp(1, MOST_AHEAD);
        let _held = self.job.resources.budget.reserve((ahead * PIECE * (2 * threads as u64 + 1)).min(room))?;
        let quads = AtomicU64::new(0);
        let read = |section: &Section<'_>, give: &mut dyn FnMut(Vec<u8>) -> Result<()>| {
            let mut writer = QuadWriter::new(syntax, Vec::new(), write)?;
            let mut push = |quad: Quad<'_>| {
                writer.push(&quad)?;
                let pieces = writer.out();
                if pieces.is_empty() { Ok(()) } else { give(std::mem::take(pieces)) }
            };
            lake.statements_of(section, &mut self.counting(&mut push))?;
            quads.fetch_add(writer.quads(), Relaxed);
            give(writer.finish()?)
        };
        let sections = if threads > 1 { lake.divided_sections()? } else { lake.sections(Order::Subject) };
        pieces_in_order(sections.iter().collect(), threads, ahead as usize, read, |piece| {
            out.write_all(&piece).map_err(Error::from)
        })?;
        Ok(quads.into_inner())
    }

    /// Reads a text on all threads into a new store, which removes duplicate statements. The digest of the input is
    /// computed at the same time, if it is needed and the text itself has no duplicates.
    fn text_to_store(&self, text: &RdfText, writer: &mut LakeWriter<'_>) -> Result<Option<Digested>> {
        let running = match self.is_proved() && !text.repeats() {
            true => Some(Running::new(text, self.job.resources)?),
            false => None,
        };
        let fillers = writer.fillers(self.job.resources.threads.max(1))?;
        let mut takers: Vec<_> =
            fillers.into_iter().map(|filler| (filler, text.collectors(), State::default(), 0u64)).collect();
        text.quads_shared(&mut takers, &|(filler, collectors, state, quads), quad| {
            *quads += 1;
            if quads.is_multiple_of(AT_ONCE) {
                self.progress.advance(0)?;
            }
            check_graph(quad.graph)?;
            filler.push(&quad)?;
            running.as_ref().map_or(Ok(()), |running| collectors.push(&quad, &mut |batch| running.add(state, &batch)))
        })?;
        let mut fillers = Vec::with_capacity(takers.len());
        for (filler, mut collectors, mut state, _) in takers {
            fillers.push(filler);
            if let Some(running) = &running {
                collectors.finish(&mut |batch| running.add(&mut state, &batch))?;
                running.merge(state);
            }
        }
        writer.absorb(fillers)?;
        running.map(Running::finish).transpose()
    }

    fn is_proved(&self) -> bool {
        !self.job.options.no_verify && !self.job.options.loses()
    }

    /// Compares the output with the input, whose digest may be known.
    fn prove(&self, source: Option<Digested>, open: impl FnOnce(&Graph) -> Result<Box<dyn Source>>) -> Result<Proof> {
        if !self.is_proved() {
            return Ok(None);
        }
        let written = open(self.triples.source().graph())?;
        let source = source.map_or_else(|| digest(self.triples.source(), self.job.resources, self.progress), Ok)?;
        let result = digest(written.as_ref(), self.job.resources, self.progress)?;
        compare(&source, &result)?;
        Ok(Some((source, result)))
    }

    /// `take`, with a check for cancellation.
    fn counting<'t>(
        &'t self,
        take: &'t mut dyn FnMut(Quad<'_>) -> Result<()>,
    ) -> impl FnMut(Quad<'_>) -> Result<()> + 't {
        let mut quads = 0u64;
        move |quad| {
            quads += 1;
            if quads.is_multiple_of(AT_ONCE) {
                self.progress.advance(0)?;
            }
            take(quad)
        }
    }
}
