//! Cohorts: methods that can be compared with each other.

use crate::record::{Method, Record};

/// Methods on the same data, with the same protocol, metric and group.
#[derive(Debug)]
pub(super) struct Cohort<'a> {
    pub(super) record: &'a Record,
    pub(super) group: &'a str,
    pub(super) metric: &'a str,
    pub(super) lower_is_better: bool,
    /// With unique names.
    pub(super) methods: Vec<Method>,
    /// The same name has the same colour on the whole page.
    pub(super) colours: Vec<usize>,
}

impl Cohort<'_> {
    pub(super) fn methods(&self) -> Vec<&Method> {
        self.methods.iter().collect()
    }

    /// The reference of comparisons: EGG if present, else the first method.
    pub(super) fn reference(&self) -> usize {
        let egg = |method: &Method| method.name.to_lowercase().starts_with("egg");
        self.methods.iter().position(egg).unwrap_or(0)
    }
}

pub(super) fn cohorts(records: &[Record]) -> Vec<Cohort<'_>> {
    let mut cohorts: Vec<(_, Cohort<'_>)> = Vec::new();
    let mut titles: Vec<Vec<&str>> = Vec::new();
    for record in records {
        let data = if record.data.fingerprint.is_empty() {
            &record.data.name
        } else {
            &record.data.fingerprint
        };
        for method in &record.methods {
            let key = (
                data.as_str(),
                record.protocol.as_str(),
                method.metric(),
                method.lower_is_better,
                method.group.as_str(),
            );
            let place = cohorts
                .iter()
                .position(|(other, _)| *other == key)
                .unwrap_or_else(|| {
                    let cohort = Cohort {
                        record,
                        group: &method.group,
                        metric: method.metric(),
                        lower_is_better: method.lower_is_better,
                        methods: Vec::new(),
                        colours: Vec::new(),
                    };
                    cohorts.push((key, cohort));
                    titles.push(Vec::new());
                    cohorts.len() - 1
                });
            cohorts[place].1.methods.push(method.clone());
            titles[place].push(&record.title);
        }
    }
    let mut names: Vec<String> = Vec::new();
    for ((_, cohort), titles) in cohorts.iter_mut().zip(&titles) {
        distinguish(&mut cohort.methods, titles);
        // The reference comes first.
        let reference = cohort.reference();
        cohort.methods[..=reference].rotate_right(1);
        for method in &cohort.methods {
            let known = names.iter().position(|name| *name == method.name);
            cohort.colours.push(known.unwrap_or_else(|| {
                names.push(method.name.clone());
                names.len() - 1
            }));
        }
    }
    cohorts.into_iter().map(|(_, cohort)| cohort).collect()
}

/// Adds the run's title, then a number, to names that occur twice.
fn distinguish(methods: &mut [Method], titles: &[&str]) {
    for method in methods.iter_mut() {
        if method.name.trim().is_empty() {
            method.name = "unnamed".to_owned();
        }
    }
    for pass in 0..2 {
        let names: Vec<String> = methods.iter().map(|method| method.name.clone()).collect();
        for (i, method) in methods.iter_mut().enumerate() {
            if names.iter().filter(|name| **name == names[i]).count() > 1 {
                let before = names[..i].iter().filter(|name| **name == names[i]).count();
                method.name = match (pass, titles.get(i)) {
                    (0, Some(title)) if !title.is_empty() => format!("{} ({title})", names[i]),
                    _ => format!("{} #{}", names[i], before + 1),
                };
            }
        }
    }
}
