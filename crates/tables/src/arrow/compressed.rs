//! Sizes that the compressed buffers of a record batch claim. The library allocates what they claim, and decompresses LZ4 without a limit,
//! so that both are bounded before.

use arrow_ipc::{CompressionType, RecordBatch};
use isomorph_error::{Error, Kind, Result, index};

use super::read::broken;

/// The length of a buffer that is stored as it is.
const NOT_COMPRESSED: i64 = -1;
/// The bytes in front of a compressed buffer: its length when decompressed.
const PREFIX: usize = 8;
/// How much longer than claimed a frame of LZ4 may be before it is refused.
const SLACK: u64 = 4 << 20;

/// Checks the buffers of a batch whose bytes are `body`. Together they may have `most` bytes.
///
/// # Errors
/// [`Kind::TooLarge`] beyond that, and [`Kind::Malformed`] for buffers that are not sound.
pub(super) fn check(batch: &RecordBatch<'_>, body: &[u8], most: u64) -> Result<()> {
    let Some(compression) = batch.compression() else { return Ok(()) };
    let mut total = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let range = u64::try_from(buffer.offset()).ok().zip(u64::try_from(buffer.length()).ok());
        let range = range.and_then(|(from, length)| Some(index(from)..index(from.checked_add(length)?)));
        let bytes = range.and_then(|range| body.get(range)).ok_or_else(|| broken("a buffer is outside its batch"))?;
        if bytes.is_empty() {
            continue;
        }
        let (prefix, frame) =
            bytes.split_first_chunk::<PREFIX>().ok_or_else(|| broken("a compressed buffer has no length"))?;
        let claimed = match i64::from_le_bytes(*prefix) {
            NOT_COMPRESSED => frame.len() as u64,
            claimed => u64::try_from(claimed).map_err(|_| broken("a compressed buffer has a negative length"))?,
        };
        total = total.saturating_add(claimed);
        if total > most {
            let message = format!("a record batch has {total} bytes when decompressed, but the limit is {most}");
            return Err(Error::new(Kind::TooLarge, message).hint("write smaller record batches"));
        }
        if compression.codec() == CompressionType::LZ4_FRAME && *prefix != NOT_COMPRESSED.to_le_bytes() && claimed > 0 {
            check_frame(frame, claimed)?;
        }
    }
    Ok(())
}

/// Checks that a frame of LZ4 cannot become much longer than `claimed`: its blocks have a maximum size, and are counted.
///
/// Source: LZ4 Frame Format Description, 1.6.3.
fn check_frame(frame: &[u8], claimed: u64) -> Result<()> {
    let short = || broken("a frame of LZ4 is too short");
    let (head, mut rest) = frame.split_first_chunk::<6>().ok_or_else(short)?;
    let [0x04, 0x22, 0x4d, 0x18, flags, sizes] = *head else { return Err(broken("a buffer is not a frame of LZ4")) };
    let block = match (sizes >> 4) & 7 {
        4 => 64 << 10,
        5 => 256 << 10,
        6 => 1 << 20,
        7 => 4 << 20,
        _ => return Err(broken("a frame of LZ4 has blocks of an unknown size")),
    };
    // The size of the content, the number of a dictionary, and the checksum of the header.
    let header = usize::from(flags & 8 != 0) * 8 + usize::from(flags & 1 != 0) * 4 + 1;
    rest = rest.get(header..).ok_or_else(short)?;
    let mut possible = 0u64;
    loop {
        let (size, behind) = rest.split_first_chunk::<4>().ok_or_else(short)?;
        let size = u32::from_le_bytes(*size) & 0x7fff_ffff;
        if size == 0 {
            // One frame, and behind it no more than its checksum.
            let is_end = behind.len() <= 4;
            return if is_end { Ok(()) } else { Err(broken("a buffer continues behind its frame of LZ4")) };
        }
        possible += block;
        if possible > claimed + block + SLACK {
            return Err(broken("a frame of LZ4 is longer than its buffer claims"));
        }
        let behind = behind.get(index(size.into())..).ok_or_else(short)?;
        rest = behind.get(usize::from(flags & 16 != 0) * 4..).ok_or_else(short)?;
    }
}
