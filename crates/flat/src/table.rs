//! A table in a file: its columns, as they are stored and as they are shown.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use arrow_array::BooleanArray;
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Findings, Place, Result, did_you_mean};
use isomorph_model::{Property, ValueKind};
use isomorph_storage::{Blob, ScratchFile};
use isomorph_tables::lookup::{Lookup, LookupOptions};
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader};

use crate::cells::Split;
use crate::ends::EndsOf;
use crate::maps::without_maps;
use crate::opened_files::{check_zones, readers, readings, without_empty};
use crate::reading::Reading;
use crate::rules;
use crate::sql::{Column, ColumnType, ExternalTable, TableOptions};
use crate::survey::{CsvSurvey, Found, Roles, Wanted, header, survey};

/// An opened table.
pub(crate) struct Table {
    /// Its name in the mapping.
    pub name: String,
    /// What the mapping says of it.
    pub options: TableOptions,
    /// Its files, in their order; at least one.
    pub files: Vec<TablePart>,
    pub encoding: Encoding,
    pub columns: Vec<TableColumn>,
    pub rows: u64,
    /// The values of the column of relations, where there is one, and their numbers of rows.
    pub relations: Vec<(String, u64)>,
    by_name: HashMap<String, usize>,
    /// The different texts of the column of labels, if they are known.
    pub label_texts: Option<Vec<String>>,
    /// The rows of keys, with the name of their column, if they were kept when the files were read first.
    pub kept_keys: Option<(String, Lookup)>,
    /// Rows of the files that are left out, in their order.
    left_out: Vec<u64>,
    /// Whose ends the rows are, if no file lists them, and the file that keeps them.
    pub ends_of: Option<EndsOf>,
    temporary: Option<ScratchFile>,
    /// The first value because of which columns of floats are none of keys, and its place.
    pub fraction: Option<String>,
}

/// A table as it is declared in a mapping file.
pub(crate) struct Declared<'a> {
    pub table: &'a ExternalTable,
    pub options: TableOptions,
    /// The mapping file.
    pub file: &'a str,
    /// Whether cells that do not have their type are found one by one.
    pub lenient: bool,
    /// Threads that read.
    pub threads: usize,
    /// How keys that are read with everything else are kept.
    pub lookup: Option<LookupOptions>,
}

