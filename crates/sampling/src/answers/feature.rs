//! Features that are asked for.

use std::str::FromStr;

use isomorph_deepgnn::FeatureType;
use isomorph_error::Error;

/// A feature that is asked for: `name`, `0:float32:128`, `1:sparse-int64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// What was written: names of properties may look like a feature with its type.
    pub text: String,
    /// Its id, or the name of a property.
    pub id: String,
    /// What its bytes are; else what the graph says.
    pub ty: Option<FeatureType>,
    /// How many numbers, of a feature with its type; else all that there are.
    pub count: Option<usize>,
}

impl FromStr for Feature {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong =
            || Error::usage(format!("{text:?} is no feature")).hint("0:float32:128, 1:sparse-int64, 2:text, name");
        // Names of properties may be IRIs: what is behind a colon is a type only where it is one.
        let of_type = |text: &str| text.rsplit_once(':').and_then(|(id, ty)| Some((id.to_owned(), ty.parse().ok()?)));
        let counted = text.rsplit_once(':').and_then(|(rest, count)| Some((of_type(rest)?, count.parse().ok()?)));
        let (id, ty, count): (String, Option<FeatureType>, Option<usize>) = match (counted, of_type(text)) {
            (Some(((id, ty), count)), _) => (id, Some(ty), Some(count)),
            (None, Some((id, ty))) => (id, Some(ty), None),
            (None, None) => (text.to_owned(), None, None),
        };
        match ty {
            _ if count.is_some_and(|count| count == 0 || count > 1 << 20) => Err(wrong()),
            _ if id.is_empty() => Err(wrong()),
            ty => Ok(Feature { text: text.to_owned(), id, ty, count }),
        }
    }
}
