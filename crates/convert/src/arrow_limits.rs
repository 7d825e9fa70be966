//! Numbers of rows and names as the 32 bits that Arrow has for them.

/// A row of a batch, or the number of a name or an id in memory, as 32 bits. None is greater: batches are cut long before, and what is
/// kept in memory is counted in the budget. One that were would become the greatest number, which is that of nothing, and not another one's.
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
