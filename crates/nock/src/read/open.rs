//! Opens a dataset.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_model::Graph;
use isomorph_storage::parts::unrelated;
use isomorph_storage::{Blob, Location};

use super::graph::graph;
use crate::columns::{Column, ColumnSet};
use crate::dataset::{self, Extras, Partition, Piece, Wanted};
use crate::layout::{EDGES, Extra, has_no_place};
use crate::node_rows::{Collector, Kept, KeptPiece, Position, Reader, Settled, Shards, resolve, side_by_side};
use crate::rows::Shape;
use crate::{OpenOptions, Tolerance, rules};

/// Default number of rows in a batch.
const BATCH_ROWS: usize = 1 << 16;

/// Called with the number of additional rows that are done; an error stops the work.
pub(crate) type Advance<'a> = dyn Fn(u64) -> Result<()> + Sync + 'a;

/// An opened NOCK file, or a directory of partitions.
///
/// ```no_run
/// use isomorph_model::Source;
/// use isomorph_nock::{Nock, OpenOptions};
/// use isomorph_storage::Location;
///
/// let nock = Nock::open(&Location::parse("people.parq")?, &OpenOptions::default())?;
/// println!("{} nodes", nock.settle()?.nodes);
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct Nock {
    pub(crate) partitions: Vec<Partition>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) shape: Shape,
    pub(crate) options: OpenOptions,
    pub(crate) is_directory: bool,
    /// Whether nodes have a property for the owner of foreign nodes whose partition is not here.
    pub(crate) has_shadows: bool,
    pub(crate) graph: Graph,
    /// Files that should have the same rows: the one that is read, and the one that is not.
    pub(crate) twins: Vec<(Blob, Blob)>,
    /// The findings of opening.
    pub(crate) noticed: Findings,
    /// Set once strict reading has found no violation.
    pub(crate) approved: OnceLock<()>,
    settled: OnceLock<(Settled, Kept)>,
    settling: Mutex<()>,
}

impl Nock {
    /// Opens a file, or a directory of partitions.
    ///
    /// Reads only metadata. Inputs of at most [`OpenOptions::settle_up_to`] rows, text, and directories whose statistics
    /// show shadow rows are also settled, which reads names.
    ///
    /// # Errors
    /// Returns an error if the location does not exist, a file is not NOCK, partitions have incompatible columns, two files claim
    /// the same partition number, or the files of a directory are separate graphs ([`rules::PART_DATASET`]).
    pub fn open(location: &Location, options: &OpenOptions) -> Result<Nock> {
        let dataset = dataset::open(location, options.tolerance)?;
        let mut nock = Nock::of(dataset.partitions, dataset.directory.is_some(), options)?;
        nock.twins = dataset.twins;
        for (read, twin) in &nock.twins {
            let message = format!("{} is read instead of this file; validation compares them", read.name());
            nock.noticed.push(&rules::PART_BOTH, message, Place::file(twin.name()));
        }
        let Some(directory) = dataset.directory else { return Ok(nock) };
        for other in &directory.others {
            let message = format!("{other} is not named like a partition and is not read");
            nock.noticed.push(&rules::PART_OTHER, message, Place::file(other));
        }
        if !directory.numbered && nock.partitions.len() > 1 && !nock.is_tied_together()? {
            let names: Vec<&str> = nock.partitions.iter().map(|partition| partition.name.as_str()).collect();
            return Err(unrelated(
                &rules::PART_DATASET,
                location,
                &names,
                "no shadow rows of one refer to nodes of another",
            ));
        }
        Ok(nock)
    }

    /// Returns whether shadow rows connect all partitions: the node of a shadow row is local in another partition.
    fn is_tied_together(&self) -> Result<bool> {
        let mut foreign = false;
        for partition in &self.partitions {
            foreign = foreign || partition.has_foreign_rows()?;
        }
        if !foreign {
            return Ok(false);
        }
        let ties = &self.settle()?.ties;
        let mut reached = BTreeSet::from([0]);
        loop {
            let next = ties.iter().flat_map(|&(one, other)| [(one, other), (other, one)]);
            let new: Vec<usize> = next.filter(|(one, _)| reached.contains(one)).map(|(_, other)| other).collect();
            let before = reached.len();
            reached.extend(new);
            if reached.len() == before {
                return Ok(before == self.partitions.len());
            }
        }
    }

    /// Opens the only partition of a dataset.
    ///
    /// # Errors
    /// As [`Nock::open`].
    pub fn open_blob(blob: Blob, options: &OpenOptions) -> Result<Nock> {
        Nock::of(vec![dataset::open_blob(blob, 0, options.tolerance)?], false, options)
    }

