//! Operations on whole graphs in a transaction: files are shared, not copied, because records do not name their graph.

use isomorph_error::Result;

use super::change::gone;
use super::transaction::Transaction;
use super::work::{From, Work};

impl Transaction<'_> {
    /// Whether the snapshot that the transaction started from has the graph, with or without triples. The answer holds
    /// until the commit, which is refused if another writer changed the graph.
    ///
    /// # Errors
    /// As [`Transaction::create_graph`].
    pub fn has_graph(&mut self, name: Option<&str>) -> Result<bool> {
        let key = self.key(name)?;
        let there = self.has(&key);
        self.reads.insert((Some(key), None));
        Ok(there)
    }

    /// Creates a graph, if it does not exist. Graphs are named by IRIs or blank nodes; the default graph has no name.
    ///
    /// # Errors
    /// [`GRAPHLAKE-IRI`](crate::rules::IRI) if it cannot have that name;
    /// [`GRAPHLAKE-RESERVED`](crate::rules::RESERVED) for the graph of quoted triples, whose ids could no longer be
    /// resolved.
    pub fn create_graph(&mut self, name: Option<&str>) -> Result<()> {
        let key = self.own_key(name)?;
        let work = self.graphs.entry(key).or_default();
        (work.wanted, work.dropped) = (true, false);
        Ok(())
    }

    /// Drops a graph with all its triples, if it exists.
    ///
    /// # Errors
    /// As [`Transaction::create_graph`].
    pub fn drop_graph(&mut self, name: Option<&str>) -> Result<()> {
        let work = Work { from: From::Empty, dropped: true, ..Work::default() };
        self.graphs.insert(self.own_key(name)?, work);
        Ok(())
    }

    /// Deletes all triples of a graph; the graph itself remains, or is created.
    ///
    /// # Errors
    /// As [`Transaction::create_graph`].
    pub fn clear_graph(&mut self, name: Option<&str>) -> Result<()> {
        let work = Work { from: From::Empty, wanted: true, ..Work::default() };
        self.graphs.insert(self.own_key(name)?, work);
        Ok(())
    }

    /// Replaces the triples of `to` by those of `from`; `to` is created if it does not exist.
    ///
    /// # Errors
    /// [`Kind::NotFound`](isomorph_error::Kind::NotFound) if the graph `from` does not exist; as
    /// [`Transaction::create_graph`].
    pub fn copy_graph(&mut self, from: Option<&str>, to: Option<&str>) -> Result<()> {
        let (from, to) = (self.own_key(from)?, self.own_key(to)?);
        let there = match self.graphs.get(&from) {
            Some(work) => !work.dropped && (work.from != From::Own || work.wanted || self.has(&from)),
            None => self.has(&from),
        };
        if !there {
            return Err(gone(&from));
        }
        if from == to {
            return Ok(());
        }
        let mut work = self.graphs.get(&from).cloned().unwrap_or_default();
        if work.from == From::Own {
            // A graph that only this transaction creates has no files in any snapshot.
            work.from = if self.has(&from) { From::Copy(from) } else { From::Empty };
        }
        // Names of directories are for files that are written; a graph has its own id.
        (work.id, work.wanted) = (None, true);
        self.graphs.insert(to, work);
        Ok(())
    }

    /// Replaces the triples of `to` by those of `from`, and drops `from`.
    ///
    /// # Errors
    /// As [`Transaction::copy_graph`].
    pub fn move_graph(&mut self, from: Option<&str>, to: Option<&str>) -> Result<()> {
        self.copy_graph(from, to)?;
        if from == to { Ok(()) } else { self.drop_graph(from) }
    }

    fn has(&self, graph: &str) -> bool {
        self.base.snapshot.has(graph)
    }
}
