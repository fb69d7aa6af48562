//! What deny.toml demands of sources, licences and versions, as far as `cargo tree` shows it. cargo-deny checks more,
//! but takes longer to build than the stage may take.

use std::collections::{BTreeMap, BTreeSet};

use crate::process::output_of;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Result<(), String> {
    let rules = workspace.root.join("deny.toml");
    let rules = std::fs::read_to_string(&rules).map_err(|e| format!("{}: {e}", rules.display()))?;
    let tree = |edges: &str| {
        let mut cargo = workspace.cargo();
        cargo.args([
            "tree",
            "--workspace",
            "--all-features",
            "--locked",
            "--prefix",
            "none",
        ]);
        cargo.args(["-e", edges, "-f", "{p}|{l}"]);
        for target in entries(&rules, "targets") {
            cargo.args(["--target", target[0]]);
        }
        output_of(&mut cargo).ok_or("`cargo tree` fails; its message is above")
    };
    let (all, linked) = (tree("all")?, tree("normal,build")?);
    println!("{} packages", packages(&all).len());
    let mut wrong = wrong_packages(&rules, &packages(&all));
    wrong.extend(wrong_versions(&rules, &packages(&linked)));
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("; ")),
    }
}

/// The texts between quotes, line by line, of a list in deny.toml.
fn entries<'a>(rules: &'a str, list: &str) -> Vec<Vec<&'a str>> {
    let lines = rules.lines().skip_while(|line| *line != format!("{list} = ["));
    let lines = lines.skip(1).take_while(|line| *line != "]");
    let lines = lines.filter(|line| !line.trim_start().starts_with('#'));
    lines
        .map(|line| line.split('"').skip(1).step_by(2).collect())
        .collect()
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    /// Nothing for the default registry.
    source: &'a str,
    licence: &'a str,
}

/// Of lines such as `syn v2.0.1 (proc-macro)|MIT OR Apache-2.0 (*)`.
fn packages(tree: &str) -> BTreeSet<Package<'_>> {
    let packages = tree.lines().filter_map(|line| {
        let (package, licence) = line.trim_end_matches(" (*)").split_once('|')?;
        let (name, rest) = package.split_once(" v")?;
        let (version, source) = rest.split_once(' ').unwrap_or((rest, ""));
        let source = source.trim_start_matches("(proc-macro)").trim();
        Some(Package {
            name,
            version,
            source,
            licence,
        })
    });
    packages.collect()
}

/// Packages from elsewhere, with other licences, or not wanted at all.
fn wrong_packages(rules: &str, packages: &BTreeSet<Package<'_>>) -> Vec<String> {
    let allowed: Vec<_> = entries(rules, "allow").concat();
    let exceptions = entries(rules, "exceptions");
    let denied: Vec<_> = entries(rules, "deny").iter().map(|entry| entry[0]).collect();
    let mut wrong = Vec::new();
    for Package {
        name,
        source,
        licence,
        ..
    } in packages
    {
        // Paths are those of the workspace.
        if !source.is_empty() && !source.starts_with("(/") {
            wrong.push(format!("{name} comes from {source}"));
        }
        let exception = exceptions.iter().find(|entry| entry[0] == *name);
        let is_allowed =
            |one: &str| allowed.contains(&one) || exception.is_some_and(|entry| entry[1..].contains(&one));
        if !is_satisfied(licence, &is_allowed) {
            wrong.push(format!("the licence of {name} is {licence}"));
        }
        if denied.contains(name) {
            wrong.push(format!("{name} is denied"));
        }
    }
    wrong
}

