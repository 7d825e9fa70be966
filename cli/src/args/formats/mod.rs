//! What the arguments mean to each format. Which of them a format knows, its driver says; a format that is not here has no options of
//! its own.

mod annnet;
mod deepgnn;
mod graphar;
mod graphlake;
mod nock;
mod rdf;

use isomorph::Result;
use isomorph::convert::{Flags, Format, OpenOptions, Registry, WriteOptions};

use super::{OpenArgs, SelectArgs, TargetArgs};

/// The arguments of one format.
pub trait Arguments: Sync {
    /// The format.
    fn format(&self) -> Format;

    /// Says in `options` how a graph is opened.
    ///
    /// # Errors
    /// When an argument makes no sense.
    fn opening(&self, _args: &OpenArgs, _select: &SelectArgs, _options: &mut OpenOptions) -> Result<()> {
        Ok(())
    }

    /// Says in `options` how the graph is opened that will be written to a place called `destination`.
    fn source(&self, _args: &TargetArgs, _destination: &str, _options: &mut OpenOptions) {}

    /// Says in `options` how a graph is laid out at a place called `destination`. `returns` says that it comes back to its own format.
    ///
    /// # Errors
    /// When an argument makes no sense, or does not fit the destination's name.
    fn writing(
        &self,
        _args: &TargetArgs,
        _destination: &str,
        _returns: bool,
        _options: &mut WriteOptions,
    ) -> Result<()> {
        Ok(())
    }
}

static ALL: [&dyn Arguments; 6] =
    [&graphar::GraphAr, &nock::Nock, &annnet::Annnet, &deepgnn::DeepGnn, &graphlake::GraphLake, &rdf::Rdf];

/// The arguments of `format`; those of all formats where it is not known yet.
pub fn of(format: Option<Format>) -> impl Iterator<Item = &'static dyn Arguments> {
    ALL.into_iter().filter(move |own| format.is_none_or(|format| own.format() == format))
}

/// Which flags are given; in the order in which they are looked at.
pub type Given = [(&'static str, bool)];

/// The first flag that is given and that `format` does not know, with the formats that know it.
pub fn foreign(
    given: &Given,
    format: Format,
    formats: &Registry,
    known: fn(Flags) -> &'static [&'static str],
) -> Option<(&'static str, Vec<Format>)> {
    let knows = |format: &Format, flag: &str| known(format.flags()).contains(&flag);
    let (flag, _) = given.iter().find(|(flag, given)| *given && !knows(&format, flag))?;
    Some((flag, formats.all().iter().copied().filter(|format| knows(format, flag)).collect()))
}

/// The formats that the given flags tell, each by one flag, in the order of these.
pub fn told(given: &Given, formats: &Registry) -> Vec<Format> {
    let tells = |flag: &str| formats.all().iter().copied().find(|format| format.flags().telling.contains(&flag));
    given.iter().filter(|(_, given)| *given).filter_map(|(flag, _)| tells(flag)).collect()
}

/// `GraphAr, NOCK and annnet`.
pub fn names(formats: &[Format]) -> String {
    match formats {
        [] => "no format that is known".to_owned(),
        [one] => one.to_string(),
        [others @ .., last] => {
            let others: Vec<&str> = others.iter().map(|format| format.name()).collect();
            format!("{} and {last}", others.join(", "))
        }
    }
}
