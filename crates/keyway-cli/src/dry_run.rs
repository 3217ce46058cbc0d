//! `--dry-run`: a plan is looked at, printed, and not carried out.

use crate::failure::Failure;
use crate::given::VolumeArgs;
use crate::output::{Output, bytes, pairs};
use keyway::Error;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// The option of the verbs that write.
#[derive(clap::Args, Debug, Clone, Copy, Default)]
pub(crate) struct DryRunArgs {
    /// Print what would be done, and do nothing
    #[arg(long, display_order = 902)]
    pub(crate) dry_run: bool,
}

/// A volume that is written to.
#[derive(clap::Args, Debug)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    pub(crate) dry: DryRunArgs,
    #[command(flatten)]
    pub(crate) target: VolumeArgs,
}

impl DryRunArgs {
    /// Carries a plan out where it is to be, and tells what came of it.
    pub(crate) fn carry_out<P: Serialize, T: Serialize>(
        self,
        plan: P,
        question: Option<&str>,
        run: impl FnOnce(P) -> Result<T, Error>,
        words: impl FnOnce(&T) -> String,
        out: Output,
    ) -> Result<(), Failure> {
        if !self.go_on(&plan, question, out)? {
            return Ok(());
        }
        let done = run(plan)?;
        out.result(&done, || words(&done))
    }

    /// Whether a plan is to be carried out: asks the question first, where there is one; with `--dry-run` prints the plan
    /// instead, as `{"dry_run":true,"plan":…}` or as a table of its fields.
    pub(crate) fn go_on(
        self,
        plan: &impl Serialize,
        question: Option<&str>,
        out: Output,
    ) -> Result<bool, Failure> {
        if !self.dry_run {
            return question.map_or(Ok(()), |question| out.confirm(question)).map(|()| true);
        }
        out.result(&Document { dry_run: true, plan }, || words(plan, question))?;
        Ok(false)
    }
}

#[derive(Serialize)]
struct Document<'a, P> {
    dry_run: bool,
    plan: &'a P,
}

fn words(plan: &impl Serialize, question: Option<&str>) -> String {
    let fields = serde_json::to_string(plan).and_then(|text| serde_json::from_str(&text));
    let Fields(fields) = fields.unwrap_or_default();
    let mut rows = Vec::new();
    fields.iter().for_each(|(name, value)| row(&mut rows, &format!("  {name}"), value));
    let question = question.map(|question| format!("{question}\n")).unwrap_or_default();
    format!("Nothing was done. This would be:\n{}{question}", pairs(&rows))
}

fn row(rows: &mut Vec<(String, String)>, name: &str, value: &Value) {
    let label = name.trim_end_matches("_bytes").replace('_', " ");
    let word = match value {
        Value::Null => return,
        Value::Object(fields) => {
            return fields.iter().for_each(|(inner, value)| row(rows, &format!("{name}_{inner}"), value));
        }
        Value::Array(all) if all.is_empty() => return,
        Value::Array(all) if all.iter().any(|one| one.is_object() || one.is_array()) => {
            return all.iter().for_each(|one| row(rows, name, one));
        }
        Value::Array(all) => all.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Number(number) if name.ends_with("bytes") => {
            number.as_u64().map_or_else(|| number.to_string(), bytes)
        }
        other => plain(other),
    };
    rows.push((label, word));
}

fn plain(value: &Value) -> String {
    match value {
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// An object's fields in the order in which they were written.
#[derive(Default)]
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Fields, M::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Fields(fields))
    }
}

#[cfg(test)]
#[path = "../tests/inner/dry_run.rs"]
mod tests;
