//! Arguments of tables, which are the same in every encoding.

use isomorph::Result;
use isomorph::convert::{Format, OpenOptions};
use isomorph::formats::flat;

use super::Arguments;
use crate::args::OpenArgs;

pub struct Flat(pub Format);

impl Arguments for Flat {
    fn format(&self) -> Format {
        self.0
    }

    fn opening(&self, args: &OpenArgs, options: &mut OpenOptions) -> Result<()> {
        options.get_mut::<flat::OpenOptions>().allow_outside = args.allow_outside;
        Ok(())
    }
}