    fn of(partitions: Vec<Partition>, is_directory: bool, options: &OpenOptions) -> Result<Nock> {
        let mut noticed = Findings::keeping(8);
        for partition in &partitions {
            check_columns(partition, options.tolerance, &mut noticed)?;
            if options.keep_edge_id && !partition.layout.states_edge_ids() {
                let place = Place::file(&partition.name).in_field(EDGES);
                return Err(Error::broken(&rules::FILE_COLUMNS, "nested edge rows have no edge_id to keep")
                    .at(place)
                    .hint("open the file without --keep-edge-id"));
            }
        }
        let mut shape = Shape::of(partitions.iter().map(|partition| &partition.layout))?;
        if !options.extra_columns {
            shape.extras.clear();
        }
        for partition in &partitions {
            for extra in shape.extras.iter().filter(|extra| has_no_place(&extra.data_type)) {
                if partition.layout.extras.contains(extra) {
                    let place = Place::file(&partition.name).in_field(&extra.name);
                    noticed.push(&rules::FILE_COLUMN_TYPE, no_place(extra), place);
                }
            }
        }
        for partition in &partitions {
            let edges = partition.layout.nested.iter().flat_map(|edges| &edges.indexes);
            for name in partition.layout.indexes.iter().chain(edges) {
                let message = format!("column {name:?} is treated as an index and not read");
                let place = Place::file(&partition.name);
                let place = if name.is_empty() { place } else { place.in_field(name) };
                noticed.push(&rules::FILE_INDEX, message, place);
            }
        }
        if partitions.windows(2).any(|pair| !pair[0].layout.is_like(&pair[1].layout)) {
            noticed.push(&rules::PART_SCHEMA, "partitions have different columns or types", Place::default());
        }
        let pieces: Vec<Piece> = partitions
            .iter()
            .enumerate()
            .flat_map(|(index, partition)| partition.pieces(index, options.piece_rows))
            .collect();
        let rows = partitions.iter().map(|partition| partition.rows).sum::<Option<u64>>();
        Position::check(pieces.len(), rows.unwrap_or_default())?;
        let mut nock = Nock {
            graph: Graph::default(),
            partitions,
            pieces,
            shape,
            options: options.clone(),
            is_directory,
            has_shadows: false,
            twins: Vec::new(),
            noticed,
            approved: OnceLock::new(),
            settled: OnceLock::new(),
            settling: Mutex::default(),
        };
        nock.has_shadows = nock.look_for_shadows(rows)?;
        nock.graph = graph(&nock, nock.settled());
        Ok(nock)
    }

    /// Returns whether nodes need a property for the owner of foreign nodes; settles the dataset if that is the only way to know.
    ///
    /// An invalid row does not prevent opening: reading and validation report the row. Any other error of
    /// reading does.
    fn look_for_shadows(&self, rows: Option<u64>) -> Result<bool> {
        let unresolved = || -> Result<Option<bool>> {
            Ok(unless_broken(self.settle())?.map(|settled| settled.unresolved_shadows > 0))
        };
        // Text has no statistics: it must be read completely, so it can as well be settled.
        if rows.is_none_or(|rows| rows <= self.options.settle_up_to)
            && let Some(unresolved) = unresolved()?
        {
            return Ok(unresolved);
        }
        let mut foreign = false;
        for partition in &self.partitions {
            foreign = foreign || unless_broken(partition.has_foreign_rows())?.unwrap_or(true);
        }
        Ok(foreign && (self.partitions.len() == 1 || unresolved()?.unwrap_or(true)))
    }

    /// Compares all names, once, and returns the result. Scans of nodes need it and call it themselves.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or a row is invalid.
    pub fn settle(&self) -> Result<&Settled> {
        self.settle_for(self.options.threads, &|_| Ok(()))
    }

    /// Compares all names on `threads` threads; `advance` is called with the number of processed rows and may stop the work.
    pub(crate) fn settle_for(&self, threads: usize, advance: &Advance<'_>) -> Result<&Settled> {
        if let Some(settled) = self.settled() {
            return Ok(settled);
        }
        // Concurrent callers wait, instead of doing the same work.
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(settled) = self.settled() {
            return Ok(settled);
        }
        let settled = self.compare_names(threads, advance)?;
        Ok(&self.settled.get_or_init(|| settled).0)
    }

    /// Returns the result if it is known already.
    pub(crate) fn settled(&self) -> Option<&Settled> {
        self.settled.get().map(|(settled, _)| settled)
    }

    /// Returns the columns of a piece that were decoded while names were compared, to the first caller.
    pub(crate) fn kept(&self, piece: usize, batch_rows: usize) -> Option<KeptPiece> {
        let (_, kept) = self.settled.get()?;
        // Callers with another batch size must get the same batches each time.
        kept.take(piece).filter(|_| batch_rows == BATCH_ROWS)
    }

