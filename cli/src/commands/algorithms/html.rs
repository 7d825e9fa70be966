//! A page with the statistics of a graph: one file, with plots as SVG, without scripts.

use std::fmt::Write;

use isomorph::algorithms::{Degrees, GraphStatistics, HistogramBar};

use super::stats::range;
use crate::render::{of, thousands};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;background:#fff}\
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse}td,th{padding:.2rem .8rem .2rem 0;text-align:left;vertical-align:top}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}th{border-bottom:1px solid #bbb}svg{display:block;margin:.5rem 0}svg text{font:12px system-ui,sans-serif;fill:currentColor}\
rect{fill:#3b6ea8}@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}rect{fill:#6fa3dd}}";

/// The page.
pub fn page(path: &str, found: &GraphStatistics) -> String {
    let mut out = String::new();
    let title = escaped(path);
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <h1>{title}</h1>\n<p>{} · {}</p>\n",
        of(found.nodes, "node"),
        of(found.edges, "edge")
    );
    remarks(&mut out, found);
    table(
        &mut out,
        "Nodes",
        &["type", "nodes", "isolated"],
        1,
        found.node_types.iter().map(|ty| vec![ty.name.clone(), thousands(ty.nodes), thousands(ty.isolated)]),
    );
    let heads = ["type", "edges", "undirected", "loops", "parallel", "dangling", "reciprocity"];
    table(
        &mut out,
        "Edges",
        &heads,
        1,
        found.edge_types.iter().map(|ty| {
            vec![
                format!("{} ─{}─ {}", ty.source, ty.relation, ty.target),
                thousands(ty.edges),
                thousands(ty.undirected),
                thousands(ty.loops),
                thousands(ty.parallel),
                thousands(ty.dangling),
                ty.reciprocity.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}")),
            ]
        }),
    );
    degrees(&mut out, "Degrees", &found.degree);
    for (title, own) in [
        ("Directed edges that leave a node", &found.out_degree),
        ("Directed edges that reach a node", &found.in_degree),
    ] {
        if let Some(own) = own {
            degrees(&mut out, title, own);
        }
    }
    let components = &found.components;
    let _ = write!(
        out,
        "<h2>Components</h2>\n<p>{}, the largest of {}</p>\n",
        of(components.count, "component"),
        of(components.largest, "node")
    );
    plot(&mut out, &components.histogram, "nodes", "components");
    let heads = ["column", "type", "rows", "nulls", "distinct"];
    let columns = found.tables.iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    table(
        &mut out,
        "Columns",
        &heads,
        2,
        columns.map(|(table, column)| {
            let about = if column.distinct.exact { "" } else { "≈ " };
            vec![
                format!("{}.{}", table.table, column.name),
                column.data_type.clone(),
                thousands(table.rows),
                thousands(column.nulls),
                format!("{about}{}", thousands(column.distinct.values)),
            ]
        }),
    );
    out.push_str("</html>\n");
    out
}

fn remarks(out: &mut String, found: &GraphStatistics) {
    let mut told = Vec::new();
    if found.dangling > 0 {
        told.push(format!("{} not walked: an end is not a node", of(found.dangling, "edge")));
    }
    if found.repeated_keys > 0 {
        told.push(format!("{} of several nodes of a type", of(found.repeated_keys, "key")));
    }
    match found.hyperedges {
        Some(0) => {}
        Some(count) => told.push(format!("{} not walked", of(count, "hyperedge"))),
        None => told.push("hyperedges are not walked".to_owned()),
    }
    for text in told {
        let _ = writeln!(out, "<p><strong>{}</strong></p>", escaped(&text));
    }
}

fn table(out: &mut String, title: &str, heads: &[&str], texts: usize, rows: impl Iterator<Item = Vec<String>>) {
    let class = |at: usize| if at < texts { "" } else { " class=\"n\"" };
    let _ = write!(out, "<h2>{title}</h2>\n<table>\n<tr>");
    for (at, head) in heads.iter().enumerate() {
        let _ = write!(out, "<th{}>{head}</th>", class(at));
    }
    out.push_str("</tr>\n");
    for row in rows {
        out.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            let _ = write!(out, "<td{}>{}</td>", class(at), escaped(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
}

fn degrees(out: &mut String, title: &str, degrees: &Degrees) {
    let [min, median, p99, max] = [degrees.min, degrees.median, degrees.p99, degrees.max].map(thousands);
    let mean = degrees.mean;
    let _ =
        write!(out, "<h2>{title}</h2>\n<p>min {min} · median {median} · p99 {p99} · max {max} · mean {mean:.2}</p>\n");
    plot(out, &degrees.histogram, "degree", "nodes");
}

/// A chart of bars, one below another.
fn plot(out: &mut String, histogram: &[HistogramBar], what: &str, counted: &str) {
    const LINE: usize = 20;
    const BAR: f64 = 420.0;
    let most = histogram.iter().map(|bar| bar.count).max().unwrap_or_default().max(1) as f64;
    let height = LINE * (histogram.len() + 1);
    let _ = writeln!(
        out,
        "<svg role=\"img\" aria-label=\"{counted} by {what}\" width=\"700\" height=\"{height}\" viewBox=\"0 0 700 {height}\">\
         <text x=\"150\" y=\"14\" text-anchor=\"end\">{what}</text><text x=\"160\" y=\"14\">{counted}</text>"
    );
    for (at, bar) in histogram.iter().enumerate() {
        let top = LINE * (at + 1);
        let middle = top + 14;
        let width = if bar.count == 0 { 0.0 } else { (bar.count as f64 / most * BAR).max(1.0) };
        let end = 166.0 + width;
        let _ = writeln!(
            out,
            "<text x=\"150\" y=\"{middle}\" text-anchor=\"end\">{}</text><rect x=\"160\" y=\"{}\" width=\"{width:.1}\" height=\"14\"/>\
             <text x=\"{end:.1}\" y=\"{middle}\">{}</text>",
            range(bar),
            top + 3,
            thousands(bar.count)
        );
    }
    out.push_str("</svg>\n");
}

/// Text for HTML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_graph_are_no_markup() {
        assert_eq!(escaped("<script>\"a&b\"\u{1}"), "&lt;script&gt;&quot;a&amp;b&quot;\u{fffd}");
    }
}
