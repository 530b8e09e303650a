//! Did-you-mean.

/// Longer words, in characters, are near to nothing: comparing takes the time of both lengths multiplied, and no name
/// that somebody misspells is as long.
const LONGEST: usize = 256;

/// The candidate nearest to `word`, if it is near enough to be what was meant.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let short = |text: &str| text.chars().nth(LONGEST).is_none();
    if !short(word) {
        return None;
    }
    let limit = (word.chars().count() / 3).max(2);
    let folded = word.to_lowercase().replace(['_', '.'], "-");
    candidates
        .into_iter()
        .filter(|candidate| short(candidate))
        .map(|c| (strsim::damerau_levenshtein(&folded, &c.to_lowercase().replace(['_', '.'], "-")), c))
        .filter(|(distance, c)| *distance <= limit && *distance < c.chars().count().max(2))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

/// `a, b or c`, for messages that list what is allowed.
#[must_use]
pub fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
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
        let known = ["box.add-candy", "box.build", "candy.set"];
        assert_eq!(nearest("box.add_candi", known), Some("box.add-candy"));
        assert_eq!(nearest("box_build", known), Some("box.build"));
        assert_eq!(nearest("zzzz", known), None);
        assert_eq!(nearest("", known), None);
        let long = "x".repeat(256);
        assert_eq!(nearest(&long, [format!("{long}y").as_str(), &long]), Some(long.as_str()), "too long a candidate");
        assert_eq!(nearest(&format!("{long}y"), [long.as_str()]), None, "too long a word is not compared");
        assert_eq!(one_of(["a", "b", "c"]), "a, b or c");
    }
}
