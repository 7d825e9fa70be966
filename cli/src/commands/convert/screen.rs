//! The screens of `convert`.

use isomorph::convert::sidecar;
use isomorph::convert::{Certificate, ConvertOptions, Digests, Format, Opened, Plan, PlanCost, PlanLine};
use isomorph::model::digest::Digest;

use crate::args::ConvertArgs;
use crate::console::Console;
use crate::render::{Cell, Column, Mark, STAGE, Screen, Table, bytes, duration, memory, of, thousands, width};
use crate::stdio::DASH;

/// Returns the name of a destination's sidecar, as it is printed.
pub fn beside(name: &str, directory: bool) -> String {
    if directory {
        format!("{name}/{}/", sidecar::FOLDER)
    } else {
        format!("{name}{}/", isomorph::storage::COMPANION_SUFFIX)
    }
}

/// Returns input and output: `NOCK → GraphAr (Parquet)`.
pub fn heading(opened: &Opened, from: Format, to: Format, options: &ConvertOptions) -> String {
    let source = match opened.format == from {
        true => from.name().to_owned(),
        false => format!("{} with its sidecar", opened.format),
    };
    let target = to.encoding(&options.write).map_or_else(|| to.name().to_owned(), |kind| format!("{to} ({kind})"));
    format!("{source} → {target}")
}

/// Prints the plan. The heading may have been printed before.
pub fn plan(
    opened: &Opened,
    plan: &Plan,
    cost: &PlanCost,
    options: &ConvertOptions,
    beside: Option<&str>,
    shown: bool,
    console: &Console,
) -> Screen {
    let mut screen = console.screen();
    let over = if cost.source_bytes > 0 { format!(" over {}", bytes(cost.source_bytes)) } else { String::new() };
    let passes = format!("{}{over} ({})", of_passes(plan.passes.len()), plan.passes.join(", "));
    let work = format!("{passes}, {}", sort(cost));
    match shown {
        true => screen.wrapped("", &work),
        false => screen.wrapped("plan", &format!("{}, {work}", heading(opened, plan.from, plan.to, options))),
    };
    let mut table = Table::new([Column::stage(), Column::text(1), Column::text(2).wrapped()]);
    match one_for_all(&plan.lines) {
        Some(becomes) if !console.verbose => {
            let all = format!("all {} types", plan.lines.len());
            table.row(["", &all, becomes].map(Cell::from));
        }
        _ => plan.lines.iter().for_each(|line| {
            table.row(["", &line.subject, &line.becomes].map(Cell::from));
        }),
    }
    let (word, place) = match beside {
        Some(place) => ("sidecar", format!(" · in {place}")),
        None => ("dropped", String::new()),
    };
    let stays = options.loses() || beside.is_some();
    let losses = plan.losses.iter().filter(|_| options.loses());
    let losses = losses.map(|loss| format!("{}: {}", loss.subject, loss.becomes));
    for (at, part) in plan.carried.iter().filter(|_| stays).cloned().chain(losses).enumerate() {
        let place = if at == 0 { place.as_str() } else { "" };
        let subject = if at == 0 { Cell::from(word) } else { Cell::default() };
        table.row([Cell::default(), subject, Cell::from(format!("{part}{place}"))]);
    }
    screen.table(&table);
    screen
}

/// Returns the mapping of all parts, if it is the same for several parts.
fn one_for_all(lines: &[PlanLine]) -> Option<&str> {
    let (first, others) = lines.split_first()?;
    let same = others.iter().all(|line| line.becomes == first.becomes);
    (same && !others.is_empty()).then_some(first.becomes.as_str())
}

/// `1 pass`, `2 passes`.
fn of_passes(number: usize) -> String {
    if number == 1 { "1 pass".to_owned() } else { format!("{number} passes") }
}

/// `no sort`, `sort of 5,000,000 edges in 2 orders within 512 MiB and about 1.2 GB of temporary files`.
fn sort(cost: &PlanCost) -> String {
    let spilled = match cost.temporary_bytes {
        Some(0) | None => String::new(),
        Some(spilled) => format!(" within {} and about {} of temporary files", memory(cost.memory), bytes(spilled)),
    };
    match cost.sorted_edges {
        Some(0) => "no sort".to_owned(),
        Some(edges) => {
            let orders = if cost.orders > 1 { format!(" in {} orders", cost.orders) } else { String::new() };
            format!("sort of {}{orders}{spilled}", of(edges, "edge"))
        }
        None => "sort of all edges".to_owned(),
    }
}

