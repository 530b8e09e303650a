//! One file per tool, named as the tool with `_` for dots and hyphens.

pub(crate) mod box_add_candy;
pub(crate) mod box_cat;
pub(crate) mod box_inspect;
pub(crate) mod box_list_boxes;
pub(crate) mod box_new_box;
pub(crate) mod box_new_candy;
pub(crate) mod box_new_project;
pub(crate) mod box_rm_candy;
pub(crate) mod box_set;
pub(crate) mod box_undo;
pub(crate) mod box_validate;
pub(crate) mod box_write;
pub(crate) mod candy_add_aur;
pub(crate) mod candy_add_deb;
pub(crate) mod candy_add_pac;
pub(crate) mod candy_add_rpm;
pub(crate) mod candy_set;
pub(crate) mod packages;
pub(crate) mod version;
