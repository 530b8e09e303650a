//! `candy.add-pac`

super::packages::operation! {
    /// Add pacman packages to a candy, those it has apart.
    AddPac, "candy.add-pac", "layer.add-pac", "pac"
}
