use crate::Nock;
use isomorph_error::{Findings, Result};
pub(crate) fn validate(_nock: &Nock, _findings: &mut Findings) -> Result<()> {
    Ok(())
}
pub(crate) fn refuse(_nock: &Nock) -> Result<()> {
    Ok(())
}
