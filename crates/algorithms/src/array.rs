//! Arrays of numbers within the budget: in memory, or mapped from a temporary file. All unsafe code of this crate is here.
#![allow(unsafe_code)]

use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::AtomicU64;

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Reservation, Resources, ScratchFile};
use memmap2::{MmapMut, MmapOptions};

/// Zeros are written in blocks of this many bytes.
const BLOCK: usize = 1 << 20;

/// Numbers without padding, of which every pattern of bits is a value.
pub(crate) trait Number: sealed::Plain {}

mod sealed {
    /// # Safety
    /// Every pattern of bits is a value, and zeros are 0.
    pub(crate) unsafe trait Plain: Copy + Default + Send + Sync + 'static {}
    // SAFETY: numbers have no padding, and every pattern of bits is a value.
    unsafe impl Plain for u8 {}
    // SAFETY: as above.
    unsafe impl Plain for u32 {}
    // SAFETY: as above.
    unsafe impl Plain for u64 {}
    // SAFETY: as above.
    unsafe impl Plain for f64 {}
}

impl<T: sealed::Plain> Number for T {}

/// An array of numbers whose length does not change.
pub(crate) struct Array<T: Number>(Store<T>);

enum Store<T> {
    Memory {
        numbers: Vec<T>,
        _held: Reservation,
    },
    /// The file is kept so that its size is counted; nothing else has a handle of it.
    Mapped {
        map: MmapMut,
        length: usize,
        _file: ScratchFile,
    },
}

impl<T: Number> Array<T> {
    /// Zeros: in memory if the budget has room for them beside `spare` bytes, else in a temporary file.
    ///
    /// # Errors
    /// [`Kind::NoSpace`] and [`Kind::Io`] for temporary files; [`Kind::TooLarge`] beyond the address space.
    pub fn zeros(length: u64, spare: u64, resources: &Resources) -> Result<Self> {
        let too_large =
            || Error::new(Kind::TooLarge, format!("an array of {length} numbers exceeds the address space"));
        let count = usize::try_from(length).map_err(|_| too_large())?;
        let bytes = count.checked_mul(size_of::<T>()).ok_or_else(too_large)?;
        let fits = resources.budget.available() >= (bytes as u64).saturating_add(spare);
        if let Some(held) = fits.then(|| resources.budget.try_reserve(bytes as u64)).flatten() {
            return Ok(Array(Store::Memory { numbers: vec![T::default(); count], _held: held }));
        }
        if bytes == 0 {
            return Ok(Array(Store::Memory { numbers: Vec::new(), _held: resources.budget.reserve(0)? }));
        }
        let mut file = resources.scratch.create()?;
        // Written, not only declared: a full disk is an error here, and not a signal at the first use of a page.
        let zeros = vec![0u8; BLOCK.min(bytes)];
        let mut left = bytes;
        while left > 0 {
            let now = left.min(zeros.len());
            file.write_all(zeros.get(..now).unwrap_or_default())?;
            left -= now;
        }
        // SAFETY: The file was created by `Scratch` for this process alone and has no name (or, where the system requires one, a random
        // name), so no other process opens it. Its only handle is moved into this value, which never shortens it.
        let map = unsafe { MmapOptions::new().len(bytes).map_mut(file.as_file()) }?;
        Ok(Array(Store::Mapped { map, length: count, _file: file }))
    }

    /// Whether it is in a temporary file.
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, Store::Mapped { .. })
    }
}

impl<T: Number> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Store::Memory { numbers, .. } => numbers,
            // SAFETY: the map has `length` times the size of `T` bytes, begins at a page and so is aligned, and every pattern of bits is
            // a value of `T` (`Plain`). It lives as long as `self`.
            Store::Mapped { map, length, .. } => unsafe { std::slice::from_raw_parts(map.as_ptr().cast(), *length) },
        }
    }
}

impl<T: Number> DerefMut for Array<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Store::Memory { numbers, .. } => numbers,
            // SAFETY: as above; `self` is borrowed mutably, so this is the only slice.
            Store::Mapped { map, length, .. } => unsafe {
                std::slice::from_raw_parts_mut(map.as_mut_ptr().cast(), *length)
            },
        }
    }
}

impl<T: Number> std::fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Array({} numbers, mapped: {})", self.len(), self.is_mapped())
    }
}

/// The same numbers, to which several threads add.
pub(crate) fn shared(numbers: &mut [u64]) -> &[AtomicU64] {
    // SAFETY: `AtomicU64` has the size, the alignment and the bits of `u64` on all targets that this crate is built for (checked below), and
    // `numbers` is borrowed mutably for as long as the result lives, so nothing reads or writes them in another way.
    unsafe { std::slice::from_raw_parts(numbers.as_mut_ptr().cast(), numbers.len()) }
}

const _: () = assert!(size_of::<AtomicU64>() == size_of::<u64>() && align_of::<AtomicU64>() == align_of::<u64>());

/// Reads the element at `at`; 0 outside, where nothing of this crate looks.
#[inline]
pub(crate) fn at<T: Number>(numbers: &[T], at: u32) -> T {
    numbers.get(at as usize).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_storage::{Budget, Scratch};

    use super::*;

    #[test]
    fn what_does_not_fit_is_mapped_and_holds_the_same() {
        let of = |bytes| Resources { threads: 1, budget: Budget::new(bytes), scratch: Scratch::new(None).unwrap() };
        for (bytes, mapped) in [(1 << 20, false), (100, true)] {
            let resources = of(bytes);
            let mut array: Array<u64> = Array::zeros(1000, 0, &resources).unwrap();
            assert_eq!(array.is_mapped(), mapped);
            assert!(array.iter().all(|number| *number == 0));
            array.iter_mut().zip(0..).for_each(|(slot, number)| *slot = number * 7);
            assert_eq!((array[999], array.len()), (6993, 1000));
            assert_eq!(resources.scratch.used(), if mapped { 8000 } else { 0 });
            drop(array);
            assert_eq!((resources.budget.used(), resources.scratch.used()), (0, 0));
        }
        let nothing: Array<f64> = Array::zeros(0, 0, &of(0)).unwrap();
        assert!(nothing.is_empty());
    }
}
