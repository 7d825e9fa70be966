//! Arguments of RDF texts.

use isomorph::Result;
use isomorph::convert::{Format, OpenOptions, RdfOptions, WriteOptions};
use isomorph::formats::rdf;

use super::Arguments;
use crate::args::{OpenArgs, TargetArgs};

pub struct Rdf;

impl Arguments for Rdf {
    fn format(&self) -> Format {
        Format::RDF
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        let options = options.get_mut::<rdf::OpenOptions>();
        options.syntax = args.syntax;
        options.read.base.clone_from(&args.base);
        options.read.lenient = args.lenient;
        Ok(())
    }

    fn writing(&self, args: &TargetArgs, _destination: &str, _returns: bool, options: &mut WriteOptions) -> Result<()> {
        options.get_mut::<RdfOptions>().syntax = args.to_syntax;
        Ok(())
    }
}
