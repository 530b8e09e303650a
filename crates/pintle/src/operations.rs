//! One file per operation of the house, named as the operation.

pub(crate) mod approvals;
pub(crate) mod approve;
pub(crate) mod audit;
pub(crate) mod deny;
pub(crate) mod doctor;
pub(crate) mod jobs;
pub(crate) mod link;
pub(crate) mod tools;
pub(crate) mod version;
