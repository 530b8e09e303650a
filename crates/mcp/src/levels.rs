//! Levels of log messages, ours and the protocol's. The newest revision keeps logging only for those who have it.
#![expect(deprecated, reason = "clients that still listen to logging are served")]

use pintle_core::LogLevel;
use rmcp::{
    RoleServer,
    model::{LoggingLevel, LoggingMessageNotificationParam, RequestMetaObject, SetLevelRequestParams},
    service::Peer,
};
use serde_json::Value;

/// Sends one log message; a client that is gone misses it.
pub(crate) async fn tell(peer: &Peer<RoleServer>, level: LogLevel, logger: String, data: Value) {
    let told = LoggingMessageNotificationParam::new(to_wire(level), data).with_logger(logger);
    let _ = peer.notify_logging_message(told).await;
}

/// The level that a request of the newer era asks for.
pub(crate) fn asked(meta: &RequestMetaObject) -> Option<LogLevel> {
    meta.log_level().map(from_wire)
}

/// The level that a session of the older era is set to.
pub(crate) fn set(request: &SetLevelRequestParams) -> LogLevel {
    from_wire(request.level)
}

fn to_wire(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Notice => LoggingLevel::Notice,
        LogLevel::Warning => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
        LogLevel::Critical => LoggingLevel::Critical,
        LogLevel::Alert => LoggingLevel::Alert,
        LogLevel::Emergency => LoggingLevel::Emergency,
    }
}

fn from_wire(level: LoggingLevel) -> LogLevel {
    match level {
        LoggingLevel::Debug => LogLevel::Debug,
        LoggingLevel::Info => LogLevel::Info,
        LoggingLevel::Notice => LogLevel::Notice,
        LoggingLevel::Warning => LogLevel::Warning,
        LoggingLevel::Error => LogLevel::Error,
        LoggingLevel::Critical => LogLevel::Critical,
        LoggingLevel::Alert => LogLevel::Alert,
        LoggingLevel::Emergency => LogLevel::Emergency,
    }
}
