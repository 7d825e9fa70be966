//! How texts and values stand in XML, as canonical XML has them.

/// Longest text between two tags that is read, bytes.
pub(crate) const LONGEST: usize = 64 << 20;

/// Appends a text between tags.
pub(crate) fn push_text(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // Readers of XML make a line feed of it.
            '\r' => out.push_str("&#xD;"),
            c => out.push(c),
        }
    }
}

/// Appends `="value"`.
pub(crate) fn push_value(out: &mut String, value: &str) {
    out.push_str("=\"");
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '"' => out.push_str("&quot;"),
            // Readers of XML make blanks of them.
            '\t' => out.push_str("&#x9;"),
            '\n' => out.push_str("&#xA;"),
            '\r' => out.push_str("&#xD;"),
            c => out.push(c),
        }
    }
    out.push('"');
}
