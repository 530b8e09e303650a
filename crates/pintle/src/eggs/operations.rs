//! One file per command of `eggs mcp`, named as the command.

pub(crate) mod disable;
pub(crate) mod enable;
pub(crate) mod status;
pub(crate) mod stop;
