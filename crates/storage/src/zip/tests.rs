//! Archives that were written are read, and damage is noticed.

use std::io::{Read, Write};

use bytes::Bytes;
use isomorph_error::{Kind, Result};

use super::{ZipArchive, ZipPacker, ZipWriter};
use crate::{Blob, Location, Mode, Scratch, Staging};

/// An archive with a folder, a stored and a deflated member.
fn written() -> Vec<u8> {
    let home = tempfile::tempdir().unwrap();
    let place = Location::from_path(&home.path().join("x.zip"));
    let staging = Staging::file(&place, Mode::CreateNew).unwrap();
    let scratch = Scratch::new(Some(home.path())).unwrap();
    let mut archive = ZipWriter::new(staging.create("x.zip").unwrap(), "x.zip");
    archive.folder("a/".to_owned()).unwrap();
    let mut stored = scratch.create().unwrap();
    stored.write_all(b"stored").unwrap();
    archive.store("a/stored".to_owned(), &stored).unwrap();
    let mut packer = ZipPacker::new(scratch.create().unwrap());
    packer.write_all(&b"deflated ".repeat(1000)).unwrap();
    archive.add("é".to_owned(), &packer.finish().unwrap()).unwrap();
    let size = archive.finish().unwrap();
    staging.commit(&[]).unwrap();
    let bytes = std::fs::read(home.path().join("x.zip")).unwrap();
    assert_eq!(bytes.len() as u64, size);
    assert!(size < 1000, "{size}");
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<(String, Vec<u8>)>> {
    let archive = ZipArchive::open(&Blob::from_bytes("x.zip", &Bytes::copy_from_slice(bytes)))?;
    let mut all = Vec::new();
    for member in archive.members() {
        let member = member?;
        let mut content = Vec::new();
        archive.reader(&member)?.read_to_end(&mut content)?;
        assert_eq!(content.len() as u64, member.size());
        all.push((member.name().unwrap_or_default().to_owned(), content));
    }
    Ok(all)
}

#[test]
fn what_is_written_is_read() {
    let expected = [
        ("a/".to_owned(), Vec::new()),
        ("a/stored".to_owned(), b"stored".to_vec()),
        ("é".to_owned(), b"deflated ".repeat(1000)),
    ];
    assert_eq!(read(&written()).unwrap(), expected);
}

#[test]
fn damage_is_noticed() {
    let whole = written();
    for length in 0..whole.len() {
        assert!(read(&whole[..length]).is_err(), "{length} of {} bytes", whole.len());
    }
    let content = |bytes: &[u8]| read(bytes).map(|all| all.into_iter().map(|(_, content)| content).collect::<Vec<_>>());
    let expected = content(&whole).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        // Names, times and versions are nobody's business here; a content is never another.
        if let Ok(found) = content(&bytes) {
            assert!(found.iter().all(|content| expected.contains(content)), "byte {at}");
        }
    }
    let at = whole.windows(6).position(|window| window == b"stored").unwrap();
    let mut bytes = whole.clone();
    bytes[whole[at + 6..].windows(6).position(|window| window == b"stored").unwrap() + at + 6] ^= 1;
    assert!(read(&bytes).is_err());
    let mut bytes = whole;
    let central = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    bytes[central + 8] |= 1;
    // The flags are those of the folder.
    assert_eq!(read(&bytes).unwrap_err().kind(), Kind::Unsupported);
}
