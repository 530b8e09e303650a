//! One file per operation, named as the operation.

pub(crate) mod clients;
pub(crate) mod register;
pub(crate) mod register_undo;
pub(crate) mod unregister;
