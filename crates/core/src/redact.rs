//! Masks secrets in whatever leaves.

use aho_corasick::AhoCorasick;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;
use std::{
    borrow::Cow,
    collections::{BTreeMap, btree_map::Entry},
};

/// Shorter values are not searched for in free text: masking every `a` would hide everything and protect nothing.
pub const MASK_MINIMUM: usize = 4;

/// Bytes at the beginning of a secret by which it is searched for. A machine for whole secrets takes tens of
/// milliseconds to build for one token of a kilobyte; one for their beginnings takes next to nothing, and says where to
/// compare the rest.
const PROBE: usize = 16;

/// Knows secrets in the forms in which they travel: raw, base64 at any offset, JSON- and URL-escaped.
#[derive(Default, Clone)]
pub struct Redactor {
    needles: Vec<(String, String)>,
    probes: Option<Probes>,
}

/// Finds where secrets may begin.
#[derive(Clone)]
struct Probes {
    machine: AhoCorasick,
    /// By the number of the beginning: the secrets that begin so.
    needles: Vec<Vec<usize>>,
}

impl Probes {
    fn build(needles: &[(String, String)]) -> Option<Self> {
        let mut numbers: BTreeMap<&[u8], usize> = BTreeMap::new();
        let mut beginnings = Vec::new();
        let mut by_beginning: Vec<Vec<usize>> = Vec::new();
        for (at, (needle, _)) in needles.iter().enumerate() {
            let beginning = &needle.as_bytes()[..needle.len().min(PROBE)];
            match numbers.entry(beginning) {
                Entry::Occupied(number) => by_beginning[*number.get()].push(at),
                Entry::Vacant(free) => {
                    free.insert(beginnings.len());
                    beginnings.push(beginning);
                    by_beginning.push(vec![at]);
                }
            }
        }
        Some(Self { machine: AhoCorasick::new(beginnings).ok()?, needles: by_beginning })
    }

    /// Where secrets stand: start, end and number of the secret; the leftmost first, of those the longest.
    fn find(&self, text: &str, needles: &[(String, String)]) -> Vec<(usize, usize, usize)> {
        let mut found = Vec::new();
        for beginning in self.machine.find_overlapping_iter(text) {
            let start = beginning.start();
            let rest = &text.as_bytes()[start..];
            let fitting = self.needles[beginning.pattern().as_usize()].iter().copied();
            let fitting = fitting.filter(|at| rest.starts_with(needles[*at].0.as_bytes()));
            found.extend(fitting.map(|at| (start, start + needles[at].0.len(), at)));
        }
        found.sort_by_key(|(start, end, at)| (*start, std::cmp::Reverse(*end), *at));
        found
    }
}

impl Redactor {
    /// One that knows nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns a secret; its occurrences are replaced by `‹secret NAME›`.
    pub fn add(&mut self, name: &str, value: &str) {
        for form in forms(value) {
            if !self.needles.iter().any(|(known, _)| *known == form) {
                self.needles.push((form, format!("‹secret {name}›")));
                self.probes = None;
            }
        }
    }

