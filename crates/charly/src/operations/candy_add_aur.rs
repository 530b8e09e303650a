//! `candy.add-aur`

super::packages::operation! {
    /// Add AUR packages to a candy, those it has apart.
    AddAur, "candy.add-aur", "layer.add-aur", "aur"
}
