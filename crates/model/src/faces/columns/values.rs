//! The subjects and objects of one predicate, as columns.

use super::terms::{NONE, narrow};

/// The objects of one predicate, in the order in which they were added.
#[derive(Default)]
pub(super) struct Values {
    /// Numbers of subjects.
    subjects: Vec<u32>,
    /// The number of the first datatype; [`NONE`] if it is not a literal.
    datatype: u32,
    /// The number of each datatype; empty as long as all are the same.
    datatypes: Vec<u32>,
    /// The end of each text.
    ends: Vec<u32>,
    texts: String,
    /// The rows sorted by subject, stably; `None` if they were added in that order.
    order: Option<Vec<u32>>,
}

/// An object.
#[derive(Clone, Copy)]
pub(super) struct Value<'v> {
    /// Lexical form, or the term.
    pub text: &'v str,
    /// The number of its datatype; [`NONE`] if it is not a literal.
    pub datatype: u32,
}

impl Values {
    /// Whether a text of so many bytes fits: offsets have 32 bits, also in the columns that are made from the texts.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.texts.len() + bytes < 1 << 30 && self.subjects.len() < NONE as usize
    }

    pub fn push(&mut self, subject: u32, text: &str, datatype: u32) {
        if self.subjects.is_empty() {
            self.datatype = datatype;
        } else if self.datatypes.is_empty() && self.datatype != datatype {
            self.datatypes = vec![self.datatype; self.subjects.len()];
        }
        if !self.datatypes.is_empty() {
            self.datatypes.push(datatype);
        }
        self.subjects.push(subject);
        self.texts.push_str(text);
        self.ends.push(narrow(self.texts.len()));
    }

    pub fn memory(&self) -> u64 {
        let numbers = self.subjects.capacity() + self.datatypes.capacity() + self.ends.capacity();
        self.texts.capacity() as u64 + 4 * numbers as u64
    }

    /// Finishes the collection, so that objects can be found by subject.
    pub fn close(&mut self) {
        self.texts.shrink_to_fit();
        self.subjects.shrink_to_fit();
        self.ends.shrink_to_fit();
        if !self.subjects.is_sorted() {
            let mut order: Vec<u32> = (0..narrow(self.subjects.len())).collect();
            order.sort_by_key(|row| self.subjects.get(*row as usize));
            self.order = Some(order);
        }
    }

    /// Returns all subjects and objects, in the order in which they were added.
    pub fn all(&self) -> impl Iterator<Item = (u32, Value<'_>)> {
        self.subjects.iter().zip(0..).map(|(subject, row)| (*subject, self.value(row)))
    }

    fn value(&self, row: usize) -> Value<'_> {
        let end = |row: usize| self.ends.get(row).map_or(0, |end| *end as usize);
        let start = row.checked_sub(1).map_or(0, end);
        let datatype = self.datatypes.get(row).copied().unwrap_or(self.datatype);
        Value { text: self.texts.get(start..end(row)).unwrap_or_default(), datatype }
    }

    /// Returns the row at a position in the order of subjects.
    fn row(&self, place: usize) -> usize {
        match &self.order {
            Some(order) => order.get(place).map_or(usize::MAX, |row| *row as usize),
            None => place,
        }
    }

    fn subject(&self, place: usize) -> Option<u32> {
        self.subjects.get(self.row(place)).copied()
    }

    /// Returns the objects of a subject, in the order in which they were added. `near` is the position of the last one that
    /// was found: subjects that are requested in order are found immediately.
    pub fn of<'v>(&'v self, subject: u32, near: &mut usize) -> impl Iterator<Item = Value<'v>> + use<'v> {
        let is_before = |place: usize| self.subject(place).is_some_and(|other| other < subject);
        let mut place = *near;
        let in_reach = place == 0 || is_before(place - 1);
        let end = if in_reach { (place + 4).min(self.subjects.len()) } else { place };
        while place < end && is_before(place) {
            place += 1;
        }
        if !in_reach || place == end && is_before(place) {
            let (mut low, mut high) = if in_reach { (place, self.subjects.len()) } else { (0, place) };
            while low < high {
                let middle = low + (high - low) / 2;
                match is_before(middle) {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            place = low;
        }
        *near = place;
        (place..)
            .take_while(move |place| self.subject(*place) == Some(subject))
            .map(|place| self.value(self.row(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_by_subject() {
        for stride in [1u32, 7] {
            let mut values = Values::default();
            let mut said = Vec::new();
            for at in 0..1_000u32 {
                let subject = at * stride % 1_000 / 3 * 2;
                let datatype = if at < 500 { 1 } else { at % 3 };
                values.push(subject, &at.to_string(), datatype);
                said.push((subject, at.to_string(), datatype));
            }
            values.close();
            let found: Vec<_> =
                values.all().map(|(subject, value)| (subject, value.text.to_owned(), value.datatype)).collect();
            assert_eq!(found, said);
            let (mut near, mut asked) = (0, (0..700).collect::<Vec<u32>>());
            asked.extend([3, 600, 2, 698, NONE, 0, 1, 400, 404, 402]);
            for subject in asked {
                let expected: Vec<_> = said.iter().filter(|(of, ..)| *of == subject).cloned().collect();
                let of = values.of(subject, &mut near);
                let found: Vec<_> = of.map(|value| (subject, value.text.to_owned(), value.datatype)).collect();
                assert_eq!(found, expected, "{subject}");
            }
        }
    }
}
