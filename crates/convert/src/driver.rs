//! What a format is to everything above it: an implementation of [`Driver`], and [`Format`], a handle of one.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use isomorph_bridges::Syntax;
use isomorph_error::{Error, Findings, Result, Rule};
use isomorph_model::capability::Capability;
use isomorph_model::faces::QuadSink;
use isomorph_model::{Graph, Sink, Source, Written};
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

/// How a format sees properties and types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Types with typed columns.
    Typed,
    /// One table of nodes and one of edges, with bags of properties.
    Bundled,
    /// Triples: resources, and what is said of them.
    Triples,
}

/// The flags of the command line that a format knows. Any other that belongs to formats is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// Those of reading.
    pub opening: &'static [&'static str],
    /// Those of writing.
    pub writing: &'static [&'static str],
    /// Those of both that tell the format where nothing else does: the names of its files may be any.
    pub telling: &'static [&'static str],
}

/// Why a result cannot go to standard output.
#[derive(Debug)]
pub enum Unprintable {
    /// It is not one text, and what to try.
    NoText(String, Vec<&'static str>),
    /// Nothing says which text it is.
    Untold(Error),
}

/// Fails for a text that cannot be written.
pub type TextCheck = Box<dyn Fn(&str) -> Result<()> + Send + Sync>;

/// A format that graphs are kept in.
///
/// What has a default is right for a format with node types, edge types and typed columns whose graphs are one file each. A
/// format of triples ([`Shape::Triples`]) gives [`Driver::quads`] instead of [`Driver::create`].
pub trait Driver: Send + Sync {
    /// The id that flags and sidecars use: small letters.
    fn id(&self) -> &'static str;

    /// The name that people use.
    fn name(&self) -> &'static str;

    /// How it sees properties and types.
    fn shape(&self) -> Shape {
        Shape::Typed
    }

    /// What a graph of this format can say.
    fn capability(&self) -> &'static Capability;

    /// The rules that `validate` checks.
    fn rules(&self) -> &'static [&'static Rule] {
        &[]
    }

    /// How its files are usually called, for a list of formats.
    fn usual_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// The flags of the command line that it knows.
    fn flags(&self) -> Flags {
        Flags::default()
    }

    // Places and names.

    /// Whether a graph of this format is at `location`, by a look at names and first bytes.
    ///
    /// # Errors
    /// When the place cannot be looked at.
    fn detect(&self, location: &Location) -> Result<bool>;

    /// Whether what was detected is a graph for certain: else the place may be a directory of several graphs.
    ///
    /// # Errors
    /// When the place cannot be looked at.
    fn is_certain(&self, _location: &Location) -> Result<bool> {
        Ok(true)
    }

    /// Whether everything in a directory belongs to a graph of this format, so that it may be replaced. `names` are what is in it.
    ///
    /// # Errors
    /// When the place cannot be looked at.
    fn fills(&self, directory: &Location, _names: &[&str]) -> Result<bool> {
        self.detect(directory)
    }

    /// Whether a graph is one file in whatever directory, which is then none of its parts.
    fn is_always_file(&self) -> bool {
        false
    }

    /// Whether a file may stand for the graph whose directory it lies in.
    fn is_named_by_file(&self) -> bool {
        false
    }

    /// Whether a place of this name, in small letters, is meant to be of this format.
    fn has_name(&self, _name: &str) -> bool {
        false
    }

