//! `kubestellar-ops`, `pintle ops`: the commands of the seed over the tools for clusters.

use crate::{
    Ended, clusters, document, people,
    personality::Personality,
    serve,
    shelf::{self, Hosts},
};
use clap::Command;
use pintle_cli::{leading_flags, refusal_of};
use pintle_core::{Failure, Toolset};

/// The commands of the toolset.
pub(crate) fn command(program: &str, words: &[String]) -> Ended {
    if let Some(words) = server(words) {
        return serve::mcp(&format!("{program} mcp"), Some(Personality::Ops.toolset()), &words);
    }
    let (before, rest) = words.split_at(leading_flags(words, &clusters::flags(true)));
    let said = clusters_of(program, before)?;
    match rest.first().map(String::as_str) {
        Some("mcp") => {
            let ours = said.1.iter().cloned();
            let words: Vec<String> = rest[1..].iter().cloned().chain(ours).collect();
            return serve::mcp(&format!("{program} mcp"), Some(Personality::Ops.toolset()), &words);
        }
        Some("completions") => return document::completions("ops", &rest[1..]),
        Some("man") => return document::man("ops", &rest[1..]),
        Some("version" | "--version" | "-V") if rest.len() == 1 => return people::house(&["version".to_owned()]),
        _ => {}
    }
    let (said, _, general) = said;
    let words = [general, with_names(rest)].concat();
    people::ops(program, &words, &said)
}

/// The tools over the clusters that flags in front mean, and the words behind those flags.
pub(crate) fn typed(words: &[String]) -> Option<(Vec<Toolset>, &[String])> {
    let (before, rest) = words.split_at(leading_flags(words, &clusters::flags(true)));
    let (said, ..) = clusters_of("", before).ok()?;
    let hosts = Hosts::of(&people::nowhere(), &said, "/".as_ref()).ok()?;
    Some((shelf::clusters(&hosts), rest))
}

/// `--mcp-server` anywhere: the words of `mcp serve` over standard input and output.
fn server(words: &[String]) -> Option<Vec<String>> {
    words.iter().any(|word| word == "--mcp-server").then(|| {
        let others = words.iter().filter(|word| *word != "--mcp-server").cloned();
        ["serve", "--stdio"].map(str::to_owned).into_iter().chain(others).collect()
    })
}

/// What flags before the command say of clusters; those flags as words; and the other flags.
fn clusters_of(program: &str, before: &[String]) -> Result<(clusters::Said, Vec<String>, Vec<String>), Failure> {
    let flags = clusters::flags(true);
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < before.len() {
        let word = &before[at];
        let name = word.split('=').next().unwrap_or(word);
        let arg = flags.iter().find(|arg| {
            arg.get_long() == name.strip_prefix("--")
                || (!word.starts_with("--") && arg.get_short().is_some_and(|s| word[1..].starts_with(s)))
        });
        let attached = if word.starts_with("--") { word.contains('=') } else { word.chars().count() > 2 };
        let length = match arg {
            Some(arg) => 1 + usize::from(arg.get_action().takes_values() && !attached),
            // A flag of every command: with its value, if the next word is none of ours.
            None => leading_flags(&before[at..], &[]).clamp(1, 2).min(before.len() - at),
        };
        let end = (at + length).min(before.len());
        if arg.is_some() { &mut ours } else { &mut others }.extend_from_slice(&before[at..end]);
        at = end;
    }
    let command = Command::new("clusters").no_binary_name(true).disable_help_flag(true).args(flags);
    let matches = command.try_get_matches_from(&ours).map_err(|error| refusal_of(&error, program))?;
    Ok((clusters::Said::matched(&matches), ours, others))
}

/// `clusters health NAME` and `--all-clusters` in today's words.
fn with_names(words: &[String]) -> Vec<String> {
    let is = |place: usize, word: &str| words.get(place).is_some_and(|known| known == word);
    if !(is(0, "clusters") && is(1, "health")) {
        return words.to_vec();
    }
    let mut out = words[..2].to_vec();
    let mut value = false;
    for word in &words[2..] {
        if value {
            value = false;
            out.push(word.clone());
        } else if word == "--all-clusters" {
            out.push("--clusters=all".to_owned());
        } else if word.starts_with('-') {
            value = !word.contains('=') && leading_flags(std::slice::from_ref(word), &[]) == 1 && takes_value(word);
            value |= matches!(word.as_str(), "--clusters" | "--cluster");
            out.push(word.clone());
        } else {
            out.push(format!("--clusters={word}"));
        }
    }
    out
}

fn takes_value(word: &str) -> bool {
    let two = [word.to_owned(), "x".to_owned()];
    leading_flags(&two, &[]) == 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn the_words_of_the_seed_are_those_of_today() {
        let today = |text: &str| with_names(&words(text)).join(" ");
        assert_eq!(today("clusters health"), "clusters health");
        assert_eq!(today("clusters health prod"), "clusters health --clusters=prod");
        assert_eq!(
            today("clusters health --all-clusters --output json"),
            "clusters health --clusters=all --output json"
        );
        assert_eq!(today("clusters health --output json prod"), "clusters health --output json --clusters=prod");
        assert_eq!(today("clusters list x"), "clusters list x");
        let served = server(&words("--kubeconfig f --mcp-server")).unwrap().join(" ");
        assert_eq!(served, "serve --stdio --kubeconfig f");
        assert!(server(&words("clusters list")).is_none());
    }

    #[test]
    fn flags_before_the_command_are_told_apart() {
        let before = words("--output json -n web --kubeconfig=/f --quiet --insecure-skip-tls-verify");
        let (_, ours, others) = clusters_of("kubestellar-ops", &before).unwrap();
        assert_eq!(ours.join(" "), "-n web --kubeconfig=/f --insecure-skip-tls-verify");
        assert_eq!(others.join(" "), "--output json --quiet");
        assert!(clusters_of("kubestellar-ops", &words("--context")).is_err());
    }
}
