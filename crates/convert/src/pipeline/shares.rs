//! Shares of the memory for operators that work at the same time.

/// The share of the memory that is divided evenly, as a divisor: a table that is larger than announced can still be
/// sorted.
const EVENLY: u64 = 4;

/// Divides `memory` bytes among operators that process these numbers of rows, if known.
pub(super) fn shares(memory: u64, rows: &[Option<u64>]) -> Vec<u64> {
    let count = (rows.len() as u64).max(1);
    let known: Vec<u128> = rows.iter().flatten().map(|rows| u128::from(*rows)).collect();
    let mean = known.iter().sum::<u128>().checked_div(known.len() as u128).unwrap_or(1).max(1);
    let rows: Vec<u128> = rows.iter().map(|rows| rows.map_or(mean, u128::from)).collect();
    let total = rows.iter().sum::<u128>().max(1);
    let even = memory / EVENLY / count;
    let rest = u128::from(memory - even * count);
    // Never more than the total: the rest times a fraction.
    rows.into_iter().map(|rows| even + u64::try_from(rest * rows / total).unwrap_or(u64::MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn shares_follow_the_rows_and_never_exceed_the_memory() {
        assert_eq!(shares(1000, &[None]), [1000]);
        assert_eq!(shares(1000, &[None, None]), [500, 500]);
        assert_eq!(shares(1000, &[Some(300), Some(100)]), [125 + 562, 125 + 187]);
        // Unknown counts as the average; an empty table still gets something.
        assert_eq!(shares(1000, &[Some(10), None, Some(0)]).iter().sum::<u64>(), 999);
        assert!(shares(1000, &[Some(u64::MAX), Some(u64::MAX), Some(0)])[2] > 0);
        assert!(shares(0, &[]).is_empty());
    }
}
