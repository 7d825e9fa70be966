//! Tables that never wrap: if a table is too wide, the least important column is cut first.

use super::text::{STAGE, cut, one_line, width, wrap};
use super::{Mark, Palette};

/// Separator of columns.
const GAP: &str = "   ";

/// A column that would be narrower is omitted.
const LEAST: usize = 6;

/// A column that would be narrower is cut, not wrapped.
const WRAPS: usize = 24;

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    align: Align,
    /// If the table is too wide, columns with greater numbers are cut first; columns with 0 never are.
    yields: u8,
    least: usize,
    gap: &'static str,
    wraps: bool,
}

impl Column {
    /// A column of stage words: as wide as on other lines, followed by one space.
    pub fn stage() -> Self {
        Column { align: Align::Left, yields: 0, least: STAGE, gap: " ", wraps: false }
    }

    /// A text column that is cut before columns with smaller numbers.
    pub fn text(yields: u8) -> Self {
        Column { align: Align::Left, yields, least: 0, gap: GAP, wraps: false }
    }

    /// A column of numbers, which is never cut.
    pub fn number() -> Self {
        Column { align: Align::Right, yields: 0, least: 0, gap: GAP, wraps: false }
    }

    /// Wraps the text of this column instead of cutting it.
    pub fn wrapped(mut self) -> Self {
        self.wraps = true;
        self
    }

    /// Sets the separator after this column.
    pub fn gap(mut self, gap: &'static str) -> Self {
        self.gap = gap;
        self
    }
}

/// One cell.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    mark: Option<Mark>,
}

impl Cell {
    /// Creates a cell with a mark.
    pub fn marked(text: impl AsRef<str>, mark: Mark) -> Self {
        Cell { text: one_line(text.as_ref()), mark: Some(mark) }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell { text: one_line(text.as_ref()), mark: None }
    }
}

/// Rows of cells.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new(columns: impl Into<Vec<Column>>) -> Self {
        Table { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) -> &mut Self {
        self.rows.push(cells.into_iter().collect());
        self
    }

    /// Returns the lines, none wider than `limit` as long as columns can be cut.
    pub fn lines(&self, limit: Option<usize>, palette: Palette) -> Vec<String> {
        let widths = self.widths(limit);
        let rows = self.rows.iter().flat_map(|row| self.wrap(row, &widths));
        rows.map(|row| self.line(&row, &widths, palette)).collect()
    }

    /// Returns a row and the rows with the rest of its wrapped cells.
    fn wrap(&self, row: &[Cell], widths: &[usize]) -> Vec<Vec<Cell>> {
        let mut rows = vec![row.to_vec()];
        for ((at, column), &columns) in self.columns.iter().enumerate().zip(widths) {
            let Some(cell) = row.get(at).filter(|cell| column.wraps && columns > 0 && width(&cell.text) > columns)
            else {
                continue;
            };
            for (line, text) in wrap(&cell.text, columns).into_iter().enumerate() {
                if rows.len() <= line {
                    rows.push(vec![Cell::default(); row.len()]);
                }
                rows[line][at] = Cell { text, mark: cell.mark };
            }
        }
        rows
    }

    /// Returns the width of each column; 0 for an empty or omitted column.
    fn widths(&self, limit: Option<usize>) -> Vec<usize> {
        let of = |at: usize| self.rows.iter().filter_map(|row| row.get(at)).map(|cell| width(&cell.text)).max();
        let mut widths: Vec<usize> =
            self.columns.iter().enumerate().map(|(at, column)| of(at).unwrap_or_default().max(column.least)).collect();
        let Some(limit) = limit else { return widths };
        let mut order: Vec<usize> = (0..widths.len()).filter(|&at| self.columns[at].yields > 0).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(self.columns[at].yields));
        for at in order {
            let total = self.total(&widths);
            if total <= limit {
                break;
            }
            let left = widths[at].saturating_sub(total - limit);
            widths[at] = match self.columns[at].wraps {
                true => left.max(WRAPS.min(widths[at])),
                false if left < LEAST => 0,
                false => left,
            };
        }
        widths
    }

    fn total(&self, widths: &[usize]) -> usize {
        let last = widths.iter().rposition(|&width| width > 0).unwrap_or_default();
        let gap = |at: usize| if at < last { width(self.columns[at].gap) } else { 0 };
        widths.iter().enumerate().filter(|(_, width)| **width > 0).map(|(at, width)| width + gap(at)).sum()
    }

    fn line(&self, row: &[Cell], widths: &[usize], palette: Palette) -> String {
        let mut line = String::new();
        for ((at, column), &columns) in self.columns.iter().enumerate().zip(widths).filter(|(_, width)| **width > 0) {
            let empty = Cell::default();
            let cell = row.get(at).unwrap_or(&empty);
            let text = cut(&cell.text, columns);
            let room = " ".repeat(columns - width(&text).min(columns));
            let painted = palette.paint(&text, cell.mark.filter(|_| !text.is_empty()));
            match column.align {
                Align::Left => line.push_str(&format!("{painted}{room}{}", column.gap)),
                Align::Right => line.push_str(&format!("{room}{painted}{}", column.gap)),
            }
        }
        line.truncate(line.trim_end_matches(' ').len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([Column::stage(), Column::text(1), Column::number(), Column::text(2)]);
        table.row(["nodes", "person", "903", "key id int64 · firstName, lastName, gender string"].map(Cell::from));
        table.row(["edges", "person ─knows─ person", "6,626", "undirected"].map(Cell::from));
        table
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(
            table().lines(None, Palette::Plain),
            [
                "nodes    person                    903   key id int64 · firstName, lastName, gender string",
                "edges    person ─knows─ person   6,626   undirected",
            ]
        );
    }

    #[test]
    fn the_least_important_column_gives_way_first() {
        let lines = table().lines(Some(60), Palette::Plain);
        assert_eq!(lines[0], "nodes    person                    903   key id int64 · fir…");
        assert!(lines.iter().all(|line| width(line) <= 60));
        let lines = table().lines(Some(40), Palette::Plain);
        assert_eq!(lines[1], "edges    person ─knows─ person   6,626");
        let lines = table().lines(Some(30), Palette::Plain);
        assert_eq!(lines[1], "edges    person ─know…   6,626");
    }

    #[test]
    fn a_column_that_wraps_loses_nothing() {
        let mut table = Table::new([Column::stage(), Column::text(1), Column::text(2).wrapped()]);
        table.row(["", "person", "label person, name = id, props firstName lastName gender"].map(Cell::from));
        table.row(["", "knows", "rel_name knows"].map(Cell::from));
        assert_eq!(
            table.lines(Some(50), Palette::Plain),
            [
                "         person   label person, name = id, props",
                "                  firstName lastName gender",
                "         knows    rel_name knows",
            ]
        );
        // The other column is cut before a wrapped column becomes too narrow to read.
        let narrow = table.lines(Some(36), Palette::Plain);
        assert!(narrow.iter().all(|line| width(line) <= 36) && narrow.len() > 3, "{narrow:?}");
    }

    #[test]
    fn marks_take_no_room() {
        let mut table = Table::new([Column::text(0), Column::text(0)]);
        table.row([Cell::marked("equal", Mark::Sound), Cell::from("x")]);
        table.row([Cell::from("different"), Cell::from("y")]);
        let lines = table.lines(None, Palette::Ansi);
        assert_eq!(lines[0], "\x1b[32mequal\x1b[0m       x");
        assert_eq!(lines[1], "different   y");
    }
}
