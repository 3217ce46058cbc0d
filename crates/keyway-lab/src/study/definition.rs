//! A study's file: an article, its tests, the software of its time, and what it claims.

use crate::error::LabError;
use crate::result::{Metric, Verdict};
use crate::target::Target;
use serde::{Deserialize, Serialize};

/// File name and text of each.
const SHIPPED: &[(&str, &str)] = &[
    ("bitlocker-990-pro", include_str!("../../studies/bitlocker-990-pro.toml")),
    ("edrive-2013", include_str!("../../studies/edrive-2013.toml")),
    ("veracrypt-ciphers", include_str!("../../studies/veracrypt-ciphers.toml")),
    ("hard-disk", include_str!("../../studies/hard-disk.toml")),
];

/// An article whose experiment is made again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Short name, as in `lab study NAME`.
    pub name: String,
    /// What was asked, and by whom.
    pub title: String,
    /// The article: its source.
    pub article: String,
    /// What the reader has to know: what was left out, and what stands for what.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The software of the time, as cost models.
    #[serde(default)]
    pub software: Vec<CostModel>,
    /// What is measured.
    pub experiments: Vec<StudyExperiment>,
    /// What the article says.
    pub claims: Vec<Claim>,
}

/// What the cost is put down to: what the software of the time took for a request, by the article's own figures; or the state
/// that the drive was in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostModel {
    /// Its name in the study.
    pub name: String,
    /// The test whose pair of figures it is taken from: it says nothing about that test. None where nothing was published
    /// but the cause.
    #[serde(default)]
    pub from_cell: Option<String>,
    /// That pair, and how the time follows from it; or what was taken for the drive's state.
    pub pair: String,
    /// Time of a request beside the drive's, in µs.
    pub request_us: f64,
    /// The drive looks full to itself: everything was written once, nothing discarded, and what the test writes was
    /// written over until nothing changed any more. Without it, it has all the room that it was made with.
    #[serde(default)]
    pub full_drive: bool,
    /// Requests that are worked on at once.
    pub workers: usize,
}

/// A workload on a modelled drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyExperiment {
    /// Its name in the study.
    pub name: String,
    /// The modelled drive.
    pub drive: String,
    /// The workload.
    pub workload: String,
    /// Its tests; empty for all.
    #[serde(default)]
    pub cells: Vec<String>,
    /// What is held against no encryption.
    pub with: Vec<Target>,
    /// Bytes that are touched, in MiB; the workload's own otherwise.
    #[serde(default)]
    pub size_mib: Option<u64>,
    /// Length of a run in seconds; the workload's own turns otherwise, and its pauses.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Number of runs.
    #[serde(default)]
    pub runs: Option<u32>,
    /// Of workloads that make volumes, this part.
    #[serde(default)]
    pub scale: Option<f64>,
    /// What is undecided is measured on until it took so many minutes.
    pub minutes: f64,
    /// Where it is not the article's own test: what it stands for.
    #[serde(default)]
    pub stands_for: Option<String>,
}

/// What a figure was held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldAgainst {
    /// The same drive without encryption.
    None,
    /// The same drive encrypting by itself.
    Hardware,
    /// The same format with AES alone.
    Aes,
    /// Nothing: the figure itself is the claim.
    Figure,
}

impl HeldAgainst {
    /// For people.
    pub fn words(self) -> &'static str {
        match self {
            Self::None => "no encryption",
            Self::Hardware => "hardware",
            Self::Aes => "AES",
            Self::Figure => "its own figure",
        }
    }
}

fn three_percent() -> f64 {
    0.03
}

