//! charly
