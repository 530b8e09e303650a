//! The operations as their users see them: through the one path, on folders of their own.

#[cfg(test)]
mod awkward;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod catalogue;
#[cfg(test)]
mod editing;
#[cfg(test)]
mod property;
#[cfg(test)]
mod seed;
#[cfg(test)]
mod story;
#[cfg(test)]
mod world;
