//! A value that is made when it is first looked at.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, LazyLock},
};

type Make<T> = Box<dyn FnOnce() -> T + Send>;

/// A shared value, made at most once. A process with two hundred tools starts without making two hundred schemas.
pub struct Lazy<T>(Arc<LazyLock<T, Make<T>>>);

impl<T> Lazy<T> {
    /// Made by that function when first looked at.
    #[must_use]
    pub fn new(make: impl FnOnce() -> T + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(make))))
    }
}

impl<T: Send + 'static> From<T> for Lazy<T> {
    fn from(value: T) -> Self {
        Self::new(move || value)
    }
}

impl From<&str> for Lazy<String> {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Clone for Lazy<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
