#![doc = include_str!("../README.md")]
// A fuzz target reports by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod annnet;
mod annnet_parts;
mod deepgnn;
mod deepgnn_sidecar;
mod filter;
mod graph;
mod graphar;
mod graphlake;
mod home;
mod inout;
mod json;
mod mutate;
mod names;
mod nock;
mod rdf;
mod rdf_lines;
mod redo;
mod sampling;
#[cfg(feature = "serve")]
mod serve;
mod sidecar;
mod tables;
mod workbook;
mod yml;

pub use mutate::{Mutator, Random};

/// One target: a parser, and properties that must hold for any bytes.
pub struct Target {
    /// Its name: the folder of its corpus, and the argument of `cargo xtask fuzz`.
    pub name: &'static str,
    /// Panics if a property does not hold.
    pub check: fn(&[u8]),
    /// Valid inputs from our own writers, as seeds.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Typical parts of its inputs, for mutations.
    pub words: &'static [&'static str],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target { name: "annnet_archive", check: annnet::check_archive, seeds: annnet::archive_seeds, words: &[] },
    Target {
        name: "annnet_checksum",
        check: annnet_parts::check_list,
        seeds: annnet_parts::list_seeds,
        words: annnet_parts::LIST_WORDS,
    },
    Target { name: "annnet_json", check: annnet::check_json, seeds: annnet::json_seeds, words: annnet::JSON_WORDS },
    Target {
        name: "annnet_members",
        check: annnet::check_members,
        seeds: annnet::member_seeds,
        words: annnet::MEMBER_WORDS,
    },
    Target { name: "annnet_table", check: annnet::check_table, seeds: annnet::table_seeds, words: &[] },
    Target {
        name: "annnet_zarr",
        check: annnet_parts::check_zarr,
        seeds: annnet_parts::zarr_seeds,
        words: annnet_parts::ZARR_WORDS,
    },
    Target { name: "apoc", check: inout::check_apoc, seeds: inout::apoc_seeds, words: inout::APOC_WORDS },
    Target { name: "csv", check: tables::check_csv, seeds: tables::csv_seeds, words: tables::CSV_WORDS },
    Target {
        name: "cypher_script",
        check: inout::check_cypher,
        seeds: inout::cypher_seeds,
        words: inout::CYPHER_WORDS,
    },
    Target { name: "deepgnn_beside", check: deepgnn_sidecar::check, seeds: deepgnn_sidecar::seeds, words: &[] },
    Target { name: "deepgnn_binary", check: deepgnn::check_binary, seeds: deepgnn::binary_seeds, words: &[] },
    Target { name: "deepgnn_text", check: deepgnn::check_text, seeds: deepgnn::text_seeds, words: deepgnn::WORDS },
    Target { name: "edge_list", check: inout::check_list, seeds: inout::list_seeds, words: inout::LIST_WORDS },
    Target { name: "filter", check: filter::check, seeds: filter::seeds, words: filter::WORDS },
    Target { name: "gexf", check: inout::check_gexf, seeds: inout::gexf_seeds, words: inout::GEXF_WORDS },
    Target { name: "gml", check: inout::check_gml, seeds: inout::gml_seeds, words: inout::GML_WORDS },
    Target { name: "graphar_chunk", check: graphar::check_chunk, seeds: graphar::chunk_seeds, words: graphar::WORDS },
    Target { name: "graphar_count", check: graphar::check_count, seeds: graphar::count_seeds, words: &[] },
    Target {
        name: "graphar_offset",
        check: graphar::check_offset,
        seeds: graphar::offset_seeds,
        words: graphar::WORDS,
    },
    Target { name: "graphar_yml", check: yml::check, seeds: yml::seeds, words: yml::WORDS },
    Target {
        name: "graphlake_json",
        check: graphlake::check_json,
        seeds: graphlake::json_seeds,
        words: graphlake::JSON_WORDS,
    },
    Target { name: "graphlake_records", check: graphlake::check_records, seeds: graphlake::record_seeds, words: &[] },
    Target { name: "graphml", check: inout::check_xml, seeds: inout::xml_seeds, words: inout::XML_WORDS },
    Target { name: "json", check: json::check, seeds: json::seeds, words: json::WORDS },
    Target { name: "json_lines", check: tables::check_json, seeds: tables::json_seeds, words: tables::JSON_WORDS },
    Target { name: "location", check: names::check_location, seeds: names::location_seeds, words: names::PLACES },
    Target { name: "nock_csv", check: nock::check_csv, seeds: nock::csv_seeds, words: nock::WORDS },
    Target { name: "nock_parquet", check: nock::check_parquet, seeds: nock::parquet_seeds, words: &[] },
    Target {
        name: "node_link",
        check: inout::check_node_link,
        seeds: inout::node_link_seeds,
        words: inout::NODE_LINK_WORDS,
    },
    Target {
        name: "notation",
        check: inout::check_notation,
        seeds: inout::notation_seeds,
        words: inout::NOTATION_WORDS,
    },
    Target { name: "orc", check: tables::check_orc, seeds: tables::orc_seeds, words: &[] },
    Target { name: "parquet", check: tables::check_parquet, seeds: tables::parquet_seeds, words: &[] },
    Target { name: "psl_atoms", check: inout::check_atoms, seeds: inout::atom_seeds, words: inout::ATOM_WORDS },
    Target { name: "rdf", check: rdf::check, seeds: rdf::seeds, words: rdf::WORDS },
    Target { name: "rdf_lines", check: rdf_lines::check, seeds: rdf_lines::seeds, words: rdf_lines::WORDS },
    Target { name: "redo", check: redo::check, seeds: redo::seeds, words: redo::WORDS },
    Target { name: "sampling", check: sampling::check, seeds: sampling::seeds, words: &[] },
    #[cfg(feature = "serve")]
    Target { name: "serve", check: serve::check, seeds: serve::seeds, words: &[] },
    Target { name: "sidecar", check: sidecar::check, seeds: sidecar::seeds, words: sidecar::WORDS },
    Target { name: "size", check: names::check_size, seeds: names::size_seeds, words: names::UNITS },
    Target { name: "type_name", check: names::check_type, seeds: names::type_seeds, words: names::TYPES },
    Target { name: "workbook", check: workbook::check_file, seeds: workbook::file_seeds, words: workbook::WORDS },
    Target {
        name: "workbook_content",
        check: workbook::check_content,
        seeds: workbook::content_seeds,
        words: workbook::CONTENT_WORDS,
    },
    Target {
        name: "workbook_sheet",
        check: workbook::check_sheet,
        seeds: workbook::sheet_seeds,
        words: workbook::SHEET_WORDS,
    },
];

/// The target called `name`.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