/// A file of a table.
pub(crate) struct TablePart {
    pub blob: Blob,
    pub read: ReadOptions,
    pub reader: TableReader,
    /// The row of the table that is its first one, and the number of its rows.
    pub first: u64,
    pub rows: u64,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub(crate) struct TableColumn {
    /// Its name in the file.
    pub name: String,
    /// Its type, as it is shown.
    pub ty: ColumnType,
    pub required: bool,
    /// Whether the mapping declares other columns of the table, but not this one.
    pub undeclared: bool,
    pub stored: Stored,
    /// The integers that it may have, and what such an integer is called.
    pub range: Option<(RangeInclusive<i64>, &'static str)>,
    /// The type of the keys that its cells are, if that is a wider one.
    pub key_type: Option<DataType>,
}

/// How the cells of a column are stored.
#[derive(Debug, Clone)]
pub(crate) enum Stored {
    /// As they are shown.
    AsShown,
    /// As texts that become lists.
    Lists(Split),
    /// As texts that are the integers of keys.
    Keys,
    /// As floats, or texts of such numbers, that are the integers of keys, or of ends of edges.
    WholeFloats { is_end: bool },
    /// As the texts of other columns, one after another.
    Joined(Vec<usize>),
    /// As texts, because some may not be of the type.
    Parsed,
    /// As the JSON of values of several types, which nobody declares: null is no value.
    Json,
    /// As the JSON of keys, some of which are integers and others texts: all are texts.
    JsonKeys,
}

impl TableColumn {
    pub fn new(name: String, ty: ColumnType, required: bool) -> Self {
        TableColumn { name, ty, required, undeclared: false, stored: Stored::AsShown, range: None, key_type: None }
    }

    /// The type of its cells when they are read.
    pub fn shown_type(&self) -> &DataType {
        self.key_type.as_ref().unwrap_or(&self.ty.data_type)
    }

    /// Whether a mapping file can say its type.
    pub fn is_declarable(&self) -> bool {
        crate::sql::has_name(&self.ty)
    }

    /// The property that the column is.
    pub fn property(&self, name: &str) -> Property {
        Property {
            kind: self.ty.kind.clone(),
            nullable: !self.required,
            cardinality: self.ty.cardinality,
            ..Property::new(name, self.shown_type().clone())
        }
    }
}

impl Table {
    /// Opens the files of `declared`. A text whose columns are not declared is read once, to find their types; any other text to count its
    /// rows. `keys` are columns with keys, of which the types are integers or text, and `known` the types of those that other tables decide.
    /// What is read in part is added to `findings`.
    ///
    /// # Errors
    /// When the file cannot be read, or has other columns than those that are declared.
    pub fn open(
        declared: Declared<'_>,
        blobs: Vec<Blob>,
        (known, keys): (&HashMap<String, DataType>, &[String]),
        findings: &mut Findings,
    ) -> Result<Table> {
        let Declared { table: declared, options, file, lenient, threads, lookup } = declared;
        let encoding = declared.encoding;
        let blobs = match encoding {
            Encoding::JsonLines => blobs,
            _ => without_empty(blobs, options.first_header, findings),
        };
        let mut files = readings(declared, &options, blobs, lenient)?;
        check_zones(declared, &files, file)?;
        let blob = files.first().map(|(blob, _)| blob.clone()).ok_or_else(|| Error::usage("a table has no files"))?;
        let missing = |name: &str, of: &Schema| {
            let names: Vec<&str> = of.fields().iter().map(|field| field.name().as_str()).collect();
            let near = did_you_mean(name, names.iter().copied());
            let error = declared.at.error(file, format!("the table {} has no column {name:?}{near}", declared.name));
            error.hint(format!("its columns: {}", names.join(", ")))
        };
        let mut columns: Vec<TableColumn> = declared
            .columns
            .iter()
            .map(|column| TableColumn::new(column.name.clone(), column.ty.clone(), column.required))
            .collect();
        let of_integers = |columns: &mut [TableColumn]| {
            let said = columns.iter_mut().filter(|own| options.integers.contains(&own.name));
            said.for_each(|own| own.of_integers(known.contains_key(&own.name)));
        };
        of_integers(&mut columns);
        let typed: HashSet<String> = columns.iter().map(|own| own.name.clone()).collect();
        let known_types: Vec<&str> = declared.hints.types.iter().map(|(name, _)| name.as_str()).collect();
        let (relation, labels) = (options.relation.clone(), options.labels.clone());
        // Keys that are text whatever is found, as they are stored.
        let text = |name: &&String| {
            let hint = declared.hints.types.iter().find(|(known, _)| known == *name).map(|(_, ty)| ty);
            let own = columns.iter().find(|column| column.name == **name).map(|column| &column.ty);
            own.or(hint).is_some_and(|ty| *ty == ColumnType::plain(DataType::Utf8))
        };
        let key = keys.first().filter(text).map(String::as_str);
        let wanted = Wanted {
            relation: relation.as_deref(),
            labels: labels.as_deref(),
            keys: key.zip(lookup.as_ref()),
            known: &known_types,
            threads,
        };
        let (mut counted, mut others, mut odd) = (None, Vec::new(), Vec::new());
        if encoding.is_text() {
            if columns.is_empty() {
                let Found { columns: mut found, rows, roles, odd: cells, whole } =
                    survey(&mut files, encoding, &wanted)?;
                if found.is_empty() && encoding == Encoding::JsonLines {
                    // No line names a column: the table has those that the graph needs.
                    let needed = keys.iter().chain(known.keys()).collect::<BTreeSet<_>>();
                    found.extend(needed.into_iter().map(|name| (name.clone(), ColumnType::plain(DataType::Utf8))));
                    findings.push(&rules::EMPTY, "the file has no lines: the table has no rows", blob.place());
                }
                columns = found.into_iter().map(|(name, ty)| TableColumn::new(name, ty, false)).collect();
                (counted, odd) = (Some((rows, roles)), cells);
                crate::found_types::settle(&mut columns, declared, known, keys, &whole);
                of_integers(&mut columns);
            } else {
                let names: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
                let is_other = |name: &String| !names.contains(name.as_str());
                if encoding == Encoding::JsonLines {
                    let Found { columns: found, rows, roles, .. } = survey(&mut files, encoding, &wanted)?;
                    counted = Some((rows, roles));
                    others = found.iter().map(|(name, _)| name.clone()).filter(is_other).collect();
                    crate::found_types::keep_keys(&mut columns, &found, |name| {
                        keys.contains(name) || known.contains_key(name)
                    });
                } else {
                    for (blob, read) in files.iter().filter(|(_, read)| read.csv.names.is_none()) {
                        let more = header(blob, read)?.into_iter().filter(is_other);
                        others.extend(more.filter(|name| !others.contains(name)).collect::<Vec<_>>());
                    }
                }
            }
            if encoding == Encoding::Csv {
                let is_parsed = lenient && !declared.columns.is_empty();
                let plain = |column: &&mut TableColumn| matches!(column.stored, Stored::AsShown);
                for column in
                    columns.iter_mut().filter(plain).filter(|own| is_parsed && own.ty.data_type != DataType::Utf8)
                {
                    column.stored = Stored::Parsed;
                }
                for column in &mut columns {
                    if let DataType::List(item) = &column.ty.data_type {
                        column.stored = Stored::Lists(Split::new(item.data_type(), options.array_delimiter)?);
                    }
                }
            }
            if encoding == Encoding::JsonLines {
                let is_raw = |own: &&TableColumn| {
                    let is_key = own.has_whole_floats() || matches!(own.stored, Stored::JsonKeys);
                    is_key || own.ty.kind == ValueKind::Json
                };
                let raw = columns.iter().filter(is_raw);
                let raw: Vec<String> = raw.map(|column| column.name.clone()).collect();
                files.iter_mut().for_each(|(_, read)| read.raw_json.clone_from(&raw));
            }
        }
        if encoding.is_text() || !columns.is_empty() {
            let schema = Arc::new(stored(&columns, encoding));
            files.iter_mut().for_each(|(_, read)| read.schema = Some(Arc::clone(&schema)));
        }
        let (readers, own) = readers(files, encoding)?;
        if !encoding.is_text() {
            // A column that any of the files may have nulls in.
            let nullable: HashSet<String> = readers
                .iter()
                .flat_map(|part| part.reader.schema().fields().iter().filter(|field| field.is_nullable()))
                .map(|field| field.name().clone())
                .collect();
            let there: HashSet<&str> = own.fields().iter().map(|field| field.name().as_str()).collect();
            if let Some(column) = columns.iter().find(|column| !there.contains(column.name.as_str())) {
                return Err(missing(&column.name, &own));
            }
            let all: HashMap<&str, &TableColumn> = columns.iter().map(|own| (own.name.as_str(), own)).collect();
            let of = |field: &Arc<Field>| {
                let said = all.get(field.name().as_str());
                let ty =
                    said.map_or_else(|| ColumnType::plain(without_maps(field.data_type())), |said| said.ty.clone());
                let required = !nullable.contains(field.name()) || said.is_some_and(|said| said.required);
                let undeclared = !all.is_empty() && said.is_none();
                let stored = said.map_or(Stored::AsShown, |said| said.stored.clone());
                TableColumn { undeclared, stored, ..TableColumn::new(field.name().clone(), ty, required) }
            };
            columns = own.fields().iter().map(of).collect();
            of_integers(&mut columns);
            crate::found_types::leave_out_index(&mut columns, declared, &blob, findings);
            if let Some(twice) = repeated(&columns) {
                return Err(Error::malformed(format!("two columns are called {twice:?}")).at(blob.place()));
            }
        }
        if !file.is_empty() {
            crate::found_types::unread(findings, &others, blob.place(), &declared.name);
        }
        if let Some(joined) = &options.joined {
            let place = |name: &String| columns.iter().position(|column| column.name == *name);
            let lost = || missing(joined.of.first().map_or("", String::as_str), &stored(&columns, encoding));
            let of = joined.of.iter().map(place).collect::<Option<Vec<_>>>().ok_or_else(lost)?;
            if of.iter().any(|at| columns[*at].ty.data_type != DataType::Utf8) {
                let what = format!("the columns {} are joined, so they must be text", joined.of.join(", "));
                return Err(declared.at.error(file, what));
            }
            let own = TableColumn::new(joined.column.clone(), ColumnType::plain(DataType::Utf8), false);
            columns.push(TableColumn { stored: Stored::Joined(of), ..own });
        }
        for (name, range, called) in &declared.hints.ranges {
            let own = columns.iter_mut().filter(|column| column.name == *name);
            own.for_each(|column| column.range = Some((range.clone(), called)));
        }
        let mut by_name = HashMap::with_capacity(columns.len());
        for (at, column) in columns.iter().enumerate() {
            by_name.entry(column.name.clone()).or_insert(at);
        }
        let mut table = Table {
            name: declared.name.clone(),
            options,
            rows: readers.iter().map(|part| part.rows).sum(),
            files: readers,
            encoding,
            columns,
            relations: Vec::new(),
            label_texts: None,
            kept_keys: None,
            by_name,
            left_out: Vec::new(),
            ends_of: None,
            temporary: None,
            fraction: None,
        };
        let named = [&table.options.labels, &table.options.relation, &table.options.directed].into_iter().flatten();
        for option in named.chain(&table.options.integers) {
            if table.find(option).is_none() {
                return Err(missing(option, &stored(&table.columns, encoding)));
            }
        }
        match counted {
            Some((rows, roles)) => {
                table.take(roles);
                table.number(&rows);
            }
            None if encoding == Encoding::Csv => table.survey(&wanted)?,
            None => table.count()?,
        }
        if !encoding.is_text() {
            table.settle_floats(known, keys, &typed, threads)?;
        }
        table.note_floats(findings);
        table.tell_odd(&odd, &declared.hints, findings);
        for name in &declared.hints.directed {
            if table.options.directed.is_none() && table.holds_directions(name)? {
                table.options.directed = Some(name.clone());
            }
        }
        Ok(table)
    }

    /// The table `name` of the different ends `of` the table `edges`, without a row yet.
    pub fn of_ends(name: &str, options: TableOptions, of: EndsOf, edges: &Table, column: Column) -> Table {
        let by_name = HashMap::from([(column.name.clone(), 0)]);
        Table {
            name: name.to_owned(),
            options,
            files: Vec::new(),
            encoding: edges.encoding,
            columns: vec![TableColumn::new(column.name, column.ty, column.required)],
            rows: 0,
            relations: Vec::new(),
            by_name,
            label_texts: None,
            kept_keys: None,
            left_out: Vec::new(),
            ends_of: Some(of),
            temporary: None,
            fraction: None,
        }
    }

    /// Gives a table of ends its rows. `place` is what messages call their file.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn fill(&mut self, keys: ScratchFile, place: &str) -> Result<()> {
        let blob = keys.blob_named(place)?;
        let (files, _) = readers(vec![(blob, ReadOptions::default())], Encoding::Arrow)?;
        self.rows = files.iter().map(|part| part.rows).sum();
        (self.files, self.temporary) = (files, Some(keys));
        Ok(())
    }

    /// The columns as a mapping file declares them.
    pub fn declared(&self) -> Vec<Column> {
        let column = |own: &TableColumn| Column { name: own.name.clone(), ty: own.ty.clone(), required: own.required };
        let is_declared = |own: &&TableColumn| !own.undeclared && !matches!(own.stored, Stored::Joined(_));
        self.columns.iter().filter(is_declared).map(column).collect()
    }

    /// Counts the rows of CSV with declared columns, and finds relations, labels, and where records are.
    fn survey(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        let mut survey = CsvSurvey::new(std::iter::empty(), wanted);
        let mut counts = Vec::with_capacity(self.files.len());
        for part in &mut self.files {
            counts.push(survey.read(&part.blob, &mut part.read)?);
            part.reader = TableReader::open(part.blob.clone(), Encoding::Csv, &part.read)?;
        }
        self.take(survey.finish()?);
        self.number(&counts);
        Ok(())
    }

    fn take(&mut self, roles: Roles) {
        (self.relations, self.label_texts, self.kept_keys) = (roles.relations, roles.labels, roles.keys);
    }

    /// Counts relations where nothing has said them.
    fn count(&mut self) -> Result<()> {
        let relation = self.options.relation.clone();
        if relation.is_none() {
            return Ok(());
        }
        let mut relations = crate::survey::Relations::default();
        let mut counts = Vec::with_capacity(self.files.len());
        for part in &self.files {
            let mut rows = 0;
            for batch in part.reader.batches(&Selection::all().columns(relation.clone()))? {
                let batch = batch?;
                rows += batch.num_rows() as u64;
                if let Some(column) = batch.columns().first() {
                    relations.see(column.as_ref());
                }
            }
            counts.push(rows);
        }
        self.relations = relations.finish();
        self.number(&counts);
        Ok(())
    }

    /// Numbers the rows of all files, which have these numbers of rows.
    fn number(&mut self, counts: &[u64]) {
        self.rows = 0;
        for (part, rows) in self.files.iter_mut().zip(counts) {
            (part.first, part.rows) = (self.rows, *rows);
            self.rows += rows;
        }
    }

    /// Where the table is: its first file.
    pub fn place(&self) -> Place {
        self.files.first().map(|part| part.blob.place()).unwrap_or_default()
    }

    /// The position of a column: the one of this name, else the only one that differs in upper and lower case.
    pub fn find(&self, name: &str) -> Option<usize> {
        if let Some(exact) = self.by_name.get(name) {
            return Some(*exact);
        }
        let mut near = (0..self.columns.len()).filter(|at| self.columns[*at].name.eq_ignore_ascii_case(name));
        near.next().filter(|_| near.next().is_none())
    }

    /// Pieces of the files that can be read on their own, with their rows.
    pub fn pieces(&self) -> Vec<Piece> {
        let of_part = |(at, part): (usize, &TablePart)| {
            let of = |group: usize| {
                let rows = part.reader.rows_of_group(group)?;
                Some(self.piece(at, Some(group), part.first + rows.start..part.first + rows.end))
            };
            match (0..part.reader.row_groups()).map(of).collect::<Option<Vec<_>>>() {
                Some(pieces) => pieces.into_iter().filter(|piece| !piece.rows.is_empty()).collect(),
                None => vec![self.piece(at, None, part.first..part.first + part.rows)],
            }
        };
        self.files.iter().enumerate().flat_map(of_part).collect()
    }

    fn piece(&self, part: usize, group: Option<usize>, stored: Range<u64>) -> Piece {
        Piece { part, group, rows: self.shown_row(stored.start)..self.shown_row(stored.end), first: stored.start }
    }

    /// The number of a row of the files among those that are not left out.
    pub fn shown_row(&self, stored: u64) -> u64 {
        stored - self.left_out.partition_point(|row| *row < stored) as u64
    }

    /// The row of the files that is shown with this number.
    fn stored_row(&self, shown: u64) -> u64 {
        // Of the rows that are left out, those before it: as many as have less rows before them that are shown.
        let (mut least, mut most) = (0, self.left_out.len());
        while least < most {
            let middle = usize::midpoint(least, most);
            if self.left_out.get(middle).is_some_and(|out| out - middle as u64 <= shown) {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        shown + least as u64
    }

    /// Leaves out rows, as they are shown.
    pub fn leave_out(&mut self, rows: &BTreeSet<u64>) {
        let mut stored: Vec<u64> = rows.iter().map(|row| self.stored_row(*row)).collect();
        stored.append(&mut self.left_out);
        stored.sort_unstable();
        self.left_out = stored;
        self.rows = self.shown_row(self.files.last().map_or(0, |part| part.first + part.rows));
    }

    /// Which of `count` rows of the files are shown; all if there is no answer.
    pub fn shown(&self, first: u64, count: usize) -> Option<BooleanArray> {
        let end = first + count as u64;
        let from = self.left_out.partition_point(|row| *row < first);
        let to = self.left_out.partition_point(|row| *row < end);
        let out = self.left_out.get(from..to).filter(|out| !out.is_empty())?;
        Some((first..end).map(|row| Some(out.binary_search(&row).is_err())).collect())
    }

    /// Reads the columns at `positions` of a piece.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read(&self, piece: &Piece, positions: &[usize], rows: usize) -> Result<Reading<'_>> {
        let of = |at: &usize| match self.columns.get(*at).map(|column| &column.stored) {
            Some(Stored::Joined(of)) => of.clone(),
            _ => vec![*at],
        };
        let mut distinct: Vec<usize> = positions.iter().flat_map(of).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let names = distinct.iter().filter_map(|at| self.columns.get(*at)).map(|column| column.name.clone());
        let mut selection = Selection::all().columns(names).batch_rows(rows);
        if let Some(group) = piece.group {
            selection = selection.row_groups(group..group + 1);
        }
        let place = |at: usize| distinct.binary_search(&at).unwrap_or_default();
        let places = positions.iter().map(|at| of(at).into_iter().map(place).collect()).collect();
        let part = self.files.get(piece.part).ok_or_else(|| Error::usage("a table has no such file"))?;
        let batches = part.reader.batches(&selection)?;
        Ok(Reading::new(self, batches, positions.to_vec(), places, piece.first))
    }

    /// The words for the place of row `earlier`, for a message about row `row`.
    pub fn earlier(&self, earlier: u64, row: u64) -> String {
        let (first, again) = (self.place_of(earlier), self.place_of(row));
        let own = match (first.line, first.row) {
            (Some(line), _) => format!("line {line}"),
            (None, row) => format!("row {}", row.unwrap_or(earlier)),
        };
        match first.file.filter(|file| Some(file) != again.file.as_ref()) {
            Some(file) => format!("{own} of {file}"),
            None => own,
        }
    }

    /// Where a row stands.
    pub fn place_of(&self, row: u64) -> Place {
        let row = self.stored_row(row);
        let part = self.files.iter().rfind(|part| part.first <= row).or(self.files.first());
        let Some(part) = part else { return Place::default().row(row) };
        let row = row - part.first.min(row);
        let place = part.blob.place().row(row);
        match part.reader.line_of(row) {
            Ok(Some(line)) => place.line(line),
            _ => place,
        }
    }
}

/// A part of a file.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    part: usize,
    group: Option<usize>,
    /// Its rows, without those that are left out.
    pub rows: Range<u64>,
    /// Its first row, as the files have them.
    first: u64,
}

/// The schema as which a file is read.
fn stored(columns: &[TableColumn], encoding: Encoding) -> Schema {
    let field = |column: &TableColumn| {
        let data_type = match column.stored {
            Stored::Lists(_) | Stored::Keys | Stored::Parsed => DataType::Utf8,
            Stored::WholeFloats { .. } if encoding.is_text() => DataType::Utf8,
            // As each file has it: floats, or integers.
            Stored::WholeFloats { .. } => return None,
            Stored::AsShown | Stored::Json | Stored::JsonKeys => column.ty.data_type.clone(),
            Stored::Joined(_) => return None,
        };
        // A required value that is missing is found where rows are read: they may be set aside.
        Some(Field::new(&column.name, data_type, true))
    };
    Schema::new(columns.iter().filter_map(field).collect::<Vec<_>>())
}

fn repeated(columns: &[TableColumn]) -> Option<&str> {
    let mut seen = HashSet::new();
    columns.iter().map(|column| column.name.as_str()).find(|name| !seen.insert(*name))
}
