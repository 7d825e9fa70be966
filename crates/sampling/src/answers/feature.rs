//! Requested features.

use std::str::FromStr;

use isomorph_deepgnn::FeatureType;
use isomorph_error::Error;

/// A requested feature: `name`, `0:float32:128`, `1:sparse-int64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feature {
    /// The request as written: the name of a property may look like a feature with its type.
    pub text: String,
    /// Its id, or the name of a property.
    pub id: String,
    /// The type of its bytes; `None` for the type according to the graph.
    pub ty: Option<FeatureType>,
    /// The number of values, for a feature with a type; `None` for all.
    pub count: Option<usize>,
}

impl FromStr for Feature {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong =
            || Error::usage(format!("{text:?} is not a feature")).hint("0:float32:128, 1:sparse-int64, 2:text, name");
        // Names of properties may be IRIs: the text after a colon is a type only if it is the name of one.
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
