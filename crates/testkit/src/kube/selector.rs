//! Label and field selectors, in the grammar of the real server.

use std::collections::BTreeMap;

/// One condition on labels.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    Exists(String),
    Missing(String),
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Above(String, i64),
    Below(String, i64),
}

/// All of them must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels(Vec<Requirement>);

impl Labels {
    /// Parses; the error is what the server says in its `Status`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0 };
        let mut requirements = Vec::new();
        while parser.peek() != &Token::End {
            requirements.push(parser.requirement()?);
            match parser.next() {
                Token::End => break,
                Token::Comma if parser.peek() != &Token::End => {}
                other => return Err(format!("found '{other}', expected: ',' or end of string")),
            }
        }
        Ok(Self(requirements))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let number = |key: &String| labels.get(key).and_then(|value| value.parse::<i64>().ok());
        self.0.iter().all(|requirement| match requirement {
            Requirement::Exists(key) => labels.contains_key(key),
            Requirement::Missing(key) => !labels.contains_key(key),
            Requirement::In(key, values) => labels.get(key).is_some_and(|value| values.contains(value)),
            Requirement::NotIn(key, values) => labels.get(key).is_none_or(|value| !values.contains(value)),
            Requirement::Above(key, bound) => number(key).is_some_and(|value| value > *bound),
            Requirement::Below(key, bound) => number(key).is_some_and(|value| value < *bound),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Not,
    Equal,
    NotEqual,
    Above,
    Below,
    Open,
    Close,
    Comma,
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Word(word) => word,
            Self::Not => "!",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Above => ">",
            Self::Below => "<",
            Self::Open => "(",
            Self::Close => ")",
            Self::Comma => ",",
            Self::End => "",
        })
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        tokens.push(match letter {
            ' ' | '\t' | '\n' | '\r' => continue,
            '!' if letters.next_if_eq(&'=').is_some() => Token::NotEqual,
            '!' => Token::Not,
            '=' => {
                letters.next_if_eq(&'=');
                Token::Equal
            }
            '>' => Token::Above,
            '<' => Token::Below,
            '(' => Token::Open,
            ')' => Token::Close,
            ',' => Token::Comma,
            letter if word(letter) => {
                let mut text = String::from(letter);
                while let Some(letter) = letters.next_if(|letter| word(*letter)) {
                    text.push(letter);
                }
                Token::Word(text)
            }
            other => return Err(format!("unable to parse requirement: unexpected character '{other}'")),
        });
    }
    tokens.push(Token::End);
    Ok(tokens)
}

fn word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.' | '/')
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        if self.peek() == &Token::Not {
            self.next();
            return Ok(Requirement::Missing(self.key()?));
        }
        let key = self.key()?;
        if matches!(self.peek(), Token::Comma | Token::End) {
            return Ok(Requirement::Exists(key));
        }
        Ok(match self.next() {
            Token::Equal => Requirement::In(key, vec![self.value()?]),
            Token::NotEqual => Requirement::NotIn(key, vec![self.value()?]),
            Token::Above => Requirement::Above(key, self.number()?),
            Token::Below => Requirement::Below(key, self.number()?),
            Token::Word(word) if word == "in" => Requirement::In(key, self.set()?),
            Token::Word(word) if word == "notin" => Requirement::NotIn(key, self.set()?),
            other => {
                return Err(format!(
                    "unable to parse requirement: found '{other}', expected: in, notin, =, ==, !=, gt, lt"
                ));
            }
        })
    }

    fn key(&mut self) -> Result<String, String> {
        match self.next() {
            Token::Word(key) => {
                let (prefix, name) = key.rsplit_once('/').unwrap_or(("", &key));
                let good = !name.is_empty()
                    && name.len() <= 63
                    && !prefix.contains('/')
                    && key.chars().next().is_some_and(char::is_alphanumeric)
                    && key.chars().last().is_some_and(char::is_alphanumeric);
                if good { Ok(key) } else { Err(format!("unable to parse requirement: key: Invalid value: \"{key}\"")) }
            }
            other => Err(format!(
                "unable to parse requirement: found '{other}', expected: !, identifier, or 'end of string'"
            )),
        }
    }

    /// `a=` asks for the empty value.
    fn value(&mut self) -> Result<String, String> {
        match self.peek().clone() {
            Token::Word(value) => {
                self.next();
                Ok(value)
            }
            Token::Comma | Token::End => Ok(String::new()),
            other => Err(format!("unable to parse requirement: found '{other}', expected: identifier")),
        }
    }

    fn number(&mut self) -> Result<i64, String> {
        let value = self.value()?;
        value.parse().map_err(|_| {
            format!("unable to parse requirement: values[0]: Invalid value: \"{value}\": for 'Gt', 'Lt' operators, the value must be an integer")
        })
    }

    fn set(&mut self) -> Result<Vec<String>, String> {
        if self.next() != Token::Open {
            return Err("unable to parse requirement: found '', expected: '('".to_owned());
        }
        let mut values = Vec::new();
        loop {
            values.push(if self.peek() == &Token::Close { String::new() } else { self.value()? });
            match self.next() {
                Token::Close => return Ok(values),
                Token::Comma => {}
                other => return Err(format!("unable to parse requirement: found '{other}', expected: ',' or ')'")),
            }
        }
    }
}

