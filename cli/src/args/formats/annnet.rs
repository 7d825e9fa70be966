//! Arguments of annnet.

use isomorph::convert::{Format, WriteOptions};
use isomorph::formats::annnet;
use isomorph::formats::graphar::info::FileType;
use isomorph::{Error, Result};

use super::Arguments;
use crate::args::TargetArgs;

pub struct Annnet;

impl Arguments for Annnet {
    fn format(&self) -> Format {
        Format::ANNNET
    }

    fn writing(&self, args: &TargetArgs, destination: &str, _returns: bool, options: &mut WriteOptions) -> Result<()> {
        if let Some(other) = args.file_type.filter(|file_type| *file_type != FileType::Parquet) {
            return Err(Error::usage(format!("annnet stores Parquet files, not {other}")));
        }
        let options = options.get_mut::<annnet::WriteOptions>();
        options.layout = args.layout.unwrap_or_default();
        options.matrix = args.matrix;
        options.cache = args.cache;
        options.archive = destination.to_ascii_lowercase().ends_with(".annnet");
        options.compression = args.compression.unwrap_or(options.compression);
        Ok(())
    }
}
