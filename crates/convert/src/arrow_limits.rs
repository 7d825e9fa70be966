//! Row numbers and name numbers as Arrow's 32-bit integers.

/// Converts the row of a batch, or the number of a name or an id in memory, to 32 bits. No number is larger: batches
/// are split long before, and what is kept in memory is counted in the budget. A larger number would become the
/// maximum, which identifies nothing, rather than another valid number.
#[inline]
pub(crate) fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// The two halves of a hash.
#[inline]
pub(crate) fn halves(hash: u128) -> (u64, u64) {
    let [first, second] = [hash >> 64, hash & u128::from(u64::MAX)].map(|half| u64::try_from(half).unwrap_or(u64::MAX));
    (first, second)
}
