//! [`Driver`], the trait that a format implements, and [`Format`], a handle to an implementation.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use isomorph_error::{Error, Finding, Findings, Result};
use isomorph_model::capability::Capability;
use isomorph_model::faces::QuadSink;
use isomorph_model::{Graph, Sink, Source, Written};
use isomorph_rdf::Syntax;
use isomorph_storage::{Location, Resources, Staging};
use serde::{Serialize, Serializer};

use crate::conversion::Job;
use crate::mapping::{Allowed, Mapping, NameRules};
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::options::{OpenOptions, WriteOptions};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::registry::Registry;
use crate::shortcut::Shortcut;
use crate::traits::{Shape, Traits};

/// Why output cannot be written to standard output.
#[derive(Debug)]
pub enum Unprintable {
    /// It is not one text file; the reason, and an alternative.
    NoText(String, Vec<&'static str>),
    /// The kind of text is not specified.
    Untold(Error),
}

/// Fails for a text that cannot be stored.
pub type TextCheck = Box<dyn Fn(&str) -> Result<()> + Send + Sync>;

/// A storage format for graphs.
///
/// The defaults suit a format with node types, edge types and typed columns that stores a graph in one file. Such a format implements
/// `id`, `name`, `capability`, `detect`, `open` and `create`. A format of triples ([`Shape::Triples`]) implements [`Driver::quads`]
/// instead of [`Driver::create`]. `docs/drivers.md` explains each step with an example.
pub trait Driver: Send + Sync {
    /// The id in flags, JSON output and sidecars; lower case.
    fn id(&self) -> &'static str;

    /// The name for display.
    fn name(&self) -> &'static str;

    /// How it models properties and types.
    fn shape(&self) -> Shape {
        Shape::Typed
    }

    /// What a graph of this format can store.
    fn capability(&self) -> &'static Capability;

    /// What holds for it in every layout.
    fn traits(&self) -> Traits {
        Traits::of(self.shape())
    }

    // Detection and file names.

    /// Whether `location` holds a graph of this format, judged by names and first bytes.
    ///
    /// # Errors
    /// If the location cannot be read. A location where nothing exists is [`isomorph_error::Kind::NotFound`].
    fn detect(&self, location: &Location) -> Result<bool>;

    /// Whether a detected directory is certainly one graph. If not, and it also contains graphs of other formats, it is
    /// reported as a directory of several graphs.
    ///
    /// # Errors
    /// If the location cannot be read.
    fn is_conclusive(&self, _location: &Location) -> Result<bool> {
        Ok(true)
    }

    /// The files of a detected directory that are parts of one graph of this format, although alone they would be graphs of others.
    ///
    /// # Errors
    /// If the location cannot be read.
    fn parts(&self, _directory: &Location) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Whether every file in a directory belongs to a graph of this format, so that `--replace` may remove it. `names` lists
    /// the directory.
    ///
    /// # Errors
    /// If the directory cannot be read.
    fn owns_directory(&self, directory: &Location, _names: &[&str]) -> Result<bool> {
        self.detect(directory)
    }

    /// Whether a file name, in lower case, suggests this format.
    fn matches_name(&self, _name: &str) -> bool {
        false
    }

    /// Whether a file of this name stands for the directory that contains it, as the information file of GraphAr does. The sidecar
    /// is then stored in that directory.
    fn stands_for_directory(&self, _name: &str) -> bool {
        false
    }

    /// What to say of a location that no format recognises, if this format explains best what it lacks.
    fn unrecognised(&self, _location: &Location) -> Option<Error> {
        None
    }

    /// A file name for this format that starts with `stem`.
    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        format!("{stem}.{}", self.id())
    }

    /// For output that is recognised only by its name: what is written and the extension that `name` lacks.
    fn missing_extension(
        &self,
        _options: &WriteOptions,
        _name: &str,
        _formats: &Registry,
    ) -> Option<(&'static str, &'static str)> {
        None
    }

    // Reading.

    /// Opens a graph and reads only metadata. [`OpenOptions::resources`], if set, takes precedence over budgets and threads
    /// in the format's own options.
    ///
    /// # Errors
    /// If the metadata is missing or invalid.
    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>>;

