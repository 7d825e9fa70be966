//! The JSON document of `convert`.

use isomorph::convert::{Certificate, Plan, PlanCost, PlanLine};
use isomorph::error::{Findings, RuleFindings};
use serde::Serialize;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    destination: &'a str,
    plan: PlanDocument<'a>,
    certificate: Option<CertificateDocument<'a>>,
    findings: Vec<RuleFindings<'a>>,
    /// Edges that a selection drops because one of their ends is dropped; null without a selection.
    dangling: Option<u64>,
}

#[derive(Debug, Serialize)]
struct PlanDocument<'a> {
    from: &'static str,
    to: &'static str,
    passes: &'a [&'static str],
    sorts: &'a [String],
    cost: &'a PlanCost,
    lines: &'a [PlanLine],
    carried: &'a [String],
    /// What the format cannot store: lost without a sidecar.
    losses: Vec<PlanLine>,
}

#[derive(Debug, Serialize)]
struct CertificateDocument<'a> {
    #[serde(flatten)]
    certificate: &'a Certificate,
    /// Whether the output equals the input; null if the output was not verified.
    equal: Option<bool>,
}

impl<'a> Document<'a> {
    /// Creates the document of a plan and of its result. If data is dropped, there is no sidecar, and what it would
    /// contain is listed as lost.
    pub fn new(
        destination: &'a str,
        plan: &'a Plan,
        cost: &'a PlanCost,
        loses: bool,
        certificate: Option<&'a Certificate>,
        findings: &'a Findings,
        dangling: Option<u64>,
    ) -> Self {
        let equal = |certificate: &Certificate| certificate.result.map(|result| Some(result) == certificate.source);
        let carried = if loses { &[] } else { plan.carried.as_slice() };
        let mut losses = plan.losses.clone();
        if loses {
            let whole =
                plan.carried.iter().filter(|part| plan.losses.iter().all(|loss| loss.subject != **part)).cloned();
            losses.splice(0..0, whole.map(|subject| PlanLine { subject, becomes: "nothing".to_owned() }));
        }
        Document {
            destination,
            plan: PlanDocument {
                from: plan.from.id(),
                to: plan.to.id(),
                passes: &plan.passes,
                sorts: &plan.sorts,
                cost,
                lines: &plan.lines,
                carried,
                losses,
            },
            certificate: certificate.map(|certificate| CertificateDocument { certificate, equal: equal(certificate) }),
            findings: findings.documents(),
            dangling,
        }
    }
}
