//! Running a case.

use std::path::Path;

use isomorph_error::{Error, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::ntriples::push_quad;
use isomorph_rdf::{Canonicalizer, QuadWriter, ReadOptions, Syntax, Text, WriteOptions};
use isomorph_storage::{Budget, Location};

use crate::{Case, Expected};

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// What had to.
    Passed,
    /// Something else.
    Failed(String),
}

/// Reads the text of a case and compares what comes of it with what must.
pub fn run(case: &Case) -> Outcome {
    let options = ReadOptions { base: Some(case.base.clone()), ..ReadOptions::default() };
    let failed = |what: String| Outcome::Failed(what);
    match &case.expected {
        Expected::Read => match canonical_lines(&case.text, case.syntax, &options) {
            Ok(_) => Outcome::Passed,
            Err(error) => failed(format!("refused: {error}")),
        },
        Expected::Refused => match canonical_lines(&case.text, case.syntax, &options) {
            Ok(lines) => failed(format!("read: {} quads", lines.len())),
            Err(_) => Outcome::Passed,
        },
        Expected::Same(result) => {
            let syntax = if case.syntax.has_graphs() { Syntax::NQuads } else { Syntax::NTriples };
            let expected = canonical_lines(result, syntax, &ReadOptions::default());
            match (canonical_lines(&case.text, case.syntax, &options), expected) {
                (Ok(found), Ok(expected)) if found == expected => Outcome::Passed,
                (Ok(found), Ok(expected)) => {
                    let other = found
                        .iter()
                        .find(|line| !expected.contains(line))
                        .or_else(|| expected.iter().find(|line| !found.contains(line)));
                    failed(format!("another graph: {}", other.map_or("", |line| line.trim())))
                }
                (Err(error), _) => failed(format!("refused: {error}")),
                (_, Err(error)) => failed(format!("its result is refused: {error}")),
            }
        }
        Expected::Canonical(result) => match (written(case), std::fs::read(result)) {
            (Ok(found), Ok(expected)) if found == expected => Outcome::Passed,
            (Ok(found), Ok(_)) => failed(format!("other bytes: {}", String::from_utf8_lossy(&found))),
            (Err(error), _) => failed(format!("refused: {error}")),
            (_, Err(error)) => failed(format!("there is no result: {error}")),
        },
    }
}

fn written(case: &Case) -> Result<Vec<u8>> {
    let mut writer = QuadWriter::new(case.syntax, Vec::new(), &WriteOptions::default())?;
    let text = Text::open(&Location::from_path(&case.text), Some(case.syntax))?;
    text.read(&ReadOptions::default(), &mut |quad| writer.push(&quad))?;
    writer.finish()
}

/// The quads of a text as sorted lines of N-Quads, each once, with canonical labels: equal for texts that say the same.
///
/// # Errors
/// When the text cannot be read.
pub fn canonical_lines(path: &Path, syntax: Syntax, options: &ReadOptions) -> Result<Vec<String>> {
    let text = Text::open(&Location::from_path(path), Some(syntax))?;
    let mut lines = Vec::new();
    // Repeated quads must not be pushed twice.
    let mut seen = std::collections::HashSet::new();
    let mut canonicalizer = Canonicalizer::new(&Budget::default())?;
    text.read(options, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        if seen.insert(line) { canonicalizer.push(&quad) } else { Ok(()) }
    })?;
    let labels = canonicalizer.finish()?;
    text.read(options, &mut |quad| {
        let term = |text: &str| labels.term(text).unwrap_or_else(|| text.to_owned());
        let (subject, graph) = (term(quad.subject), quad.graph.map(term));
        let object = if let Object::Term(object) = quad.object { Some(term(object)) } else { None };
        let object = object.as_deref().map_or(quad.object, Object::Term);
        let mut line = String::new();
        push_quad(&mut line, &Quad { subject: &subject, object, graph: graph.as_deref(), ..quad });
        lines.push(line);
        Ok::<(), Error>(())
    })?;
    lines.sort_unstable();
    lines.dedup();
    Ok(lines)
}
