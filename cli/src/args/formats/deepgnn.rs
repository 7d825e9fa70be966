//! Arguments of DeepGNN.

use isomorph::convert::{Format, OpenOptions, WriteOptions};
use isomorph::formats::deepgnn;
use isomorph::{Error, Result};

use super::Arguments;
use crate::args::{OpenArgs, TargetArgs, file_place};

pub struct DeepGnn;

/// Returns the text format to write, or `None` for a binary.
fn text_at(args: &TargetArgs, destination: &str) -> Option<deepgnn::TextFormat> {
    args.text.or_else(|| deepgnn::TextFormat::of_name(destination))
}

impl Arguments for DeepGnn {
    fn format(&self) -> Format {
        Format::DEEPGNN
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        let options = options.get_mut::<deepgnn::OpenOptions>();
        options.format = args.text_format;
        options.defaults = args.defaults.as_deref().map(file_place).transpose()?;
        options.compat = args.compat.is_some();
        options.lenient = args.lenient;
        options.temporal = args.temporal;
        options.node_features = args.node_features.clone().unwrap_or_default();
        options.edge_features = args.edge_features.clone().unwrap_or_default();
        Ok(())
    }

    fn source(&self, args: &TargetArgs, destination: &str, options: &mut OpenOptions) {
        // A text that becomes a binary is read once.
        options.get_mut::<deepgnn::OpenOptions>().later = text_at(args, destination).is_none();
    }

    fn writing(&self, args: &TargetArgs, destination: &str, _returns: bool, options: &mut WriteOptions) -> Result<()> {
        let options = options.get_mut::<deepgnn::WriteOptions>();
        options.text = text_at(args, destination);
        let of_binary = [
            ("--dispatch", args.dispatch.is_some() && args.partitions.is_none()),
            ("--no-samplers", args.no_samplers),
            ("--watermark", args.watermark.is_some()),
        ];
        if let (Some(format), Some((flag, _))) = (options.text, of_binary.into_iter().find(|(_, given)| *given)) {
            return Err(Error::usage(format!("{flag} applies to binaries; the output is {format} text")));
        }
        if args.leave_out && !options.text.is_some_and(deepgnn::TextFormat::has_defaults) {
            return Err(Error::usage("--leave-out applies to Linear and EdgeList texts"));
        }
        (options.parts, options.leave_out) = (options.text.and(args.partitions), args.leave_out);
        let options = &mut options.binary;
        options.partitions = args.partitions.unwrap_or(options.partitions);
        options.dispatch = args.dispatch.unwrap_or_default();
        (options.node_samplers, options.edge_samplers) = (!args.no_samplers, !args.no_samplers);
        options.watermark = args.watermark;
        Ok(())
    }
}
