//! A list while it arrives: each object is decoded as soon as it is whole, so that never more than a piece is held.

use crate::{
    Cause,
    cluster::bad_json,
    list::{ListMeta, TableColumn},
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Deserializer, error::Category};

/// Bytes that are read before the objects in them are decoded, which takes a fraction of a millisecond: too little for
/// a thread of its own, whose memory would be its own, too.
const PIECE: usize = 64 * 1024;

/// A list of which some has come.
pub(crate) struct Arriving<T> {
    /// The member that holds the objects.
    member: &'static str,
    place: Place,
    /// What has come and is not used up.
    rest: Vec<u8>,
    /// Where the rest begins: lines and bytes of a line before it.
    lines: usize,
    column: usize,
    /// Objects that were decoded and not yet given away.
    objects: Vec<T>,
    /// Columns of a table, not yet given away.
    columns: Vec<TableColumn>,
    /// Whether columns have come, or none are needed.
    known: bool,
    /// What the list says of itself, as far as it has come.
    pub(crate) meta: ListMeta,
}

/// Columns, before the first rows of a table, and objects.
pub(crate) type Given<T> = (Vec<TableColumn>, Vec<T>);

/// What comes next.
enum Place {
    List,
    Member { first: bool },
    Value(String),
    Object { first: bool },
    AfterObject,
    AfterMember,
    End,
}

/// What is wrong, and where: lines and columns from 1.
struct Wrong {
    what: Category,
    line: usize,
    column: usize,
}

impl<T: DeserializeOwned> Arriving<T> {
    /// A list whose objects stand in that member: `items`, or `rows` of a table.
    pub(crate) fn new(member: &'static str) -> Self {
        Self {
            member,
            place: Place::List,
            rest: Vec::new(),
            lines: 0,
            column: 0,
            objects: Vec::new(),
            columns: Vec::new(),
            known: member == "items",
            meta: ListMeta::default(),
        }
    }

    /// Where the list goes on, if it does and has told so already: API servers tell it before the objects.
    pub(crate) fn token(&self) -> Option<&str> {
        Some(self.meta.token.as_str()).filter(|token| !token.is_empty())
    }