/// Returns what a plan that may lose data lists as lost.
pub fn lost(plan: &Plan) -> Vec<String> {
    let losses = plan.losses.iter().map(|loss| format!("{}: {}", loss.subject, loss.becomes));
    plan.carried.iter().cloned().chain(losses).collect()
}

/// Prints the result of a conversion.
pub fn certificate(
    certificate: &Certificate,
    planned: &[String],
    args: &ConvertArgs,
    loses: bool,
    directory: bool,
    console: &Console,
) -> Screen {
    let mut screen = console.screen();
    let mut counts = Table::new([Column::stage(), Column::number()]);
    match certificate.triples {
        Some(triples) => {
            counts.row(["triples".to_owned(), thousands(triples)].map(Cell::from));
        }
        None => {
            counts.row(["nodes".to_owned(), thousands(certificate.nodes)].map(Cell::from));
            counts.row(["edges".to_owned(), thousands(certificate.edges)].map(Cell::from));
        }
    }
    screen.table(&counts);
    match (&certificate.result, loses) {
        (Some(result), _) if certificate.source.is_some_and(|source| result.schema != source.schema) => {
            screen.plain("verified: output equals input in content and order", Some(Mark::Sound))
        }
        (Some(_), _) => screen.plain("verified: output equals input", Some(Mark::Sound)),
        (None, true) => {
            screen.plain("not verified: --lossy drops data, so the output differs from the input", Some(Mark::Warning))
        }
        (None, false) => screen.plain("not verified, as requested", Some(Mark::Warning)),
    };
    // The plan has listed what is lost, except for what was found while writing.
    for lost in certificate.lost.iter().filter(|lost| !loses || !planned.contains(lost)) {
        screen.marked(if loses { "dropped" } else { "not kept" }, Some(Mark::Warning), lost);
    }
    if let Some(found) = certificate.result.or(certificate.source) {
        digests(&mut screen, &found, console.verbose);
    }
    let slash = if directory { "/" } else { "" };
    let name = if args.destination == DASH { "standard output" } else { args.destination.trim_end_matches('/') };
    let files = if directory { format!("{}, ", of(certificate.files, "file")) } else { String::new() };
    let size = bytes(certificate.bytes);
    screen.marked(
        "wrote",
        Some(Mark::Sound),
        &format!("{name}{slash} ({files}{size}) in {}", duration(certificate.seconds)),
    );
    screen
}

/// Prints the three digests: their beginnings on one line, or in full.
fn digests(screen: &mut Screen, digests: &Digests, whole: bool) {
    let all = [("content", digests.content), ("order", digests.order), ("schema", digests.schema)];
    if whole {
        let mut table = Table::new([Column::stage(), Column::text(0), Column::text(0)]);
        for (word, digest) in all {
            table.row(["", word, &digest.to_string()].map(Cell::from));
        }
        screen.table(&table);
        return;
    }
    let line = |groups: usize| {
        let begins = |digest: Digest| digest.to_string().split(' ').take(groups).collect::<Vec<_>>().join(" ");
        let texts = all.map(|(word, digest)| format!("{word}  {} …", begins(digest)));
        texts.join("   ")
    };
    let long = line(3);
    let fits = screen.fits(STAGE + 1 + width(&long));
    screen.line("", &if fits { long } else { line(2) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sort_says_what_it_takes() {
        let cost = |sorted_edges, temporary_bytes| PlanCost {
            source_bytes: 1,
            sorted_edges,
            orders: if sorted_edges == Some(1) { 1 } else { 2 },
            memory: 512 << 20,
            temporary_bytes,
        };
        assert_eq!(sort(&cost(Some(0), Some(0))), "no sort");
        assert_eq!(sort(&cost(Some(1), Some(0))), "sort of 1 edge");
        assert_eq!(sort(&cost(None, None)), "sort of all edges");
        assert_eq!(
            sort(&cost(Some(100_000_000), Some(3_200_000_000))),
            "sort of 100,000,000 edges in 2 orders within 512 MiB and about 3.2 GB of temporary files"
        );
    }
}
