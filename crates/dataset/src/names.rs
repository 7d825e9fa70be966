//! Unique names.

/// `name`, prefixed with `_` until it is not in `taken`.
pub(crate) fn unique(mut name: String, taken: &[String]) -> String {
    while taken.contains(&name) {
        name.insert(0, '_');
    }
    name
}

/// `name`, with the suffix `_2`, `_3`, … if it is taken.
pub(crate) fn numbered(name: String, taken: impl Fn(&str) -> bool) -> String {
    if !taken(&name) {
        return name;
    }
    (2u32..).map(|number| format!("{name}_{number}")).find(|name| !taken(name)).unwrap_or(name)
}
