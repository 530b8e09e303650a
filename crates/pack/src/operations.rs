//! Operations on packs themselves, for people only; one file each, named as the operation.

pub(crate) mod check;
pub(crate) mod show;
