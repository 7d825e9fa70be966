//! Numbers with separators and units.

/// `6,626`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a count that may be unknown before reading.
pub fn count(number: Option<u64>) -> String {
    number.map_or_else(|| "–".to_owned(), thousands)
}

/// `1 file`, `48 files`.
pub fn of(number: u64, what: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {what}{ending}", thousands(number))
}

/// `512 bytes`, `402 KB`, `7.1 MB`: decimal units, two or three digits.
pub fn bytes(number: u64) -> String {
    if number < 1000 {
        return of(number, "byte");
    }
    scaled(number as f64, &["KB", "MB", "GB", "TB", "PB", "EB"])
}

/// `512 MiB`, `2.5 GiB`: memory, in the units of `--memory`.
pub fn memory(number: u64) -> String {
    let mebibytes = number as f64 / f64::from(1 << 20);
    if mebibytes < 1024.0 { format!("{mebibytes:.0} MiB") } else { format!("{:.1} GiB", mebibytes / 1024.0) }
}

/// `2.1 M/s`, `850 /s`.
pub fn rate(rows: u64, seconds: f64) -> String {
    let rate = if seconds > 0.0 { rows as f64 / seconds } else { 0.0 };
    if rate < 1000.0 {
        return format!("{rate:.0} /s");
    }
    format!("{}/s", scaled(rate, &["k", "M", "G", "T"]))
}

/// Formats a number of at least 1000, divided by 1000 as often as needed.
fn scaled(number: f64, units: &[&str]) -> String {
    let mut value = number;
    let mut shown = "";
    for unit in units {
        // Rounding must not show 1000 of a unit.
        if !shown.is_empty() && value < 999.5 {
            break;
        }
        value /= 1000.0;
        shown = unit;
    }
    if value < 9.95 { format!("{value:.1} {shown}") } else { format!("{value:.0} {shown}") }
}

/// `0.21 s`, `12.4 s`, `3 min 20 s`, `2 h 5 min`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.995 {
        return format!("{seconds:.2} s");
    }
    if seconds < 99.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round().clamp(0.0, 1e15) as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{} h {minutes} min", thousands(hours)),
    }
}

/// An estimated time: `40 s`, `3 min`, `2 h 5 min`.
pub fn about(seconds: f64) -> String {
    let whole = seconds.round().clamp(1.0, 1e15) as u64;
    match whole {
        0..90 => format!("{whole} s"),
        90..5_400 => format!("{} min", (whole + 30) / 60),
        _ => format!("{} h {} min", thousands(whole / 3600), whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        let shown = [0, 7, 999, 1000, 6626, 1_234_567].map(thousands);
        assert_eq!(shown, ["0", "7", "999", "1,000", "6,626", "1,234,567"]);
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(of(1, "file"), "1 file");
        assert_eq!(of(1048, "file"), "1,048 files");
        assert_eq!(count(None), "–");
    }

    #[test]
    fn sizes_have_units() {
        let shown = [0, 1, 999, 1000, 9_949, 9_950, 402_113, 999_499, 999_500, 7_100_000, 1_800_000_000].map(bytes);
        let expected = [
            "0 bytes",
            "1 byte",
            "999 bytes",
            "1.0 KB",
            "9.9 KB",
            "10 KB",
            "402 KB",
            "999 KB",
            "1.0 MB",
            "7.1 MB",
            "1.8 GB",
        ];
        assert_eq!(shown, expected);
        assert_eq!(bytes(u64::MAX), "18 EB");
        assert_eq!([16 << 20, 512 << 20, 5 << 29].map(memory), ["16 MiB", "512 MiB", "2.5 GiB"]);
    }

    #[test]
    fn rates_and_times_have_units() {
        assert_eq!(rate(850, 1.0), "850 /s");
        assert_eq!(rate(2_100_000, 1.0), "2.1 M/s");
        assert_eq!(rate(5, 0.0), "0 /s");
        let shown = [0.0, 0.214, 9.99, 12.44, 99.9, 100.0, 3_599.6, 7_512.0].map(duration);
        assert_eq!([0.2, 89.4, 91.0, 3_000.0, 7_512.0].map(about), ["1 s", "89 s", "2 min", "50 min", "2 h 5 min"]);
        assert_eq!(shown, ["0.00 s", "0.21 s", "9.99 s", "12.4 s", "99.9 s", "1 min 40 s", "1 h 0 min", "2 h 5 min"]);
    }
}
