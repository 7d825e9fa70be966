//! Gzipped tar archives, as written by the versions before 0.3.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use isomorph_error::{Kind, Result};
use isomorph_storage::Blob;

use super::unpacked::{Unpacked, Unpacking, refused};
use crate::OpenOptions;

/// Size of a record in bytes; members are padded to it.
const BLOCK: u64 = 512;
/// Maximum size of all headers that describe other members.
const HEADER_BYTES: u64 = 16 << 20;

/// Unpacks an archive.
///
/// # Errors
/// Returns an error if it is truncated or damaged, or must not be unpacked.
pub(super) fn unpack(blob: &Blob, options: &OpenOptions) -> Result<Unpacked> {
    let mut unpacking = Unpacking::new(blob.size(), options)?;
    let mut from = MultiGzDecoder::new(blob.reader());
    let mut long_name: Option<String> = None;
    let mut header = [0; BLOCK as usize];
    let mut headers = 0u64;
    loop {
        read_full(&mut from, &mut header, "")?;
        // Two records of zeros end the archive; one is enough to detect the end.
        if header.iter().all(|byte| *byte == 0) {
            return unpacking.finish();
        }
        let size = number(&header[124..136]).ok_or_else(|| refused("the size of a member is not a number", ""))?;
        check_sum(&header)?;
        let kind = header[156];
        // Headers for the next member, or for all: only the name is used.
        if matches!(kind, b'x' | b'g' | b'L') {
            headers = headers.saturating_add(size);
            if headers > HEADER_BYTES {
                return Err(refused("the headers are too large", "").of_kind(Kind::TooLarge));
            }
            let mut bytes = vec![0; size as usize];
            read_full(&mut from, &mut bytes, "")?;
            skip_padding(&mut from, size)?;
            let found = match kind {
                b'x' => pax_path(&bytes),
                b'L' => Some(bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec()),
                _ => None,
            };
            if let Some(name) = found {
                long_name = Some(text(name)?);
            }
            continue;
        }
        let name = match long_name.take() {
            Some(name) => name,
            None => text(short_name(&header))?,
        };
        match kind {
            b'0' | 0 => {
                if unpacking.begin(&name)? {
                    let mut member = (&mut from).take(size);
                    unpacking.add(&name, size, &mut member)?;
                } else {
                    std::io::copy(&mut (&mut from).take(size), &mut std::io::sink())
                        .map_err(|error| refused(error.to_string(), &name))?;
                }
                skip_padding(&mut from, size)?;
            }
            b'5' => {
                let name = name.trim_end_matches('/');
                unpacking.begin(&format!("{name}/"))?;
            }
            _ => return Err(refused("the member is neither a file nor a directory", &name)),
        }
    }
}

fn read_full(from: &mut dyn Read, buffer: &mut [u8], name: &str) -> Result<()> {
    from.read_exact(buffer).map_err(|error| refused(format!("the archive is truncated: {error}"), name))
}

fn skip_padding(from: &mut dyn Read, size: u64) -> Result<()> {
    let mut padding = [0; BLOCK as usize];
    let length = (BLOCK - size % BLOCK) % BLOCK;
    read_full(from, &mut padding[..length as usize], "")
}

/// Parses an octal number, with spaces around it.
fn number(field: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    if digits.starts_with('+') {
        return None;
    }
    u64::from_str_radix(digits, 8).ok().or_else(|| digits.is_empty().then_some(0))
}

/// Verifies the checksum of a header, which counts its own field as spaces.
fn check_sum(header: &[u8]) -> Result<()> {
    let sum =
        header.iter().enumerate().map(|(at, byte)| u64::from(if (148..156).contains(&at) { b' ' } else { *byte }));
    match number(&header[148..156]) == Some(sum.sum()) {
        true => Ok(()),
        false => Err(refused("the checksum of a header is wrong", "")),
    }
}

fn text(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| refused("the name of a member is not valid UTF-8", ""))
}

fn short_name(header: &[u8]) -> Vec<u8> {
    let field = |range: std::ops::Range<usize>| header[range].split(|byte| *byte == 0).next().unwrap_or_default();
    let (name, prefix) = (field(0..100), field(345..500));
    match header[257..262] == *b"ustar" && !prefix.is_empty() {
        true => [prefix, b"/", name].concat(),
        false => name.to_vec(),
    }
}

/// Returns the path among records like `30 path=graph.annnet/manifest.json\n`.
fn pax_path(mut records: &[u8]) -> Option<Vec<u8>> {
    let mut path = None;
    while !records.is_empty() {
        let blank = records.iter().position(|byte| *byte == b' ')?;
        let length = std::str::from_utf8(records.get(..blank)?).ok().filter(|length| !length.starts_with('+'))?;
        let length: usize = length.parse().ok()?;
        let record = records.get(blank + 1..length)?.strip_suffix(b"\n")?;
        if let Some(value) = record.strip_prefix(b"path=") {
            path = Some(value.to_vec());
        }
        records = records.get(length..)?;
    }
    path
}
