#![doc = include_str!("../README.md")]

#[cfg(feature = "convert")]
pub use isomorph_algorithms as algorithms;
#[cfg(feature = "convert")]
pub use isomorph_convert as convert;
pub use isomorph_dataset as dataset;
pub use isomorph_error as error;
pub use isomorph_model as model;
#[cfg(any(feature = "cloud", feature = "hdfs"))]
pub use isomorph_network as network;
#[cfg(feature = "sampling")]
pub use isomorph_sampling as sampling;
pub use isomorph_storage as storage;
pub use isomorph_tables as tables;

/// The formats, one module each: opening, writing, rules and layouts of a single format.
pub mod formats {
    #[cfg(feature = "annnet")]
    pub use isomorph_annnet as annnet;
    #[cfg(feature = "deepgnn")]
    pub use isomorph_deepgnn as deepgnn;
    #[cfg(feature = "edgelist")]
    pub use isomorph_edgelist as edgelist;
    #[cfg(feature = "flat")]
    pub use isomorph_flat as flat;
    #[cfg(feature = "graphar")]
    pub use isomorph_graphar as graphar;
    #[cfg(feature = "graphfile")]
    pub use isomorph_graphfile as graphfile;
    #[cfg(feature = "graphlake")]
    pub use isomorph_graphlake as graphlake;
    #[cfg(feature = "graphml")]
    pub use isomorph_graphml as graphml;
    #[cfg(feature = "neo4j")]
    pub use isomorph_neo4j as neo4j;
    #[cfg(feature = "nock")]
    pub use isomorph_nock as nock;
    #[cfg(feature = "psl")]
    pub use isomorph_psl as psl;
    #[cfg(feature = "rdf")]
    pub use isomorph_rdf as rdf;
}

/// Makes the URLs that this build opens (features `cloud` and `hdfs`) known to the whole process. `open` and `Graph::open` call
/// it; programs that use [`formats`], [`storage`] or `convert` directly call it once. Without these features it does nothing.
pub fn install_network() {
    #[cfg(any(feature = "cloud", feature = "hdfs"))]
    isomorph_network::install();
}

#[cfg(feature = "convert")]
mod graph;
#[cfg(feature = "convert")]
pub use graph::{Graph, open};
#[cfg(feature = "convert")]
mod measured;
#[cfg(all(feature = "convert", feature = "sampling"))]
mod sampled;
pub use isomorph_dataset::{Dataset, Sample, Selection, Table, parse_condition, parse_predicate};
pub use isomorph_error::{Error, Kind, Result, did_you_mean};
pub use isomorph_model::Predicate;
pub use isomorph_storage::Location;
#[cfg(all(feature = "convert", feature = "sampling"))]
pub use sampled::{Sampled, SampledOptions};
