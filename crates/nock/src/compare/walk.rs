//! Merges two sorted texts.

use std::cmp::Ordering;

use isomorph_error::Result;

use super::{Comparison, Difference, OnlyIn};
use crate::text::{Line, Sorted};

pub(super) fn walk(mut left: Sorted, mut right: Sorted, keep: usize) -> Result<Comparison> {
    let mut found = Comparison::default();
    let (mut one, mut other) = (left.next_line()?, right.next_line()?);
    loop {
        let order = match (&one, &other) {
            (None, None) => return Ok(found),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.cmp(other),
        };
        match order {
            Ordering::Equal => {
                found.equal += 1;
                one = left.next_line()?;
                other = right.next_line()?;
            }
            Ordering::Less => {
                found.only_left += 1;
                note(&mut found, keep, OnlyIn::Left, one.as_ref());
                one = left.next_line()?;
            }
            Ordering::Greater => {
                found.only_right += 1;
                note(&mut found, keep, OnlyIn::Right, other.as_ref());
                other = right.next_line()?;
            }
        }
    }
}

fn note(found: &mut Comparison, keep: usize, only_in: OnlyIn, line: Option<&Line>) {
    if let Some(line) = line.filter(|_| found.first.len() < keep) {
        let line = String::from_utf8_lossy(&line.text).trim_end_matches('\n').to_owned();
        found.first.push(Difference { only_in, line });
    }
}