    fn compare_names(&self, threads: usize, advance: &Advance<'_>) -> Result<(Settled, Kept)> {
        let partitions = self.pieces.iter().map(|piece| piece.partition).collect();
        let shards = Shards::new(&self.options.budget, self.options.scratch.clone(), partitions)?;
        let wanted = self.wanted(ColumnSet::of(&[Column::DstName, Column::Shadow]), false);
        let kept = Kept::new(self.pieces.len(), &self.options.budget);
        let found = side_by_side(self.pieces.len(), threads, |index| {
            let Some(piece) = self.pieces.get(index) else { return Err(Error::usage("piece not found")) };
            let mut collector = Collector::new(&shards, index);
            let partition = self.partition_of(index)?;
            let mut keeping = partition.can_go_without(piece).then(|| kept.begin()).flatten();
            for rows in partition.read(piece, None, &wanted)? {
                let rows = rows?;
                advance(rows.len as u64)?;
                collector.add(&rows).map_err(|error| error.at(Place::file(&partition.name)))?;
                kept.add(&mut keeping, &rows)?;
            }
            kept.put(index, keeping);
            collector.finish()
        })?;
        let partition = |piece: usize| self.pieces.get(piece).map_or(0, |piece| piece.partition);
        let reader = Reader {
            place_of: &|position| self.place_of(position),
            said_at: &|positions, keep| self.said_at(positions, keep, threads, advance),
        };
        let settled = resolve(&shards, &found, threads, &partition, &reader)?;
        Ok((settled, kept))
    }

    /// Returns what to read: some of the nine columns, and further ones.
    pub(crate) fn wanted(&self, columns: ColumnSet, extras: bool) -> Wanted<'_> {
        let extras = if extras { Extras::All } else { Extras::None };
        let OpenOptions { tolerance, keep_edge_id: stated_ids, .. } = self.options;
        let columns = if stated_ids { columns.with(Column::EdgeId) } else { columns };
        Wanted { columns, extras, stated_ids, batch_rows: BATCH_ROWS, shape: &self.shape, tolerance }
    }

    /// Rejects a further column for which the model has no type.
    ///
    /// # Errors
    /// Returns [`rules::FILE_COLUMN_TYPE`], with file and column.
    pub(crate) fn check_extras(&self) -> Result<()> {
        let Some(extra) = self.shape.extras.iter().find(|extra| has_no_place(&extra.data_type)) else { return Ok(()) };
        let holder = self.partitions.iter().find(|partition| partition.layout.extras.contains(extra));
        let place = holder.map_or_else(Place::default, |partition| Place::file(&partition.name));
        Err(Error::broken(&rules::FILE_COLUMN_TYPE, no_place(extra))
            .at(place.in_field(&extra.name))
            .hint("write the column as a list of structs, or as JSON text"))
    }

    pub(crate) fn partition_of(&self, piece: usize) -> Result<&Partition> {
        let partition = self.pieces.get(piece).and_then(|piece| self.partitions.get(piece.partition));
        partition.ok_or_else(|| Error::usage("piece not found"))
    }

    /// Returns the place of a row. In the nested layout, only its file is known.
    pub(crate) fn place_of(&self, position: Position) -> Place {
        let Ok(partition) = self.partition_of(position.piece()) else { return Place::default() };
        let place = Place::file(&partition.name);
        match self.pieces.get(position.piece()) {
            _ if partition.layout.nested.is_some() => place,
            Some(Piece { rows: Some(rows), .. }) => place.row(rows.start + position.row()),
            _ => place.row(position.row()),
        }
    }
}

/// Returns the message for a further column for which the model has no type.
fn no_place(extra: &Extra) -> String {
    format!("column {} has the type {}, which is not supported", extra.name, extra.data_type)
}

/// Returns the result of reading; `None` if the data is invalid, which is reported when it is read.
///
/// # Errors
/// Returns any other error: of the environment, a limit, an interruption.
pub(crate) fn unless_broken<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == Kind::Malformed => Ok(None),
        Err(error) => Err(error),
    }
}

/// Adds a finding for a missing column; a missing column that is essential is an error.
fn check_columns(partition: &Partition, tolerance: Tolerance, noticed: &mut Findings) -> Result<()> {
    for column in partition.layout.missing() {
        let place = Place::file(&partition.name).in_field(column.name());
        let message = format!("there is no column {column}");
        if column == Column::Truth && tolerance != Tolerance::Lenient {
            return Err(Error::broken(&rules::FILE_COLUMNS, message).at(place).hint("--lenient    read truth as 1.0"));
        }
        noticed.push(&rules::FILE_COLUMNS, message, place);
    }
    Ok(())
}
