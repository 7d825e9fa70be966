//! The rows of keys: what edges end in, checked for every edge that is read.

use arrow_array::{Array, ArrayRef, UInt64Array};
use arrow_cast::cast;
use arrow_cast::display::array_value_to_string;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Result};
use isomorph_storage::Scratch;
use isomorph_storage::parallel::{self, Ahead};
use isomorph_tables::lookup::{KeyRows, KeyRowsBuilder, Lookup, LookupOptions};

use crate::open::{OpenOptions, Tables};
use crate::rules;
use crate::table::Piece;

/// The keys of a node type.
pub(crate) enum Keys {
    /// Keys that are looked up.
    Known(Box<KeyRows>),
    /// Keys that are rows, and how many there are.
    Rows(u64),
    /// Keys that all differ, and are too many to be looked up within the budget.
    Many,
}

/// Batches of keys of one piece that may wait for those of pieces before it.
const AHEAD: usize = 2;

/// How the keys of one of `types` node types are looked up.
///
/// # Errors
/// When there is no directory for temporary files.
pub(crate) fn lookup_options(options: &OpenOptions, types: usize) -> Result<LookupOptions> {
    let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    let memory = options.budget.limit() / 4 / types.max(1) as u64;
    Ok(LookupOptions::new(&options.budget, &scratch).memory(memory))
}

impl Tables {
    /// The keys of node type `ty`, which are read at the first call.
    ///
    /// # Errors
    /// When a key is missing or repeated, or the table cannot be read.
    pub(crate) fn keys_of(&self, ty: usize) -> Result<&Keys> {
        let slot = self.keys.get(ty).ok_or_else(|| Error::usage(format!("there is no node type {ty}")))?;
        if let Some(known) = slot.get() {
            return Ok(known);
        }
        let read = self.read_keys(ty)?;
        Ok(slot.get_or_init(|| read))
    }

    fn read_keys(&self, ty: usize) -> Result<Keys> {
        let own = self.nodes.get(ty).ok_or_else(|| Error::usage(format!("there is no node type {ty}")))?;
        let table = &self.tables[own.table];
        if own.row_keys {
            return Ok(Keys::Rows(table.rows));
        }
        let name = &table.columns[own.key].name;
        let mut builder = KeyRowsBuilder::new(lookup_options(&self.options, self.nodes.len())?);
        self.each_key(ty, |first, keys| {
            if let Some(at) = first_null(keys) {
                let place = table.place_of(first + at as u64).in_field(name.clone());
                return Err(Error::broken(&rules::KEY, "the row has no key").at(place));
            }
            builder.push(keys)
        })?;
        self.distinct(ty, builder.finish()?)
    }

    /// Takes the keys of node type `ty`, if they were kept when its table was opened.
    ///
    /// # Errors
    /// When a key is repeated.
    pub(crate) fn take_kept_keys(&mut self, ty: usize) -> Result<()> {
        let Some(own) = self.nodes.get(ty).filter(|own| !own.row_keys) else { return Ok(()) };
        let (at, key) = (own.table, own.key);
        let table = &mut self.tables[at];
        let is_own = |(name, _): &mut (String, Lookup)| table.columns.get(key).is_some_and(|own| own.name == *name);
        let Some((_, found)) = table.kept_keys.take_if(is_own) else { return Ok(()) };
        let keys = self.distinct(ty, found)?;
        // Nothing else has read them yet.
        if let Some(slot) = self.keys.get(ty) {
            slot.get_or_init(|| keys);
        }
        Ok(())
    }

    /// The keys of node type `ty`, which must all differ.
    fn distinct(&self, ty: usize, found: Lookup) -> Result<Keys> {
        let own = self.nodes.get(ty).ok_or_else(|| Error::usage(format!("there is no node type {ty}")))?;
        let table = &self.tables[own.table];
        let name = &table.columns[own.key].name;
        let repeats = found.repeats();
        let Some(repeat) = repeats.shown().first() else {
            return Ok(match found {
                Lookup::Memory(keys) => Keys::Known(Box::new(keys)),
                Lookup::Spilled(_) => Keys::Many,
            });
        };
        let others = match repeats.count() {
            1 => String::new(),
            count => format!("; {count} keys are repeated"),
        };
        let what = format!("the key is that of {} already{others}", table.earlier(repeat.first, repeat.row));
        let place = table.place_of(repeat.row).in_field(name.clone());
        Err(Error::broken(&rules::KEY, what).at(place))
    }