/// One condition on a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Dotted path.
    pub path: String,
    pub value: String,
    /// `!=`.
    pub not: bool,
}

/// Parses `a=b,c!=d`, with `\` before a comma, an equals sign or itself.
pub(crate) fn fields(text: &str) -> Result<Vec<Field>, String> {
    let mut terms = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, terms.last_mut()) {
            (',', _) => terms.push(String::new()),
            ('\\', Some(term)) => {
                term.push('\\');
                term.extend(letters.next());
            }
            (letter, Some(term)) => term.push(letter),
            (_, None) => {}
        }
    }
    terms.iter().filter(|term| !term.is_empty()).map(|term| field(term)).collect()
}

fn field(term: &str) -> Result<Field, String> {
    let invalid = || format!("invalid selector: '{term}'; can't understand '{term}'");
    let at = term.find('=').ok_or_else(invalid)?;
    let (not, path) = match term[..at].strip_suffix('!') {
        Some(path) => (true, path),
        None => (false, &term[..at]),
    };
    let value = term[at + 1..].strip_prefix('=').unwrap_or(&term[at + 1..]);
    let mut plain = String::new();
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.push(letters.next().filter(|l| matches!(l, ',' | '=' | '\\')).ok_or_else(invalid)?),
            '=' => return Err(invalid()),
            letter => plain.push(letter),
        }
    }
    Ok(Field { path: path.to_owned(), value: plain, not })
}

/// Whether the server can select objects of this kind by that field.
pub(crate) fn selectable(group: &str, plural: &str, path: &str) -> bool {
    const COMMON: [&str; 2] = ["metadata.name", "metadata.namespace"];
    let more: &[&str] = match (group, plural) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "secrets") => &["type"],
        ("", "namespaces") => &["status.phase"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("apps", "replicasets") => &["status.replicas"],
        ("batch", "jobs") => &["status.successful"],
        _ => &[],
    };
    COMMON.contains(&path) || more.contains(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn label_selectors_select() {
        let web = labels(&[("app", "web"), ("tier", "front"), ("example.com/weight", "7"), ("empty", "")]);
        let yes = [
            "",
            "app",
            "!missing",
            "app=web",
            "app == web",
            "app!=api",
            "app in (api, web),tier notin (back)",
            "example.com/weight>6,example.com/weight<8",
            "empty=",
            "missing notin (x)",
        ];
        let no = ["!app", "app=api", "app!=web", "app in (api)", "missing", "missing in (x)", "example.com/weight>7"];
        for text in yes {
            assert!(Labels::parse(text).unwrap().matches(&web), "{text}");
        }
        for text in no {
            assert!(!Labels::parse(text).unwrap().matches(&web), "{text}");
        }
    }

    #[test]
    fn what_does_not_parse_is_told() {
        for text in ["app in", "app in (a", "=x", "app,", "a b", "app=(x)", "app>x", "a$b", "-app", "app=a=b"] {
            assert!(Labels::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn field_selectors_have_escapes_and_two_signs() {
        let parsed = fields(r"metadata.name=a\,b\=c,status.phase!=Running,x==y").unwrap();
        let told: Vec<_> = parsed.iter().map(|f| (f.path.as_str(), f.value.as_str(), f.not)).collect();
        assert_eq!(told, [("metadata.name", "a,b=c", false), ("status.phase", "Running", true), ("x", "y", false)]);
        assert!(fields("name").is_err() && fields("a=b=c").is_err() && fields(r"a=\x").is_err());
        assert!(selectable("", "pods", "spec.nodeName") && !selectable("", "pods", "spec.containers"));
    }
}