    /// Opens a graph for neighbour look-ups by key only, if that is cheaper.
    ///
    /// # Errors
    /// As [`Driver::open`].
    fn open_for_lookups(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        self.open(location, options)
    }

    /// The option that tells which graph the files hold, for a format whose files do not state types and columns.
    fn shown<'o>(&self, _options: &'o mut OpenOptions) -> Option<&'o mut Option<Graph>> {
        None
    }

    /// Sets the options needed to read everything back from files that were written from `graph`.
    fn show_all_of(&self, options: &mut OpenOptions, graph: &Graph) {
        self.shown(options).into_iter().for_each(|shown| *shown = Some(graph.clone()));
    }

    /// Adjusts options just before opening. `carried` tells whether a sidecar is used.
    fn finish_options(&self, _options: &mut OpenOptions, _carried: bool) {}

    /// Sets options without which the files cannot be read and that only the sidecar knows. `carried` reads the graph
    /// description from the sidecar.
    fn options_from_sidecar(&self, options: &mut OpenOptions, carried: &dyn Fn() -> Option<Graph>) {
        self.shown(options).into_iter().for_each(|shown| *shown = carried());
    }

    /// Whether these options read the data with other types than `kept`, the graph in the sidecar. The sidecar is then not used.
    fn changes_types(&self, _options: &OpenOptions, _kept: &Graph) -> bool {
        false
    }

    /// Whether `native` may be another graph than the sidecar describes although no file has changed: an older version,
    /// or options that change the meaning of the data.
    fn may_differ_from_sidecar(&self, _native: &dyn Source, _options: &OpenOptions) -> bool {
        false
    }

    /// Sets the options to open a copy of the data of `opened` without its sidecar. The default is the options that `opened` was
    /// opened with.
    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        options.own.clone_from(&opened.options.own);
    }

    /// Extends the options of [`Driver::copy_options`] so that they open the data of `opened` itself: the same version and the
    /// same part of it.
    fn reopen_options(&self, _opened: &Opened, _options: &mut OpenOptions) {}

    /// Sets the layout of the data of `opened`, as far as it affects what can be stored.
    ///
    /// # Errors
    /// If the data cannot be read.
    fn same_layout(&self, _opened: &Opened, _native: &dyn Source, _options: &mut WriteOptions) -> Result<()> {
        Ok(())
    }

    /// Files of the graph that no layout of the format describes: those that go into a sidecar, and those that are too large for it.
    fn extra_files(&self, _native: &dyn Source) -> [Vec<String>; 2] {
        Default::default()
    }

    /// What was recognised in files whose content has to be guessed, and why: subject and fact of each line at the top
    /// of plans.
    fn recognised(&self, _native: &dyn Source) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Sets the options by which opening finds every wrong row, if validation would have to open the data again for that. Returns whether it
    /// would.
    fn finds_wrong_rows(&self, _options: &mut OpenOptions) -> bool {
        false
    }

    /// Rows that opening set aside because they are wrong, as `--lenient` asks.
    fn set_aside<'a>(&self, _native: &'a dyn Source) -> &'a [Finding] {
        &[]
    }

    /// Whether the graph was made of one table, which can also be asked as a table that is no graph.
    fn is_table_alone(&self, _native: &dyn Source) -> bool {
        false
    }

    /// What opening dropped, one line each.
    fn dropped_on_open(&self, _native: &dyn Source) -> Vec<String> {
        Vec::new()
    }

    /// What the files have that opening has counted but not read, and why it is not there: converting loses it.
    fn unread(&self, _native: &dyn Source) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Other versions stored at the location of `opened`.
    ///
    /// # Errors
    /// If they cannot be listed.
    fn unread_versions(&self, _opened: &Opened) -> Result<Option<Vec<i64>>> {
        Ok(None)
    }

    // What can be stored.

    /// Rules for names when a graph without a schema is typed.
    fn name_rules(&self) -> NameRules {
        NameRules { legal: |_| true, reserved_prefix: "", key: self.traits().key }
    }

    /// The names and types that can be stored unchanged.
    fn allowed(&self) -> Allowed {
        Allowed::anything()
    }

    /// The same for a graph that already has this format, if a layout can store less than the format.
    fn allowed_in_layout(&self, _options: &WriteOptions) -> Option<Allowed> {
        None
    }

    /// What this layout cannot store of `graph`, and why.
    ///
    /// # Errors
    /// If the graph does not have the shape of the format.
    fn not_stored(&self, _graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    /// What readers of the output find changed in `graph`, the graph that is written, by subject: plans list it, and it is lost without the
    /// sidecar.
    fn altered(&self, _opened: &Opened, _graph: &Graph) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What else is to be known of the written `graph`, by subject: plans list it.
    fn remarks(&self, _graph: &Graph) -> Vec<(String, String)> {
        Vec::new()
    }

    /// What is written of `graph`, with the same types: without the properties, labels and directions that the format does not store. These go
    /// into tables of the sidecar, see `mapping::detached`.
    fn stored(&self, graph: &Graph) -> Graph {
        graph.clone()
    }

    /// A check for every text value, if the layout cannot store all of them.
    fn text_check(&self, _options: &WriteOptions) -> Option<TextCheck> {
        None
    }

    /// Whether the layout keeps the order of nodes.
    fn keeps_order(&self, _options: &WriteOptions) -> bool {
        true
    }

    /// The number of orders in which edges are sorted, for the cost estimate.
    fn edge_orders(&self, _options: &WriteOptions) -> u64 {
        1
    }

    /// What files of this layout do not declare although they store it, if anything.
    fn undeclared(&self, _graph: &Graph, _options: &WriteOptions) -> Option<&'static str> {
        None
    }

    // Layouts.

    /// The command that loads the output for `graph` into a database, if the format is for one: plans print it.
    /// `destination` is the name of the output.
    fn loaded_by(&self, _graph: &Graph, _destination: &str) -> Option<String> {
        None
    }

    /// The description of the layout, for plans without a line for each type.
    fn layout(&self, _options: &WriteOptions) -> String {
        self.name().to_owned()
    }

    /// Chooses the layout that can show the most, for `diff --as`.
    fn layout_without_loss(&self, _options: &mut WriteOptions) {}

    /// Whether the output is a directory.
    fn is_directory(&self, _options: &WriteOptions) -> bool {
        false
    }

    /// The encoding of the files, if it is known before the conversion.
    fn encoding(&self, _options: &WriteOptions) -> Option<String> {
        None
    }

    /// Whether output that is one file is text.
    fn is_text(&self, _options: &WriteOptions) -> bool {
        false
    }

    /// Checks that the output can be written to standard output.
    ///
    /// # Errors
    /// The reason why it cannot.
    fn check_stdout(&self, options: &WriteOptions) -> std::result::Result<(), Unprintable> {
        match self.is_directory(options) {
            false if self.is_text(options) => Ok(()),
            directory => Err(not_text(self.name(), directory)),
        }
    }

    /// Checks options that exclude each other.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`].
    fn check_layout(&self, _options: &WriteOptions) -> Result<()> {
        Ok(())
    }

    /// Warnings about a layout that other readers do not support.
    fn cautions(&self, _options: &WriteOptions) -> Findings {
        Findings::default()
    }

    /// Completes the options for `graph` and a destination with this file name.
    fn fit(&self, _options: &mut WriteOptions, _graph: &Graph, _name: &str, _resources: &Resources) {}

    // Conversions.

    /// A conversion into this format that does not need batches of the model, if `opened` allows one.
    fn shortcut<'a>(&self, _opened: &'a Opened, _options: &WriteOptions) -> Option<Box<dyn Shortcut + 'a>> {
        None
    }

    /// The syntax of an RDF text; `None` for every other format.
    ///
    /// # Errors
    /// If the syntax is not specified.
    fn syntax(&self, _destination: &Location, _options: &WriteOptions) -> Result<Option<Syntax>> {
        Ok(None)
    }

    /// Adds lines to the plan about the layout and about what is lost, for a graph that already has this format.
    ///
    /// # Errors
    /// If something would be lost and `--lossy` was not given.
    fn describe(&self, _plan: &mut Plan, _graph: &Graph, _options: &ConvertOptions) -> Result<()> {
        Ok(())
    }

    /// Completes the options for one conversion.
    ///
    /// # Errors
    /// If the input cannot be read.
    fn prepare(&self, _options: &mut WriteOptions, _job: &Job<'_>) -> Result<()> {
        Ok(())
    }

    /// A writer for a graph of nodes and edges.
    ///
    /// # Errors
    /// If the graph cannot be stored, or a file cannot be created.
    fn create<'a>(&self, _staging: &'a Staging, _graph: &Graph, _options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        Err(Error::usage(format!("{} cannot be written as nodes and edges", self.name())))
    }

    /// Wraps the writer of `graph`, for checks on rows.
    fn wrap_sink<'a>(&self, sink: Box<dyn Sink + 'a>, _graph: &Graph) -> Box<dyn Sink + 'a> {
        sink
    }

    /// A writer for RDF.
    ///
    /// # Errors
    /// If the format does not store RDF, or a file cannot be created.
    fn quads<'a>(&self, _staging: &'a Staging, _job: &Job<'_>) -> Result<Box<dyn QuadSink + 'a>> {
        Err(Error::usage(format!("{} cannot be written as quads", self.name())))
    }

    /// The files that make the output visible as a graph. They are published last, in this order.
    fn manifests<'a>(&self, _written: &'a Written) -> Vec<&'a str> {
        Vec::new()
    }

    // Verification.

    /// Sets the options to open output before it is published, when its file name is a temporary one.
    ///
    /// # Errors
    /// If the layout is not specified.
    fn written_options(&self, _options: &mut OpenOptions, _write: &WriteOptions, _job: &Job<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether the files of `graph` can be opened, and show everything, without a sidecar.
    fn needs_no_sidecar(&self, _graph: &Graph, _options: &WriteOptions, _files: &[String]) -> bool {
        true
    }

    /// Whether both options open the same graph. `kept` is the graph in the sidecar.
    fn opens_the_same(&self, _before: &OpenOptions, _now: &OpenOptions, _kept: Option<&Graph>) -> bool {
        true
    }

    /// Opens output of `mapping` for one pass, if that is cheaper than [`Driver::open`].
    ///
    /// # Errors
    /// If it cannot be read.
    fn open_single_pass(
        &self,
        _location: &Location,
        _options: &OpenOptions,
        _mapping: &Mapping,
        _progress: &dyn Progress,
    ) -> Result<Option<Arc<dyn Source>>> {
        Ok(None)
    }

    /// A difference between input and `found`, the output, that digests do not cover.
    fn hidden_difference(&self, _found: &Graph, _options: &WriteOptions, _job: &Job<'_>) -> Option<&'static str> {
        None
    }
}

/// The error for output that is not one text file.
pub(crate) fn not_text(name: &str, directory: bool) -> Unprintable {
    match directory {
        true => Unprintable::NoText(
            format!("{name} is written as a directory, which standard output cannot hold"),
            vec!["name a directory    instead of -"],
        ),
        false => Unprintable::NoText(
            format!("{name} is binary, and its readers need a file"),
            vec!["name a file    instead of -"],
        ),
    }
}

/// A handle to the driver of a format. Two handles are equal if their ids are.
#[derive(Clone, Copy)]
pub struct Format(&'static dyn Driver);

impl Format {
    /// The handle of `driver`.
    pub const fn new(driver: &'static dyn Driver) -> Self {
        Format(driver)
    }

    /// Whether it has typed columns but only one node type: several types are merged into one when they are written.
    pub(crate) fn has_one_type(self) -> bool {
        self.shape() == Shape::Typed && !self.capability().node_types
    }

    /// Whether it has node types with typed columns.
    pub(crate) fn has_types(self) -> bool {
        self.shape() == Shape::Typed && self.capability().node_types
    }

    /// Whether all nodes share one table, so that the number of nodes of each type must be known.
    pub fn numbers_all_nodes(self) -> bool {
        self.shape() == Shape::Bundled || self.has_one_type()
    }
}

impl Deref for Format {
    type Target = dyn Driver;

    fn deref(&self) -> &'static (dyn Driver + 'static) {
        self.0
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Format {}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}
