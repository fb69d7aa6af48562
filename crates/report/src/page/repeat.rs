//! How to reproduce a run: command, settings, versions.

use serde_json::Value;

use super::html::{Page, escape};
use super::words::{protocol_label, thousands};
use crate::record::Record;

pub(super) fn section(page: &mut Page, records: &[Record]) {
    page.section("How to repeat it");
    for record in records {
        if records.len() > 1 {
            page.heading(if record.title.is_empty() {
                "One run"
            } else {
                &record.title
            });
        }
        if !record.command.is_empty() {
            page.add(&format!(
                "<pre class=\"command\">{}</pre>",
                escape(&record.command)
            ));
        }
        let mut list = String::new();
        let mut item = |name: &str, value: &str| {
            if !value.is_empty() {
                list += &format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
            }
        };
        let data = &record.data;
        item("data", &data.name);
        item("source", &data.source);
        let counts = [
            (data.graphs, "graphs"),
            (data.nodes, "nodes"),
            (data.edges, "edges"),
            (data.features, "features"),
            (data.classes, "classes"),
        ];
        let counts: Vec<String> = counts
            .into_iter()
            .filter_map(|(count, name)| Some(format!("{} {name}", thousands(count?))))
            .collect();
        item("counts", &counts.join(", "));
        item("checksum", &data.fingerprint);
        item(protocol_label(record), &record.protocol);
        item(
            "seed",
            &record.seed.map_or(String::new(), |seed| seed.to_string()),
        );
        item("finished", &record.finished);
        let versions = &record.versions;
        item("egg", &versions.egg);
        item("linear algebra", &versions.backend);
        item("compiler", &versions.rustc);
        item("machine", &versions.machine);
        for (name, version) in &versions.others {
            item(name, version);
        }
        if !list.is_empty() {
            page.add(&format!("<dl>{list}</dl>"));
        }
        if record.config != Value::Null {
            let text = match &record.config {
                // Strings are shown as they are: a TOML file, for example.
                Value::String(text) => text.clone(),
                value => serde_json::to_string_pretty(value).unwrap_or_default(),
            };
            page.add(&format!(
                "<details open><summary>All settings</summary><pre>{}</pre></details>",
                escape(&text)
            ));
        }
    }
}
