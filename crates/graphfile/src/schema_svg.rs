//! The schema of a graph as a picture that browsers show: its node types in a circle, with their properties, and its edge types between them.

use std::collections::HashMap;
use std::fmt::Write as _;

use isomorph_model::{Direction, Graph, Property};

/// The height of a line of text, the width of a character and the room around a text, in pixels.
const LINE: f64 = 16.0;
const CHARACTER: f64 = 7.0;
const ROOM: f64 = 8.0;

/// How far the second of two curves between the same types is from the first.
const BEND: f64 = 36.0;

/// The most lines of a box, and characters of a line.
const LINES: usize = 30;
const CHARACTERS: usize = 48;

#[derive(Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

/// A node type: its text, and where it is.
struct Shape {
    lines: Vec<String>,
    centre: Point,
    width: f64,
    height: f64,
    dashed: bool,
}

impl Shape {
    fn new(name: &str, properties: &[Property], dashed: bool) -> Shape {
        let lines = lines(name, properties);
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default();
        let (width, height) = (pixels(longest) * CHARACTER + 2.0 * ROOM, pixels(lines.len()) * LINE + 2.0 * ROOM);
        Shape { lines, centre: Point { x: 0.0, y: 0.0 }, width, height, dashed }
    }

    /// Where a line from the centre to `to` leaves the box.
    fn border(&self, to: Point) -> Point {
        let (x, y) = (to.x - self.centre.x, to.y - self.centre.y);
        let by_width = if x == 0.0 { f64::INFINITY } else { self.width / 2.0 / x.abs() };
        let by_height = if y == 0.0 { f64::INFINITY } else { self.height / 2.0 / y.abs() };
        let part = by_width.min(by_height).min(1.0);
        Point { x: self.centre.x + x * part, y: self.centre.y + y * part }
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of lines and characters, which are cut")]
fn pixels(count: usize) -> f64 {
    count as f64
}

fn lines(name: &str, properties: &[Property]) -> Vec<String> {
    let named = properties.iter().filter(|own| !own.name.is_empty());
    let named = named.map(|own| format!("{} {}", own.name, isomorph_model::type_name::type_name(&own.data_type)));
    let mut all: Vec<String> = std::iter::once(name.to_owned()).chain(named).collect();
    if all.len() > LINES {
        let more = all.len() - LINES + 1;
        all.truncate(LINES - 1);
        all.push(format!("and {more} more"));
    }
    all.iter().map(|line| cut(line)).collect()
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(CHARACTERS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

/// Draws the schema.
pub(crate) fn draw(graph: &Graph) -> String {
    let nodes = graph.nodes.iter().map(|ty| Shape::new(&ty.name, &ty.properties, false));
    let hyperedges = graph.hyperedges.iter().map(|ty| Shape::new(&ty.name, &ty.properties, true));
    let mut shapes: Vec<Shape> = nodes.chain(hyperedges).collect();
    place(&mut shapes);
    let mut body = String::new();
    let mut between: HashMap<(usize, usize), usize> = HashMap::new();
    for ty in &graph.edges {
        let count = between.entry((ty.source.min(ty.target), ty.source.max(ty.target))).or_default();
        let label = lines(ty.relation.fixed().unwrap_or("(by row)"), &ty.properties);
        if let (Some(source), Some(target)) = (shapes.get(ty.source), shapes.get(ty.target)) {
            let arrow = if ty.direction == Direction::Undirected { "" } else { " marker-end=\"url(#arrow)\"" };
            curve(&mut body, (source, target), ty.source == ty.target, *count, arrow, &label);
        }
        *count += 1;
    }
    for (at, ty) in graph.hyperedges.iter().enumerate() {
        if let (Some(own), Some(ends)) = (shapes.get(graph.nodes.len() + at), shapes.get(ty.ends)) {
            curve(&mut body, (own, ends), false, 0, " stroke-dasharray=\"4 3\"", &[]);
        }
    }
    for shape in &shapes {
        let (left, top) = (shape.centre.x - shape.width / 2.0, shape.centre.y - shape.height / 2.0);
        let dash = if shape.dashed { " stroke-dasharray=\"4 3\"" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            body,
            "<rect class=\"type\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"4\"{dash}/>",
            shape.width, shape.height
        );
        text(&mut body, Point { x: left + ROOM, y: top + ROOM }, "start", &shape.lines);
    }
    // What is drawn is around the origin.
    let reach = |of: fn(&Shape) -> f64| shapes.iter().map(of).fold(120.0, f64::max) + 140.0;
    let (x, y) =
        (reach(|own| own.centre.x.abs() + own.width / 2.0), reach(|own| own.centre.y.abs() + own.height / 2.0));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"{:.0} {:.0} {:.0} {:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <style>rect.type {{ fill: white; stroke: #333; }} path {{ fill: none; stroke: #777; }} text {{ fill: #111; }} \
         text.edge {{ fill: #555; paint-order: stroke; stroke: white; stroke-width: 3px; }}</style>\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 L10 5 L0 10 z\" style=\"fill: #777\"/></marker></defs>\n{body}</svg>\n",
        -x,
        -y,
        2.0 * x,
        2.0 * y
    )
}

/// Places boxes in a circle, wide enough that none meets another.
fn place(shapes: &mut [Shape]) {
    if shapes.len() < 2 {
        return;
    }
    let around: f64 = shapes.iter().map(|own| own.width.hypot(own.height) + 90.0).sum();
    let radius = (around / std::f64::consts::TAU).max(150.0);
    let step = std::f64::consts::TAU / pixels(shapes.len());
    for (at, shape) in shapes.iter_mut().enumerate() {
        let angle = step * pixels(at) - std::f64::consts::FRAC_PI_2;
        shape.centre = Point { x: radius * angle.cos(), y: radius * angle.sin() };
    }
}

/// Draws an edge type, the one with this number between its ends.
fn curve(
    out: &mut String,
    (source, target): (&Shape, &Shape),
    is_loop: bool,
    number: usize,
    more: &str,
    label: &[String],
) {
    let (from, to) = (source.centre, target.centre);
    let bend = BEND * pixels(number.div_ceil(2)) * if number.is_multiple_of(2) { 1.0 } else { -1.0 };
    let middle = if is_loop {
        let (right, reach) = (from.x + source.width / 2.0, 70.0 + BEND * pixels(number));
        let (above, below) = (from.y - 10.0, from.y + 10.0);
        let _ = writeln!(
            out,
            "<path class=\"edge\" d=\"M{right:.1} {above:.1} C{0:.1} {1:.1} {0:.1} {2:.1} {right:.1} {below:.1}\"{more}/>",
            right + reach,
            above - 30.0,
            below + 30.0
        );
        Point { x: right + reach * 0.75, y: from.y }
    } else {
        let (x, y) = (to.x - from.x, to.y - from.y);
        let length = x.hypot(y).max(1.0);
        // The same side, whichever of the two is the source.
        let side = if (from.x, from.y) < (to.x, to.y) { 1.0 } else { -1.0 };
        let across = Point { x: -y / length * bend * side * 2.0, y: x / length * bend * side * 2.0 };
        let control = Point { x: f64::midpoint(from.x, to.x) + across.x, y: f64::midpoint(from.y, to.y) + across.y };
        let (begin, end) = (source.border(control), target.border(control));
        let _ = writeln!(
            out,
            "<path class=\"edge\" d=\"M{:.1} {:.1} Q{:.1} {:.1} {:.1} {:.1}\"{more}/>",
            begin.x, begin.y, control.x, control.y, end.x, end.y
        );
        Point { x: f64::midpoint(from.x, to.x) + across.x / 2.0, y: f64::midpoint(from.y, to.y) + across.y / 2.0 }
    };
    let top = Point { x: middle.x, y: middle.y - pixels(label.len()) * LINE / 2.0 };
    text(out, top, "middle", label);
}

/// Writes lines of text below `top`.
fn text(out: &mut String, top: Point, anchor: &str, lines: &[String]) {
    let class = if anchor == "middle" { " class=\"edge\"" } else { "" };
    for (at, line) in lines.iter().enumerate() {
        let weight = if at == 0 { " font-weight=\"bold\"" } else { "" };
        let y = top.y + LINE * pixels(at) + 12.0;
        let _ = write!(out, "<text{class} x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{weight}>", top.x);
        for character in line.chars() {
            match character {
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '&' => out.push_str("&amp;"),
                // What XML does not allow.
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
                c => out.push(c),
            }
        }
        out.push_str("</text>\n");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_schema::DataType;
    use isomorph_model::{EdgeType, Key, NodeType};
    use quick_xml::events::Event;

    use super::*;

    /// The elements of a picture by class, after checking that it is well-formed; and its texts.
    fn parts(svg: &str) -> (HashMap<String, usize>, Vec<String>) {
        let mut reader = quick_xml::Reader::from_str(svg);
        let (mut classes, mut texts, mut depth) = (HashMap::new(), Vec::new(), 0);
        loop {
            let event = reader.read_event().unwrap();
            if let Event::Start(tag) | Event::Empty(tag) = &event {
                for own in tag.attributes() {
                    let own = own.unwrap();
                    if own.key.as_ref() == b"class" {
                        *classes.entry(String::from_utf8(own.value.to_vec()).unwrap()).or_default() += 1;
                    }
                }
            }
            match event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Text(text) => texts.push(text.decode().unwrap().into_owned()),
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(depth, 0);
        (classes, texts)
    }

    #[test]
    fn every_type_is_drawn_and_no_name_breaks_the_picture() {
        let mut graph = Graph::default();
        for name in ["person", "a<b>&\"c\"\u{1}", "city"] {
            let mut ty = NodeType::new(name, Key::int64());
            ty.properties.extend((0..40).map(|at| Property::new(format!("p{at}"), DataType::Int64)));
            graph.nodes.push(ty);
        }
        for (source, target) in [(0, 1), (1, 0), (0, 1), (2, 2), (2, 2)] {
            graph.edges.push(EdgeType::new(source, "knows", target));
        }
        let (classes, texts) = parts(&draw(&graph));
        assert_eq!(classes["type"], 3);
        // Paths, and the one line of each label.
        assert_eq!(classes["edge"], 10);
        assert!(
            texts.iter().any(|text| text == "person") && texts.iter().any(|text| text == "and 12 more"),
            "{texts:?}"
        );
    }

    #[test]
    fn boxes_do_not_meet() {
        for count in 1usize..30 {
            let name = "x".repeat(40);
            let mut shapes: Vec<Shape> = (0..count).map(|_| Shape::new(&name, &[], false)).collect();
            place(&mut shapes);
            for (at, one) in shapes.iter().enumerate() {
                for other in &shapes[at + 1..] {
                    let (x, y) = (one.centre.x - other.centre.x, one.centre.y - other.centre.y);
                    let apart =
                        x.abs() >= (one.width + other.width) / 2.0 || y.abs() >= (one.height + other.height) / 2.0;
                    assert!(apart, "{count} boxes");
                }
            }
        }
    }

    #[test]
    fn a_graph_without_types_is_a_picture() {
        assert!(parts(&draw(&Graph::default())).0.is_empty());
    }
}
