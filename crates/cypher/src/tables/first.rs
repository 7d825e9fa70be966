//! The first pattern of a branch, answered from whole tables.

use super::{Expansion, Pass, Whole};
use crate::eval::Row;
use crate::exec::Context;
use crate::fault::Result;
use crate::plan::Branch;

/// The matches of the first pattern of a branch.
pub(crate) enum First<'p, 'g> {
    Pass(Box<Pass<'p, 'g>>),
    Expansion(Box<Expansion<'p, 'g>>),
}

impl<'p, 'g> First<'p, 'g> {
    /// The way in which the first pattern is answered from tables; `None` if it is matched from node to node.
    pub(crate) fn of(branch: &'p Branch, start: &Row, cx: &Context<'g>) -> Option<Self> {
        let pass = Pass::of(branch, start, cx).map(|pass| First::Pass(Box::new(pass)));
        pass.or_else(|| Expansion::of(branch, start, cx).map(|one| First::Expansion(Box::new(one))))
    }

    /// Moves to the next match, and returns how many equal ones it stands for.
    pub(crate) fn next(&mut self, cx: &Context<'g>) -> Result<Option<u64>> {
        match self {
            First::Pass(pass) => pass.next(cx),
            First::Expansion(one) => one.next(cx),
        }
    }

    /// The next matches as a batch, if these are all of its rows, and none of them was given before.
    pub(crate) fn whole(&mut self, cx: &Context<'g>) -> Result<Option<Whole<'_>>> {
        match self {
            First::Pass(pass) => pass.whole(cx),
            First::Expansion(_) => Ok(None),
        }
    }

    /// Leaves out the matches of that batch.
    pub(crate) fn skip(&mut self) {
        if let First::Pass(pass) = self {
            pass.skip();
        }
    }

    /// The row with the match that was found last.
    pub(crate) fn row(&mut self) -> &mut Row {
        match self {
            First::Pass(pass) => &mut pass.row,
            First::Expansion(one) => &mut one.row,
        }
    }
}
