//! `sidecar show`: the contents of a sidecar, and whether it matches the data.

use isomorph::Result;
use isomorph::convert::sidecar::{Bound, Sidecar};
use isomorph::convert::{Digests, Registry, sidecar, sidecar_of};
use serde::Serialize;

use crate::args::{ShowArgs, snapshot_of};
use crate::commands::Answer;
use crate::commands::info::format_name;
use crate::console::Console;
use crate::render::{Cell, Column, Mark, Table, bytes, of};

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    of: &'a str,
    format: &'a str,
    written_by: &'a str,
    stale: bool,
    /// How the data was compared: `ends` (names, sizes and the ends of files), or `bytes`.
    compared: &'static str,
    differences: &'a [String],
    digests: Option<&'a Digests>,
    files: &'a [Bound],
}

/// Prints a sidecar; the answer is whether it matches the data.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &ShowArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    // A store has one sidecar for all snapshots.
    let (location, _) = snapshot_of(&args.path)?;
    let (sidecar, differences) =
        if args.verify { sidecar::verify(&location, formats)? } else { sidecar_of(&location, formats)? };
    let mut screen = console.screen();
    let [source, format] = [&sidecar.of, &sidecar.format].map(|id| format_name(id, formats));
    let about = format!("{source} graph, written as {format} by {}", sidecar.written_by);
    screen.line("of", &about);
    match sidecar.digests {
        Some(Digests { content, order, schema }) => {
            let digests = [("content", content), ("order", order), ("schema", schema)];
            let mut table = Table::new([Column::stage(), Column::text(1), Column::text(0)]);
            for (at, (what, digest)) in digests.iter().enumerate() {
                table.row([if at == 0 { "digest" } else { "" }, what, &digest.to_string()].map(Cell::from));
            }
            screen.table(&table);
        }
        None => {
            screen.line("digest", "unknown: written with --no-verify");
        }
    }
    screen.line("bound to", &bound_to(&sidecar));
    match differences.as_slice() {
        [] if args.verify => screen.marked("fits", Some(Mark::Sound), "every byte is unchanged"),
        [] => {
            let compared = "names, sizes and ends of files are unchanged; --verify compares every byte";
            screen.marked("fits", Some(Mark::Sound), compared)
        }
        changed => {
            screen.marked("stale", Some(Mark::Error), "the data has changed");
            let shown = if console.verbose { changed.len() } else { changed.len().min(5) };
            changed.iter().take(shown).for_each(|difference| {
                screen.line("", difference);
            });
            let more = changed.len() - shown;
            if more > 0 {
                screen.line("", &format!("and {}", of(more as u64, "more change")));
            }
            screen.line("next", "`isomorph sidecar rebind` if the graph is unchanged")
        }
    };
    console.show(&screen)?;
    console.document(&Document {
        path: &args.path,
        of: &sidecar.of,
        format: &sidecar.format,
        written_by: &sidecar.written_by,
        stale: !differences.is_empty(),
        compared: if args.verify { "bytes" } else { "ends" },
        differences: &differences,
        digests: sidecar.digests.as_ref(),
        files: &sidecar.files,
    })?;
    Ok(Answer::yes_if(differences.is_empty()))
}

fn bound_to(sidecar: &Sidecar) -> String {
    let size = bytes(sidecar.files.iter().fold(0, |sum, file| sum.saturating_add(file.size)));
    match sidecar.files.as_slice() {
        [one] => format!("{} ({size})", one.name),
        several => format!("{} ({size})", of(several.len() as u64, "file")),
    }
}
