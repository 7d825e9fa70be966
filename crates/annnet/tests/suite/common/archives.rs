//! Archives built byte by byte, for tests of damaged ones.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

/// A member of a zip archive.
#[derive(Clone)]
pub struct Member {
    pub name: String,
    pub bytes: Vec<u8>,
    /// Mode of the Unix file.
    pub mode: u32,
    pub deflate: bool,
    pub flags: u16,
    /// The stated size, if it is wrong.
    pub size: Option<u32>,
    /// The name in the member's own header, if it differs.
    pub own_name: Option<String>,
}

impl Member {
    pub fn new(name: &str, bytes: &[u8]) -> Member {
        let (name, bytes) = (name.to_owned(), bytes.to_vec());
        Member { name, bytes, mode: 0o100_644, deflate: true, flags: 0, size: None, own_name: None }
    }
}

/// A zip archive.
pub fn zip(members: &[Member]) -> Vec<u8> {
    let (mut out, mut central) = (Vec::new(), Vec::new());
    for member in members {
        let offset = out.len() as u32;
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&member.bytes).unwrap();
        let packed = if member.deflate { packed.finish().unwrap() } else { member.bytes.clone() };
        let size = member.size.unwrap_or(member.bytes.len() as u32);
        let mut crc = crc32fast::Hasher::new();
        crc.update(&member.bytes);
        let crc = crc.finalize();
        let method: u16 = if member.deflate { 8 } else { 0 };
        let own = member.own_name.as_ref().unwrap_or(&member.name);
        let fields = |out: &mut Vec<u8>, name: usize| {
            for value in [20u16, member.flags, method, 0, 0] {
                out.extend(value.to_le_bytes());
            }
            for value in [crc, packed.len() as u32, size] {
                out.extend(value.to_le_bytes());
            }
            out.extend((name as u16).to_le_bytes());
            out.extend(0u16.to_le_bytes());
        };
        out.extend(b"PK\x03\x04");
        fields(&mut out, own.len());
        out.extend(own.as_bytes());
        out.extend(&packed);
        central.extend(b"PK\x01\x02");
        central.extend(0x0314u16.to_le_bytes());
        fields(&mut central, member.name.len());
        central.extend([0; 6]);
        central.extend((member.mode << 16).to_le_bytes());
        central.extend(offset.to_le_bytes());
        central.extend(member.name.as_bytes());
    }
    let offset = out.len() as u32;
    out.extend(&central);
    out.extend(b"PK\x05\x06\0\0\0\0");
    for count in [members.len() as u16; 2] {
        out.extend(count.to_le_bytes());
    }
    out.extend((central.len() as u32).to_le_bytes());
    out.extend(offset.to_le_bytes());
    out.extend(0u16.to_le_bytes());
    out
}

/// Wrong values that a zip archive with 64-bit fields states about its first member, and about itself.
#[derive(Default)]
pub struct Lie {
    /// Of the first member: its size, its compressed size, the position of its header.
    pub size: Option<u64>,
    pub packed: Option<u64>,
    pub offset: Option<u64>,
    /// The first member states that it has 64-bit fields but has none, or they are truncated.
    pub extra: Option<usize>,
    /// Position and size of the central directory.
    pub directory: Option<(u64, u64)>,
    /// Position of the record that states them.
    pub end: Option<u64>,
}

/// A zip archive in which every size and position has 64 bits, as in archives above 4 GiB.
pub fn zip64(members: &[Member], lie: &Lie) -> Vec<u8> {
    let (mut out, mut central) = (Vec::new(), Vec::new());
    for (number, member) in members.iter().enumerate() {
        let first = number == 0;
        let of = |told: Option<u64>, real: usize| told.filter(|_| first).unwrap_or(real as u64);
        let offset = of(lie.offset, out.len());
        let mut crc = crc32fast::Hasher::new();
        crc.update(&member.bytes);
        let crc = crc.finalize();
        let (size, packed) = (of(lie.size, member.bytes.len()), of(lie.packed, member.bytes.len()));
        let fields = |out: &mut Vec<u8>, values: &[u64]| {
            let mut extra: Vec<u8> = [1u16, 8 * values.len() as u16].iter().flat_map(|own| own.to_le_bytes()).collect();
            extra.extend(values.iter().flat_map(|own| own.to_le_bytes()));
            extra.truncate(lie.extra.filter(|_| first).unwrap_or(extra.len()));
            [45u16, 0, 0, 0, 0].iter().for_each(|own| out.extend(own.to_le_bytes()));
            [crc, u32::MAX, u32::MAX].iter().for_each(|own| out.extend(own.to_le_bytes()));
            [member.name.len() as u16, extra.len() as u16].iter().for_each(|own| out.extend(own.to_le_bytes()));
            extra
        };
        out.extend(b"PK\x03\x04");
        let extra = fields(&mut out, &[size, packed]);
        out.extend(member.name.as_bytes());
        out.extend(extra);
        out.extend(&member.bytes);
        central.extend(b"PK\x01\x02");
        central.extend(0x032du16.to_le_bytes());
        let extra = fields(&mut central, &[size, packed, offset]);
        central.extend([0; 6]);
        central.extend((member.mode << 16).to_le_bytes());
        central.extend(u32::MAX.to_le_bytes());
        central.extend(member.name.as_bytes());
        central.extend(extra);
    }
    let (start, size) = lie.directory.unwrap_or((out.len() as u64, central.len() as u64));
    out.extend(&central);
    let end = lie.end.unwrap_or(out.len() as u64);
    out.extend(b"PK\x06\x06");
    out.extend(44u64.to_le_bytes());
    out.extend([45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for value in [members.len() as u64, members.len() as u64, size, start] {
        out.extend(value.to_le_bytes());
    }
    out.extend(b"PK\x06\x07\0\0\0\0");
    out.extend(end.to_le_bytes());
    out.extend(1u32.to_le_bytes());
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([0xff; 12]);
    out.extend([0; 2]);
    out
}

/// A gzipped tar archive of (name, kind, bytes).
pub fn tar(members: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    for (name, kind, bytes) in members {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
        header[156] = *kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.write_all(&header).unwrap();
        out.write_all(bytes).unwrap();
        out.write_all(&vec![0; (512 - bytes.len() % 512) % 512]).unwrap();
    }
    out.write_all(&[0; 1024]).unwrap();
    out.finish().unwrap()
}
