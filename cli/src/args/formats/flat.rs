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
        let own = options.get_mut::<flat::OpenOptions>();
        (own.allow_outside, own.lenient) = (args.allow_outside, args.lenient);
        Ok(())
    }
}
