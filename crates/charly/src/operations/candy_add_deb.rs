//! `candy.add-deb`

super::packages::operation! {
    /// Add deb packages to a candy, those it has apart.
    AddDeb, "candy.add-deb", "layer.add-deb", "deb"
}