    /// Where to put what comes next.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.rest
    }

    /// Bytes of the buffer with which it is worth to decode: an object larger than a piece is not begun anew with each.
    pub(crate) fn wanted(&self) -> usize {
        self.rest.len() + self.rest.len().max(PIECE)
    }

    /// Decodes what is whole and gives each object away at once: where few words of many objects are kept, those of
    /// the next take the place of what is dropped of the last.
    ///
    /// # Errors
    /// When it is no JSON, or no list; or ends too early, where it was the last of it.
    pub(crate) fn decode(&mut self, path: &str, last: bool, give: impl FnMut(Given<T>)) -> Result<(), Cause> {
        self.use_up(last, give).map_err(|wrong| bad_json(path, wrong.what, wrong.line, wrong.column))
    }

    fn use_up(&mut self, last: bool, mut give: impl FnMut(Given<T>)) -> Result<(), Wrong> {
        let mut at = 0;
        while self.step(&mut at)? {
            // Nobody can read rows of which the columns are not known.
            if self.known && !self.objects.is_empty() {
                give(self.given());
            }
        }
        if last && !(self.columns.is_empty() && self.objects.is_empty()) {
            give(self.given());
        }
        if last && !matches!(self.place, Place::End) {
            return Err(self.wrong(Category::Eof, self.rest.len()));
        }
        (self.lines, self.column) = self.position(at);
        self.rest.drain(..at);
        Ok(())
    }

    fn given(&mut self) -> Given<T> {
        (std::mem::take(&mut self.columns), std::mem::take(&mut self.objects))
    }

    /// One step on; `false` where more must come first.
    fn step(&mut self, at: &mut usize) -> Result<bool, Wrong> {
        let blank = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        let Some(begin) = self.rest[*at..].iter().position(|byte| !blank(byte)).map(|blanks| *at + blanks) else {
            *at = self.rest.len();
            return Ok(false);
        };
        let byte = self.rest[begin];
        // What stands after one byte, and after a value that ends there.
        let mut end = begin + 1;
        let next = match (&self.place, byte) {
            (Place::List, b'{') => Place::Member { first: true },
            (Place::Member { first: true }, b'}') | (Place::AfterMember, b'}') => Place::End,
            (Place::AfterMember, b',') => Place::Member { first: false },
            (Place::Object { first: true } | Place::AfterObject, b']') => Place::AfterMember,
            (Place::AfterObject, b',') => Place::Object { first: false },
            (Place::Value(name), b'[') if name == self.member => Place::Object { first: true },
            (Place::List, _) => {
                // JSON of another kind is told apart from what is no JSON.
                let whole = Deserializer::from_slice(&self.rest[begin..]).into_iter::<IgnoredAny>().next();
                if whole.is_some_and(|whole| whole.is_ok()) {
                    return Err(self.wrong(Category::Data, begin + 1));
                }
                self.value::<IgnoredAny>(begin, &mut end)?;
                return Ok(false);
            }
            (Place::Member { .. }, _) => {
                let Some(name) = self.value::<String>(begin, &mut end)? else { return Ok(false) };
                // A value is only taken where a byte follows it.
                let colon = end + self.rest[end..].iter().take_while(|byte| blank(byte)).count();
                if self.rest.get(colon) != Some(&b':') {
                    return Err(self.wrong(Category::Syntax, colon + 1));
                }
                end = colon + 1;
                Place::Value(name)
            }
            (Place::Value(name), _) => {
                let found = match name.as_str() {
                    name if name == self.member => self.value::<()>(begin, &mut end)?,
                    "metadata" => self
                        .value::<Option<ListMeta>>(begin, &mut end)?
                        .map(|meta| self.meta = meta.unwrap_or_default()),
                    "columnDefinitions" => self.value::<Option<Vec<TableColumn>>>(begin, &mut end)?.map(|columns| {
                        self.columns = columns.unwrap_or_default();
                        self.known = true;
                    }),
                    _ => self.value::<IgnoredAny>(begin, &mut end)?.map(|_| ()),
                };
                if found.is_none() {
                    return Ok(false);
                }
                Place::AfterMember
            }
            (Place::Object { .. }, _) => {
                let Some(object) = self.value::<T>(begin, &mut end)? else { return Ok(false) };
                // One at a time needs no room for more.
                if self.objects.is_empty() {
                    self.objects.reserve_exact(1);
                }
                self.objects.push(object);
                Place::AfterObject
            }
            (Place::AfterObject | Place::AfterMember | Place::End, _) => {
                return Err(self.wrong(Category::Syntax, end));
            }
        };
        self.place = next;
        *at = end;
        Ok(true)
    }

    /// The value that begins there, if all of it has come.
    fn value<V: DeserializeOwned>(&self, begin: usize, end: &mut usize) -> Result<Option<V>, Wrong> {
        let rest = &self.rest[begin..];
        let mut values = Deserializer::from_slice(rest).into_iter::<V>();
        match values.next() {
            Some(Ok(value)) => {
                *end = begin + values.byte_offset();
                // Something follows in every list, and a number without it may go on.
                Ok(self.rest[*end..].iter().any(|byte| !byte.is_ascii_whitespace()).then_some(value))
            }
            None => Ok(None),
            Some(Err(error)) if error.is_eof() => Ok(None),
            Some(Err(error)) => {
                // Types may have words of their own for a value that breaks off.
                let whole = Deserializer::from_slice(rest).into_iter::<IgnoredAny>().next();
                if matches!(whole, Some(Err(error)) if error.is_eof()) {
                    return Ok(None);
                }
                let (lines, column) = self.position(begin);
                let column = if error.line() <= 1 { column + error.column() } else { error.column() };
                Err(Wrong { what: error.classify(), line: lines + error.line(), column })
            }
        }
    }

    /// Lines, and bytes of a line, before that byte of the rest.
    fn position(&self, at: usize) -> (usize, usize) {
        let before = &self.rest[..at];
        match before.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => (self.lines + before.iter().filter(|byte| **byte == b'\n').count(), at - newline - 1),
            None => (self.lines, self.column + at),
        }
    }

    fn wrong(&self, what: Category, at: usize) -> Wrong {
        let (lines, column) = self.position(at);
        Wrong { what, line: lines + 1, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::{Value, json};

    /// Feeds it in pieces of that many bytes.
    fn fed<T: DeserializeOwned>(
        member: &'static str,
        text: &str,
        size: usize,
    ) -> Result<(Arriving<T>, Given<T>), String> {
        let mut list = Arriving::new(member);
        let mut all = Given::default();
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(size.max(1)).collect();
        for (index, piece) in pieces.iter().enumerate() {
            list.buffer().extend_from_slice(piece);
            let used = list.use_up(index + 1 == pieces.len(), |(columns, objects)| {
                all.0.extend(columns);
                all.1.extend(objects);
            });
            used.map_err(|wrong| format!("{:?} {}:{}", wrong.what, wrong.line, wrong.column))?;
        }
        Ok((list, all))
    }

    #[test]
    fn a_list_is_the_same_in_whatever_pieces_it_comes() {
        let nasty = r#"{"n":-1.5e3,"s":"],}\\\"{[ü\u00e9","deep":[{"a":[[]]},null,true]}"#;
        let text = format!(
            "\n {{\"kind\" : \"PodList\",\r\n \"apiVersion\":\"v1\",\"metadata\":{{\"continue\":\"x\",\"resourceVersion\":\"7\",\
             \"remainingItemCount\":12}},\t\"items\" :[ {nasty} ,{{}},12,\"é\",null, [1 , 2]\n],\"more\":123}} \n"
        );
        let whole: Value = serde_json::from_str(&text).unwrap();
        for size in 1..=text.len() {
            let (list, (_, objects)) = fed::<Value>("items", &text, size).unwrap();
            assert_eq!(json!(objects), whole["items"], "{size}");
            assert_eq!(list.token(), Some("x"), "{size}");
        }
        let table = r#"{"items":[1],"rows":[2,3],"columnDefinitions":[{"name":"a"}]}"#;
        let mut given = Vec::new();
        let mut list = Arriving::<Value>::new("rows");
        list.buffer().extend_from_slice(table.as_bytes());
        list.decode("/", true, |(columns, rows)| given.push((columns.len(), rows))).unwrap();
        assert_eq!(given, [(1, vec![json!(2), json!(3)])], "rows wait for their columns");
        for none in ["{}", r#"{"metadata":null,"items":null}"#, r#"{"items":[]}"#] {
            assert_eq!(fed::<Value>("items", none, 3).unwrap().1.1.len(), 0, "{none}");
        }
    }

    #[test]
    fn the_token_and_the_objects_are_there_before_the_rest_has_come() {
        let mut list = Arriving::<Value>::new("items");
        list.buffer().extend_from_slice(br#"{"metadata":{"continue":"x"},"items":[{"a":1},{"b":"#);
        let mut came = Vec::new();
        list.decode("/", false, |(_, objects)| came.extend(objects)).unwrap();
        assert_eq!((list.token(), came.len()), (Some("x"), 1));
        assert!(list.rest.len() <= r#"{"b":"#.len(), "what is used up is gone");
    }

    #[test]
    fn what_does_not_hold_together_is_told_with_its_place() {
        #[derive(Debug, Deserialize)]
        struct Named {
            #[serde(rename = "name")]
            _name: String,
        }
        let table = [
            ("", "Eof"),
            ("{\"items\":[{\"name\":\"a\"}", "Eof 1:22"),
            ("{\"items\":[]", "Eof 1:11"),
            ("<html>", "Syntax 1:1"),
            ("[]", "Data"),
            ("{\"items\":\"canary\"}", "Data 1:"),
            ("{\n\"items\":[\n{\"name\":1}]}", "Data 3:9"),
            ("{\"items\":[{\"name\":\"a\"} {\"name\":\"b\"}]}", "Syntax 1:24"),
            ("{\"items\":[{\"name\":\"a\"},]}", "Syntax"),
            ("{\"items\" []}", "Syntax 1:10"),
            ("{\"items\":[]}\n}", "Syntax 2:1"),
            ("{\"items\":[nul]}", "Syntax"),
        ];
        for (text, wanted) in table {
            for size in [1, 2, 5, 1000] {
                if text.is_empty() {
                    let wrong = Arriving::<Named>::new("items").use_up(true, |_| ()).unwrap_err();
                    assert_eq!(wrong.what, Category::Eof);
                    continue;
                }
                let told = fed::<Named>("items", text, size).map(|_| ()).unwrap_err();
                assert!(told.starts_with(wanted), "{text:?} in pieces of {size}: {told}");
            }
        }
    }

    #[test]
    fn an_object_larger_than_the_pieces_is_not_begun_anew_with_each() {
        let text = json!({"items": ["x".repeat(40 * PIECE), "b"]}).to_string();
        let mut list = Arriving::<String>::new("items");
        let (mut left, mut tries, mut came) = (text.as_bytes(), 0, Vec::new());
        while !left.is_empty() {
            let (piece, rest) = left.split_at((list.wanted() - list.rest.len()).min(left.len()));
            list.buffer().extend_from_slice(piece);
            list.decode("/", rest.is_empty(), |(_, objects)| came.extend(objects)).unwrap();
            (left, tries) = (rest, tries + 1);
        }
        assert_eq!(came.iter().map(String::len).collect::<Vec<_>>(), [40 * PIECE, 1]);
        assert!(tries <= 8, "{tries} times");
    }
}
