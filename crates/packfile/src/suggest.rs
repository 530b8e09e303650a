//! Did-you-mean, for keys of packs and for arguments.

/// The candidate nearest to `word`, if it is near enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    // Nothing that is asked for by name is longer; comparing costs both lengths multiplied.
    if length > 64 {
        return None;
    }
    // `ell` is not near `kill`: in short words two letters are half of the meaning.
    let limit = if length < 5 { 1 } else { (length / 3).max(2) };
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The hint that names the nearest candidate.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// `a, b or c`, for messages that list what is allowed.
pub(crate) fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.into_iter().collect();
    match words.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        assert_eq!(nearest("--comprssion", ["--clone", "--compression"]), Some("--compression"));
        assert_eq!(nearest("ell", ["version", "kill"]), None);
        assert_eq!(nearest("", ["a", "b"]), None);
        assert_eq!(nearest(&"x".repeat(70), ["x"]), None);
        assert_eq!(one_of(["a", "b", "c"]), "a, b or c");
        assert_eq!(did_you_mean("verison", ["version"]).as_deref(), Some("did you mean `version`?"));
    }
}