    /// A name that tells of this format and begins with `stem`.
    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        format!("{stem}.{}", self.id())
    }

    /// What is written so and would not be known by `name`, and the ending that would tell it.
    fn untold(
        &self,
        _options: &WriteOptions,
        _name: &str,
        _formats: &Registry,
    ) -> Option<(&'static str, &'static str)> {
        None
    }

    // Reading.

    /// Opens a graph; nothing is read but metadata. What [`OpenOptions::resources`] says comes before options of the format.
    ///
    /// # Errors
    /// When the metadata is missing or not sound.
    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>>;

    /// Opens a graph of which nothing but neighbours of nodes will be asked, which are named by their keys.
    ///
    /// # Errors
    /// As [`Driver::open`].
    fn open_for_look_ups(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        self.open(location, options)
    }

    /// Makes `options` show all that files say that were written from `graph`.
    fn show(&self, _options: &mut OpenOptions, _graph: &Graph) {}

    /// Makes `options` those for a look at data with or without something beside it that is used.
    fn settle(&self, _options: &mut OpenOptions, _carried: bool) {}

    /// Makes `options` able to read data of which only the graph beside it, which `carried` reads, tells how.
    fn tell(&self, _options: &mut OpenOptions, _carried: &dyn Fn() -> Option<Graph>) {}

    /// Whether `options` read the data with other types than `kept`, the graph beside it.
    fn retypes(&self, _options: &OpenOptions, _kept: &Graph) -> bool {
        false
    }

    /// Whether `native` may be another graph than that which its sidecar was made for, though all files are as they were.
    fn reads_otherwise(&self, _native: &dyn Source, _options: &OpenOptions) -> bool {
        false
    }

    /// Makes `options` open a copy that is laid out like the data of `opened`, without what lies beside it.
    fn open_copy(&self, opened: &Opened, options: &mut OpenOptions) {
        options.own.clone_from(&opened.options.own);
    }

    /// Makes `options`, which open a copy, open the data of `opened` itself: the same version, the same part of it.
    fn open_again(&self, _opened: &Opened, _options: &mut OpenOptions) {}

    /// Makes `options` lay a graph out as the data of `opened` is, as far as that decides what it says.
    ///
    /// # Errors
    /// When the data cannot be looked at.
    fn lay_out_alike(&self, _opened: &Opened, _native: &dyn Source, _options: &mut WriteOptions) -> Result<()> {
        Ok(())
    }

    /// Files of the graph that no layout names: those that travel beside a result of another format, and those that are too large.
    fn unnamed_files(&self, _native: &dyn Source) -> [Vec<String>; 2] {
        Default::default()
    }

    /// What opening left out of the graph, one line each.
    fn left_out(&self, _native: &dyn Source) -> Vec<String> {
        Vec::new()
    }

    /// Versions of what is kept at the place of `opened` that were not opened.
    ///
    /// # Errors
    /// When these cannot be told.
    fn other_versions(&self, _opened: &Opened) -> Result<Option<Vec<i64>>> {
        Ok(None)
    }

    // What it holds.

    /// What it allows in names, where a graph without a schema is typed.
    fn name_rules(&self) -> NameRules {
        NameRules { legal: |_| true, reserved_prefix: "", key: "id" }
    }

    /// What it allows of a graph that is written as it is.
    fn allowed(&self) -> Allowed {
        Allowed::anything()
    }

    /// What a layout allows of a graph that has this format already, where that is less than all of it.
    fn allowed_in_layout(&self, _options: &WriteOptions) -> Option<Allowed> {
        None
    }

    /// Whether nodes of all types are told apart by their keys alone.
    fn knows_nodes_by_key(&self) -> bool {
        self.shape() != Shape::Typed
    }

    /// Whether types, nodes and properties are numbers: what has others is numbered then.
    fn has_numbers_only(&self) -> bool {
        false
    }

    /// What this layout does not hold of `graph`, whose parts are numbers, and why.
    ///
    /// # Errors
    /// When the graph has none of the format's shape.
    fn unheld(&self, _graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        Ok(Vec::new())
    }

    /// A check of each text, where this layout does not hold all of them.
    fn text_check(&self, _options: &WriteOptions) -> Option<TextCheck> {
        None
    }

    /// Whether a layout keeps the order of nodes.
    fn keeps_order(&self, _options: &WriteOptions) -> bool {
        true
    }

    /// Whether edges are written in the order of their ends.
    fn sorts_edges(&self) -> bool {
        true
    }

    /// In how many orders edges are written, for a guess of what that costs.
    fn edge_orders(&self, _options: &WriteOptions) -> u64 {
        1
    }

    /// What files of this layout do not declare of `graph`, which they hold as it is; a hint for plans.
    fn undeclared(&self, _graph: &Graph, _options: &WriteOptions) -> Option<&'static str> {
        None
    }

    // Layouts.

    /// What is written, in words, for a plan that has no line for each type.
    fn layout(&self, _options: &WriteOptions) -> String {
        self.name().to_owned()
    }

    /// Makes `options` a layout in which everything can be shown that the format holds.
    fn lay_out_all(&self, _options: &mut WriteOptions) {}

    /// Whether the result is a directory.
    fn is_directory(&self, _options: &WriteOptions) -> bool {
        false
    }

    /// How its files are encoded, where that is known beforehand.
    fn encoding(&self, _options: &WriteOptions) -> Option<String> {
        None
    }

    /// Whether a result that is one file is a text.
    fn is_text(&self, _options: &WriteOptions) -> bool {
        false
    }

    /// Whether the result is one text that standard output can hold.
    ///
    /// # Errors
    /// Why not.
    fn check_printed(&self, options: &WriteOptions) -> std::result::Result<(), Unprintable> {
        match self.is_directory(options) {
            false if self.is_text(options) => Ok(()),
            directory => Err(no_text(self.name(), directory)),
        }
    }

    /// Fails for a layout that cannot be.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] then.
    fn check_layout(&self, _options: &WriteOptions) -> Result<()> {
        Ok(())
    }

    /// What readers will hold against a layout, whatever the graph.
    fn cautions(&self, _options: &WriteOptions) -> Findings {
        Findings::default()
    }

    /// Makes `options` those for `graph` at a destination of this name, within `resources`.
    fn fit(&self, _options: &mut WriteOptions, _graph: &Graph, _name: &str, _resources: &Resources) {}

    // Conversions.

    /// A way into this format that needs no batches of the model, where there is one from `opened`.
    fn shortcut<'a>(&self, _opened: &'a Opened, _options: &WriteOptions) -> Option<Box<dyn Shortcut + 'a>> {
        None
    }

    /// The syntax of a text of triples; nothing for other formats.
    ///
    /// # Errors
    /// When nothing says it.
    fn syntax(&self, _destination: &Location, _options: &WriteOptions) -> Result<Option<Syntax>> {
        Ok(None)
    }

    /// Says in the plan how a graph is laid out that has this format already, and what does not come back.
    ///
    /// # Errors
    /// When something would not come back, and that was not asked for.
    fn describe(&self, _plan: &mut Plan, _graph: &Graph, _options: &ConvertOptions) -> Result<()> {
        Ok(())
    }

    /// Makes `options` those of this conversion.
    ///
    /// # Errors
    /// When what the source has for that cannot be read.
    fn prepare(&self, _options: &mut WriteOptions, _job: &Job<'_>) -> Result<()> {
        Ok(())
    }

    /// A writer of `graph` into `staging`.
    ///
    /// # Errors
    /// When the graph is not of the format's shape, or files cannot be begun.
    fn create<'a>(&self, _staging: &'a Staging, _graph: &Graph, _options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        Err(Error::usage(format!("{} is not written as nodes and edges", self.name())))
    }

    /// What stands before a writer of `graph`.
    fn before<'a>(&self, sink: Box<dyn Sink + 'a>, _graph: &Graph) -> Box<dyn Sink + 'a> {
        sink
    }

    /// A writer of quads into `staging`.
    ///
    /// # Errors
    /// When the format is none of triples, or files cannot be begun.
    fn quads<'a>(&self, _staging: &'a Staging, _job: &Job<'_>) -> Result<Box<dyn QuadSink + 'a>> {
        Err(Error::usage(format!("{} is not written as quads", self.name())))
    }

    /// The files that make the others a graph, in the order in which they become visible: published last.
    fn manifests<'a>(&self, _written: &'a Written) -> Vec<&'a str> {
        Vec::new()
    }

    // The proof.

    /// Makes `options` open what was written as `write` says, whose name tells nothing before it is published.
    ///
    /// # Errors
    /// When nothing says what it is.
    fn open_written(&self, _options: &mut OpenOptions, _write: &WriteOptions, _job: &Job<'_>) -> Result<()> {
        Ok(())
    }

    /// Whether anybody can open these files of `graph` without a sidecar, and sees all of them.
    fn opens_alone(&self, _graph: &Graph, _options: &WriteOptions, _files: &[String]) -> bool {
        true
    }

    /// Whether what was opened with `before` is what `now` opens, where `kept` is the graph that travels beside it.
    fn opens_alike(&self, _before: &OpenOptions, _now: &OpenOptions, _kept: Option<&Graph>) -> bool {
        true
    }

    /// What was written by `mapping`, read as that alone can be: once.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read_once(
        &self,
        _location: &Location,
        _options: &OpenOptions,
        _mapping: &Mapping,
        _progress: &dyn Progress,
    ) -> Result<Option<Arc<dyn Source>>> {
        Ok(None)
    }

    /// What no digest sees and is otherwise in `found`, which was read back.
    fn differs(&self, _found: &Graph, _options: &WriteOptions, _job: &Job<'_>) -> Option<&'static str> {
        None
    }
}

/// Why what is no text cannot be printed.
pub(crate) fn no_text(name: &str, directory: bool) -> Unprintable {
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

/// A format: a handle of its driver. Two are equal when their ids are.
#[derive(Clone, Copy)]
pub struct Format(&'static dyn Driver);

impl Format {
    /// The format of `driver`.
    pub const fn new(driver: &'static dyn Driver) -> Self {
        Format(driver)
    }

    /// Whether it has one node type and one edge type with typed attributes: graphs of several types become one there.
    pub(crate) fn has_one_type(self) -> bool {
        self.shape() == Shape::Typed && !self.capability().node_types
    }

    /// Whether it has types of nodes with typed columns.
    pub(crate) fn has_types(self) -> bool {
        self.shape() == Shape::Typed && self.capability().node_types
    }

    /// Whether the nodes of all types are numbered in one go.
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
