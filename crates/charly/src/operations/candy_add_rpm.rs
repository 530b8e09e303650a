//! `candy.add-rpm`

super::packages::operation! {
    /// Add rpm packages to a candy, those it has apart.
    AddRpm, "candy.add-rpm", "layer.add-rpm", "rpm"
}