/// Whether an SPDX expression, in which old packages write `/` for OR, can be met.
fn is_satisfied(licence: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let licence = licence.replace('/', " OR ");
    let (mut depth, mut any, mut all) = (0, false, true);
    let mut group = String::new();
    for word in licence
        .replace('(', " ( ")
        .replace(')', " ) ")
        .split_whitespace()
        .chain(["OR"])
    {
        let is_in_group = depth > 0;
        match word {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if (word == "OR" || word == "AND") && !is_in_group {
            let group = std::mem::take(&mut group);
            all &= match group.trim().strip_prefix('(') {
                Some(inner) => is_satisfied(inner.trim_end_matches([' ', ')']), is_allowed),
                None => is_allowed(group.trim()),
            };
            if word == "OR" {
                (any, all) = (any || all, true);
            }
        } else {
            group = format!("{group} {word}");
        }
    }
    any
}

/// Second versions for which deny.toml has no reason, and reasons that nothing needs any more.
fn wrong_versions(rules: &str, packages: &BTreeSet<Package<'_>>) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(package.name).or_default().push(package.version);
    }
    let skipped = entries(rules, "skip");
    let mut skipped: BTreeMap<&str, bool> = skipped.iter().map(|entry| (entry[0], false)).collect();
    let mut wrong = Vec::new();
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        let mut others = Vec::new();
        for version in versions {
            let is_this = |skip: &&str| format!("{name}@{version}.").starts_with(&format!("{skip}."));
            match skipped.iter_mut().find(|(skip, _)| is_this(skip)) {
                Some((_, is_used)) => *is_used = true,
                None => others.push(*version),
            }
        }
        if others.len() > 1 {
            wrong.push(format!("{name} is there as {}", others.join(" and ")));
        }
    }
    let unused = skipped.iter().filter(|(_, is_used)| !**is_used);
    wrong.extend(unused.map(|(skip, _)| format!("deny.toml need not skip {skip}")));
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "\
allow = [
    # a comment
    \"MIT\",
    \"Unicode-3.0\",
]
exceptions = [
    { crate = \"roots\", allow = [\"CDLA\"] },
]
deny = [
    { crate = \"native\", use-instead = \"rust\" },
]
skip = [
    { crate = \"syn@2\", reason = \"macros\" },
]
";

    #[test]
    fn sources_licences_and_denied_packages_are_found() {
        let wrong = |tree: &str| wrong_packages(RULES, &packages(tree));
        let good = "a v0.1.0 (/here)|MIT\nb v1.0.0 (proc-macro)|MIT (*)\nroots v1.0.0|CDLA\n";
        assert_eq!(packages(good).len(), 3);
        assert!(wrong(good).is_empty(), "{:?}", wrong(good));
        assert_eq!(wrong("a v1.0.0|CDLA"), ["the licence of a is CDLA"]);
        assert_eq!(
            wrong("a v1.0.0 (https://git)|MIT"),
            ["a comes from (https://git)"]
        );
        assert_eq!(wrong("native v1.0.0|MIT"), ["native is denied"]);
        assert_eq!(wrong("a v1.0.0|").len(), 1);
    }

    #[test]
    fn licence_expressions_are_evaluated() {
        let is_allowed = |one: &str| matches!(one, "MIT" | "ISC" | "Zlib");
        for good in [
            "MIT",
            "GPL OR MIT",
            "GPL/MIT",
            "MIT AND ISC",
            "(MIT OR GPL) AND ISC",
            "GPL AND MIT OR ISC",
        ] {
            assert!(is_satisfied(good, &is_allowed), "{good}");
        }
        for bad in [
            "",
            "GPL",
            "MIT AND GPL",
            "(MIT OR ISC) AND GPL",
            "GPL WITH MIT",
            "GPL OR (MIT AND GPL)",
        ] {
            assert!(!is_satisfied(bad, &is_allowed), "{bad}");
        }
    }

    #[test]
    fn second_versions_need_a_reason_that_is_needed() {
        let wrong = |tree: &str| wrong_versions(RULES, &packages(tree));
        assert!(wrong("syn v2.0.1|MIT\nsyn v3.0.0|MIT").is_empty());
        assert_eq!(
            wrong("syn v2.0.1|\nsyn v3.0.0|\na v1.0.0|\na v0.9.0|"),
            ["a is there as 0.9.0 and 1.0.0"]
        );
        assert_eq!(wrong("syn v3.0.0|MIT"), ["deny.toml need not skip syn@2"]);
    }
}