    /// Whether no secret is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needles.is_empty()
    }

    /// Builds the search machine; [`text`](Self::text) does it otherwise at each call.
    pub fn prepare(&mut self) {
        if self.probes.is_none() && !self.needles.is_empty() {
            self.probes = Probes::build(&self.needles);
        }
    }

    /// The text with every known secret masked.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.needles.is_empty() {
            return Cow::Borrowed(text);
        }
        let built;
        let probes = match &self.probes {
            Some(probes) => probes,
            None => match Probes::build(&self.needles) {
                Some(probes) => {
                    built = probes;
                    &built
                }
                None => return Cow::Owned(self.slowly(text)),
            },
        };
        let found = probes.find(text, &self.needles);
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut done = 0;
        for (start, end, at) in found {
            if start >= done {
                masked.push_str(&text[done..start]);
                masked.push_str(&self.needles[at].1);
                done = end;
            }
        }
        masked.push_str(&text[done..]);
        Cow::Owned(masked)
    }

    /// Masks every string and key inside a JSON value.
    pub fn value(&self, value: &mut Value) {
        if self.needles.is_empty() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.text(text) {
                    *text = masked;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) => {
                if map.keys().any(|key| matches!(self.text(key), Cow::Owned(_))) {
                    let old = std::mem::take(map);
                    map.extend(old.into_iter().map(|(key, item)| (self.text(&key).into_owned(), item)));
                }
                map.values_mut().for_each(|item| self.value(item));
            }
            // A number can be a secret too (a PIN): compared by its text.
            Value::Number(number) => {
                if let Cow::Owned(masked) = self.text(&number.to_string()) {
                    *value = Value::String(masked);
                }
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn slowly(&self, text: &str) -> String {
        self.needles.iter().fold(text.to_owned(), |text, (needle, mask)| text.replace(needle, mask))
    }
}

fn forms(value: &str) -> Vec<String> {
    let mut forms = Vec::new();
    let mut push = |form: String| {
        if form.len() >= MASK_MINIMUM && !forms.contains(&form) {
            forms.push(form);
        }
    };
    push(value.to_owned());
    let trimmed = value.trim();
    if trimmed.len() < MASK_MINIMUM {
        return forms;
    }
    push(trimmed.to_owned());
    // A PEM or other multi-line secret is often shown line by line; only lines that are long enough to be telling.
    for line in trimmed.lines().map(str::trim).filter(|line| line.len() >= 16 && !line.starts_with("-----")) {
        push(line.to_owned());
    }
    let json = Value::String(trimmed.to_owned()).to_string();
    push(json[1..json.len() - 1].to_owned());
    push(percent_encoding::utf8_percent_encode(trimmed, percent_encoding::NON_ALPHANUMERIC).to_string());
    push(percent_encoding::utf8_percent_encode(trimmed, URL_VALUE).to_string());
    // Inside a longer base64 text the secret may begin at any of three offsets; what its neighbours share is cut off.
    for offset in 0..3 {
        let mut bytes = vec![0_u8; offset];
        bytes.extend_from_slice(trimmed.as_bytes());
        let encoded = STANDARD.encode(&bytes);
        let from = [0, 2, 3][offset];
        let to = (offset + trimmed.len()) * 8 / 6;
        if to > from + 6 {
            let inner = &encoded[from..to];
            push(inner.to_owned());
            push(inner.replace('+', "-").replace('/', "_"));
        }
    }
    forms
}

const URL_VALUE: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn knowing(secret: &str) -> Redactor {
        let mut redactor = Redactor::new();
        redactor.add("T", secret);
        redactor
    }

    #[test]
    fn every_form_is_masked() {
        let secret = "p@ss/\"wörd\"+1234";
        let redactor = knowing(secret);
        let encoded = |prefix: &str| STANDARD.encode(format!("{prefix}{secret}tail"));
        let shown = [
            format!("raw {secret}."),
            json!({ "a": secret }).to_string(),
            percent_encoding::utf8_percent_encode(secret, URL_VALUE).to_string(),
            percent_encoding::utf8_percent_encode(secret, percent_encoding::NON_ALPHANUMERIC).to_string(),
            encoded(""),
            encoded("x"),
            encoded("xy"),
        ];
        for text in shown {
            let masked = redactor.text(&text);
            assert!(masked.contains("‹secret T›"), "{text} -> {masked}");
            assert!(!masked.contains(secret));
        }
        assert_eq!(redactor.text("nothing here"), "nothing here");
    }

    #[test]
    fn values_keys_and_numbers_are_masked() {
        let redactor = knowing("987654321");
        let mut value = json!({"987654321": [987654321, "x987654321y", true]});
        redactor.value(&mut value);
        assert_eq!(value, json!({"‹secret T›": ["‹secret T›", "x‹secret T›y", true]}));
    }

    #[test]
    fn lines_of_a_key_are_masked_one_by_one() {
        let redactor = knowing("-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nAAAABBBBCCCCDDDDEEEE\n-----END KEY-----\n");
        assert_eq!(redactor.text("saw AAAABBBBCCCCDDDDEEEE there"), "saw ‹secret T› there");
    }

    #[test]
    fn very_short_values_are_left_alone() {
        assert!(knowing("abc").is_empty());
    }

    #[test]
    fn of_secrets_that_overlap_the_leftmost_longest_is_masked() {
        let mut redactor = Redactor::new();
        let long = format!("{}-tail", "0123456789abcdef".repeat(4));
        for (name, value) in [("A", "wxyz"), ("B", "wxyz!!"), ("C", "yz!!??"), ("D", long.as_str()), ("E", &long[..40])]
        {
            redactor.add(name, value);
        }
        assert_eq!(redactor.text("-wxyz!!??-"), "-‹secret B›??-");
        assert_eq!(redactor.text("-wxyz??-"), "-‹secret A›??-");
        assert_eq!(redactor.text(&format!("ä{long}ö")), "ä‹secret D›ö");
        assert_eq!(redactor.text(&long[..50]), format!("‹secret E›{}", &long[40..50]));
        assert_eq!(redactor.text(&long[..39]), long[..39], "the same beginning is not the secret");
        let mut prepared = redactor.clone();
        prepared.prepare();
        assert_eq!(prepared.text("-wxyz yz!!??"), redactor.text("-wxyz yz!!??"));
    }
}
