//! Arguments of NOCK.

use isomorph::convert::{Format, OpenOptions, WriteOptions};
use isomorph::formats::graphar::info::FileType;
use isomorph::formats::nock;
use isomorph::{Error, Result};

use super::Arguments;
use crate::args::{OpenArgs, TargetArgs};

pub struct Nock;

impl Arguments for Nock {
    fn format(&self) -> Format {
        Format::NOCK
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        let options = options.get_mut::<nock::OpenOptions>();
        options.tolerance = match (args.strict, args.lenient) {
            (true, _) => nock::Tolerance::Strict,
            (_, true) => nock::Tolerance::Lenient,
            _ => nock::Tolerance::Normal,
        };
        options.keep_edge_id = args.keep_edge_id;
        Ok(())
    }

    fn writing(&self, args: &TargetArgs, destination: &str, _returns: bool, options: &mut WriteOptions) -> Result<()> {
        let options = options.get_mut::<nock::CreateOptions>();
        let by_name = destination.to_ascii_lowercase().ends_with(".csv").then_some(FileType::Csv);
        options.format = match args.file_type.or(by_name).unwrap_or(FileType::Parquet) {
            FileType::Parquet => nock::Format::Parquet,
            FileType::Csv => nock::Format::Csv,
            other => return Err(Error::usage(format!("NOCK is stored as Parquet or CSV, not as {other}"))),
        };
        if options.format == nock::Format::Csv && args.compression.is_some() {
            return Err(Error::usage("--compression applies to Parquet; the output is a text file"));
        }
        options.types = args.dialect.unwrap_or(options.types);
        options.truth_double = args.truth_double;
        options.nested_edges = args.nested_edges;
        options.props_map = args.props_map;
        options.sort = args.sort;
        options.compression = args.compression.unwrap_or(options.compression);
        options.partitions = args.partitions.map(|count| {
            let by = args.partition_by.clone().map_or(nock::By::Name, nock::By::Column);
            nock::Partitioning { count, by }
        });
        Ok(())
    }
}