/// One thing that an article says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The experiment that looks at it.
    pub experiment: String,
    /// The test.
    pub cell: String,
    /// What is counted.
    pub metric: Metric,
    /// Who it is about.
    pub of: Target,
    /// What it was held against.
    pub against: HeldAgainst,
    /// The direction: costs, gains or equal.
    pub says: Verdict,
    /// The published cost in percent; none where no size was published.
    #[serde(default)]
    pub percent: Option<f64>,
    /// The published figure, where that is the claim.
    #[serde(default)]
    pub figure: Option<f64>,
    /// As published.
    pub published: String,
    /// The cost model that is held against it.
    #[serde(default)]
    pub software: Option<String>,
    /// A change by less than this is none, as a part of 1.
    #[serde(default = "three_percent")]
    pub delta: f64,
    /// What the article makes of it, or what speaks for care.
    #[serde(default)]
    pub remark: Option<String>,
}

/// Every shipped study.
///
/// # Errors
/// None in a program whose tests have passed.
pub fn shipped() -> Result<Vec<Study>, LabError> {
    SHIPPED.iter().map(|(name, text)| parse(name, text)).collect()
}

/// The names of the shipped studies.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

fn parse(name: &str, text: &str) -> Result<Study, LabError> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let (file, line) = (format!("{name}.toml"), before.matches('\n').count() + 1);
        LabError::Workload { file, line, what: error.message().to_owned() }
    })
}

impl Study {
    /// The experiment of that name.
    pub fn experiment(&self, name: &str) -> Option<&StudyExperiment> {
        self.experiments.iter().find(|e| e.name == name)
    }

    /// The cost model that a claim names.
    pub fn software_of(&self, claim: &Claim) -> Option<&CostModel> {
        claim.software.as_ref().and_then(|name| self.software.iter().find(|model| model.name == *name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration;
    use crate::workload::{self, Procedure};

    #[test]
    fn each_study_is_named_as_its_file_and_its_words_lead_somewhere() {
        for (study, name) in shipped().unwrap().iter().zip(names()) {
            assert_eq!(study.name, name);
            assert!(!study.article.is_empty() && !study.claims.is_empty());
            for experiment in &study.experiments {
                calibration::model(&experiment.drive).unwrap();
                let workload = workload::find(&experiment.workload).unwrap();
                if let Procedure::Requests(requests) = &workload.kind {
                    let has = |cell: &String| requests.cells.iter().any(|c| c.name == *cell);
                    assert!(experiment.cells.iter().all(has), "{name}: {:?}", experiment.cells);
                }
                let used = |claim: &&Claim| claim.experiment == experiment.name;
                assert!(study.claims.iter().any(|c| used(&c)), "{name}: {} is for nothing", experiment.name);
            }
            for claim in &study.claims {
                let experiment = study.experiment(&claim.experiment).expect(&claim.experiment);
                assert!(experiment.with.contains(&claim.of), "{name}: {}", claim.cell);
                assert!(
                    experiment.cells.is_empty() || experiment.cells.contains(&claim.cell),
                    "{}",
                    claim.cell
                );
                assert!(claim.says != Verdict::Undecided, "a claim says something");
                assert_eq!(claim.figure.is_some(), claim.against == HeldAgainst::Figure, "{}", claim.cell);
                if claim.against == HeldAgainst::Aes {
                    assert!(experiment.with.contains(&Target::VeraCrypt("aes".into())), "{}", claim.cell);
                }
                if claim.against == HeldAgainst::Hardware {
                    assert!(experiment.with.contains(&Target::Hardware(None)), "{}", claim.cell);
                }
            }
        }
    }

    /// A model that was set by a figure repeats it, whatever is true.
    #[test]
    fn no_cost_model_is_held_against_the_figure_it_was_taken_from() {
        let mut judged = 0;
        for study in shipped().unwrap() {
            for claim in study.claims.iter().filter(|claim| claim.software.is_some()) {
                let model = study.software_of(claim).expect("a cost model of that name");
                assert_ne!(model.from_cell.as_ref(), Some(&claim.cell), "{}", study.name);
                assert!(model.workers > 0 && !model.pair.is_empty());
                // It is one or the other, so that what comes of it is put down to that.
                assert_eq!(model.full_drive, model.request_us == 0.0 && model.from_cell.is_none());
                judged += 1;
            }
        }
        assert!(judged >= 6, "{judged}");
    }
}
