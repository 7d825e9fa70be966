//! Registry and detection, plan, pipeline, certificate, diff