    /// Passes the keys of node type `ty` to `take` in the order of the rows, with the number of the first row of each batch.
    ///
    /// # Errors
    /// When they cannot be read, and errors of `take`.
    pub(crate) fn each_key(&self, ty: usize, mut take: impl FnMut(u64, &dyn Array) -> Result<()>) -> Result<()> {
        let own = self.nodes.get(ty).ok_or_else(|| Error::usage(format!("there is no node type {ty}")))?;
        let table = &self.tables[own.table];
        let read = |piece: Piece, give: &mut dyn FnMut((u64, ArrayRef)) -> Result<()>| {
            let mut reading = table.read(&piece, &[own.key], 1 << 16)?;
            while let Some((first, _, columns)) = reading.next_batch()? {
                columns.into_iter().next().map_or(Ok(()), |keys| give((first, keys)))?;
            }
            Ok(())
        };
        let threads = self.options.threads;
        let ahead = Ahead { pieces: AHEAD, parts: threads };
        parallel::in_order(table.pieces(), threads, ahead, read, |(first, keys)| take(first, keys.as_ref()))
    }

    /// What a look-up among too many keys ends with.
    pub(crate) fn too_many(&self, ty: usize) -> Error {
        let name = self.graph.nodes.get(ty).map_or("", |ty| ty.name.as_str());
        Error::new(Kind::TooLarge, format!("the keys of {name} take more memory than a quarter of the budget"))
            .hint("--memory SIZE    allow more")
    }

    /// The rows of the ends of edges that begin at `first` in table `table`.
    ///
    /// # Errors
    /// [`rules::END`] for an end that is no key, with its place.
    pub(crate) fn rows_of(&self, ty: usize, ends: &ArrayRef, at: (usize, usize), first: u64) -> Result<UInt64Array> {
        let (table, column) = at;
        let table = &self.tables[table];
        let lost = |row: usize| {
            let place = table.place_of(first + row as u64).in_field(table.columns[column].name.clone());
            let of = &self.graph.nodes[ty].name;
            let what = match array_value_to_string(ends, row) {
                Ok(key) if ends.is_valid(row) => {
                    let blanks = blanks_around(&key);
                    format!("the edge ends in {key}, which is no key of {of}{blanks}")
                }
                _ => "the edge has no end".to_owned(),
            };
            Error::broken(&rules::END, what).at(place).hint(SET_ASIDE)
        };
        if let Some(row) = first_null(ends) {
            return Err(lost(row));
        }
        match self.keys_of(ty)? {
            Keys::Known(keys) => {
                let mut rows = Vec::with_capacity(ends.len());
                let misses = keys.translate(ends.as_ref(), &mut rows)?;
                match misses.first_not_found {
                    Some(row) => Err(lost(row)),
                    None => Ok(rows.into()),
                }
            }
            Keys::Many => Err(self.too_many(ty)),
            Keys::Rows(count) => {
                let rows = cast(ends, &DataType::UInt64)
                    .ok()
                    .and_then(|rows| rows.as_any().downcast_ref::<UInt64Array>().cloned());
                let rows = rows.ok_or_else(|| lost(0))?;
                // A negative number has become null.
                match (0..rows.len()).find(|row| rows.is_null(*row) || rows.value(*row) >= *count) {
                    Some(row) => Err(lost(row)),
                    None => Ok(rows),
                }
            }
        }
    }
}

/// What to do about edges that end in no node.
pub(crate) const SET_ASIDE: &str = "--lenient    set such edges aside";

/// What to say of a text with blanks around it, which other programs may not show.
pub(crate) fn blanks_around(text: &str) -> &'static str {
    if text.trim() == text { "" } else { ": there are blanks around it" }
}

/// The position of the first null.
pub(crate) fn first_null(column: &dyn Array) -> Option<usize> {
    let nulls = column.nulls().filter(|nulls| nulls.null_count() > 0)?;
    (0..nulls.len()).find(|at| nulls.is_null(*at))
}
