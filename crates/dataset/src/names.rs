//! Names that are unique.

/// `name`, behind as many `_` as it takes to be none of `taken`.
pub(crate) fn unique(mut name: String, taken: &[String]) -> String {
    while taken.contains(&name) {
        name.insert(0, '_');
    }
    name
}

/// `name`, with `_2`, `_3`, … where it is one of `taken`.
pub(crate) fn numbered(name: String, taken: impl Fn(&str) -> bool) -> String {
    if !taken(&name) {
        return name;
    }
    (2u32..).map(|number| format!("{name}_{number}")).find(|name| !taken(name)).unwrap_or(name)
}
