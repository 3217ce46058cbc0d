//! The page of studies: each claim of an article, what the software of its time comes to, what Keyway does.

use super::picture::Picture;
use super::words::number;
use super::{bars, page};
use crate::result::{Comparison, Document};
use crate::study::{
    ClaimVerdict, CostModel, HeldAgainst, Reproduced, Said, Standing, Study, StudyDocument, StudyExperiment,
};
use crate::study::{published_words, said_words};
use maud::{Markup, html};

/// The page for everything that studies found.
pub fn studies(document: &StudyDocument) -> String {
    let heading = "What was said of encryption, measured again";
    let content = html! {
        main {
            h1 { (heading) }
            p.lead {
                "Published claims about the cost of encryption, each held against two things: the software of its time, as a "
                "cost for each request that is taken from another of the article's own pairs of figures; and Keyway, measured "
                "turn by turn on a model of the article's drive. Claims that Keyway contradicts are refuted for Keyway, not for "
                "what the article measured."
            }
            div.answer { @for line in &document.answer { p { (line) } } }
            @if !document.missing.is_empty() {
                div.warning {
                    p { strong { "This run was not finished." } }
                    ul { @for line in &document.missing { li { (line) } } }
                }
            }
            @for study in &document.studies { (section(document, study)) }
            (how(document))
        }
    };
    page(heading, &content)
}

fn section(document: &StudyDocument, study: &Study) -> Markup {
    let own: Vec<&ClaimVerdict> = document.verdicts.iter().filter(|v| v.study == study.name).collect();
    html! {
        section aria-labelledby=(study.name) {
            h2 id=(study.name) { (study.title) }
            p.dim { (study.article) }
            (picture(study, &own))
            (claims(study, &own))
            @for note in &study.notes { p.note { (note) } }
            @for model in &study.software { (software(model)) }
            @for experiment in &study.experiments {
                @if let Some(words) = &experiment.stands_for { p.note { (experiment.name) ": " (words) "." } }
            }
            @for experiment in &study.experiments { (measured(document, study, experiment)) }
        }
    }
}

fn software(model: &CostModel) -> Markup {
    html! {
        p.note {
            "Cost model “" (model.name) "”: " (model.pair) "."
            @if model.from_cell.is_some() { " It is not held against that test." }
        }
    }
}

/// A table that becomes a list on a phone; the roles keep it a table for those who listen to it.
fn claims(study: &Study, own: &[&ClaimVerdict]) -> Markup {
    html! {
        table.claims role="table" aria-label=(format!("Claims: {}", study.title)) {
            thead role="rowgroup" {
                tr role="row" {
                    @for heading in ["test", "published", "the software of the time", "Keyway here", "the claim"] {
                        th scope="col" role="columnheader" { (heading) }
                    }
                }
            }
            tbody role="rowgroup" { @for found in own { (claim(found)) } }
        }
    }
}

fn claim(found: &ClaimVerdict) -> Markup {
    let claim = &found.claim;
    let against = match claim.against {
        HeldAgainst::Figure => "the published figure".to_owned(),
        held => format!("against {}", held.words()),
    };
    let class = match found.standing {
        Standing::Refuted => "refuted",
        Standing::Undecided | Standing::NotMeasured => "open",
        Standing::Holds => "",
    };
    html! {
        tr role="row" {
            td role="cell" data-label="test" {
                (claim.cell) ", " (claim.metric.unit())
                span.dim { (found.drive.trim_start_matches("model of ")) ": " (claim.of.to_string()) ", " (against) }
            }
            td role="cell" data-label="published" {
                (published_words(claim)) span.dim { (claim.published) @if let Some(words) = &claim.remark { "; " (words) } }
            }
            td role="cell" data-label="the software of the time" { (then(found)) }
            td role="cell" data-label="Keyway here" { (now(found)) }
            td class=(class) role="cell" data-label="the claim" {
                (found.standing.name())
                @if let Some(words) = found.by_how_much() { span.dim { (words) } }
            }
        }
    }
}

fn then(found: &ClaimVerdict) -> Markup {
    html! {
        @if let Some(said) = &found.then {
            (said_words(&found.claim, said)) ", " (found.reproduced.name())
            span.dim { (number(said.baseline)) " → " (number(said.value)) " " (found.claim.metric.unit()) }
        } @else { span.dim { (Reproduced::NoModel.name()) } }
    }
}

fn now(found: &ClaimVerdict) -> Markup {
    html! {
        @if let Some(said) = &found.now {
            (said_words(&found.claim, said))
            span.dim {
                (number(said.baseline)) " → " (number(said.value)) " " (found.claim.metric.unit())
                (format!("; cost {:.1} to {:.1} %", said.low, said.high))
            }
            @for flag in &found.flags { span.flag { (flag.name()) } " " }
        } @else { span.dim { "not measured" } }
    }
}

/// Widths and heights in the drawing's own units.
const LABEL: f64 = 190.0;
const BARS: f64 = 400.0;
const BAR: f64 = 13.0;
const GROUP: f64 = 52.0;

/// Whose bars those are.
const SIDES: [&str; 3] = ["published", "the software of the time", "Keyway here"];

/// Published costs, the cost models' and Keyway's beside each other.
fn picture(study: &Study, own: &[&ClaimVerdict]) -> Markup {
    let drawn: Vec<_> = own.iter().filter_map(|v| Some((*v, v.claim.percent?, v.now.as_ref()?))).collect();
    let all = drawn.iter().flat_map(|(v, published, now)| {
        let then = v.then.as_ref().map_or(0.0, |then| then.cost_percent);
        [*published, now.cost_percent, now.high, then]
    });
    let largest = all.fold(5.0, f64::max);
    let along = |percent: f64| (BARS * percent / largest).clamp(0.0, BARS);
    let bar = |n: usize, y: f64, what: &str, said: Option<f64>| {
        html! {
            @if let Some(percent) = said {
                rect class=(format!("s{n}")) x=(LABEL) y=(format!("{y:.1}")) height=(BAR - 2.0) rx="1.5"
                    width=(format!("{:.1}", along(percent).max(1.0))) { title { (what) ": " (format!("{percent:.1} %")) } }
                text.value x=(format!("{:.1}", LABEL + along(percent) + 5.0)) y=(format!("{:.1}", y + 9.5)) { (format!("{percent:.1} %")) }
            }
        }
    };
    let height = GROUP * drawn.len() as f64;
    let placed = |shapes: Markup| {
        let label = format!("Cost in percent, {}; the table below has the figures", study.title);
        Picture { label, width: LABEL + BARS + 60.0, height, sides: &SIDES, shapes }.placed()
    };
    html! {
        @if !drawn.is_empty() {
            (bars::legend(&SIDES))
            (placed(html! {
                @for (n, (found, published, now)) in drawn.iter().enumerate() {
                    @let top = GROUP * n as f64 + 4.0;
                    text.label x=(LABEL - 8.0) y=(format!("{:.1}", top + 17.0)) text-anchor="end" { (found.claim.cell) }
                    text.label x=(LABEL - 8.0) y=(format!("{:.1}", top + 31.0)) text-anchor="end" {
                        (found.claim.metric.unit()) ", against " (found.claim.against.words())
                    }
                    (bar(0, top, "published", Some(*published)))
                    (bar(1, top + BAR, "the software of the time", cost(found.then.as_ref())))
                    (bar(2, top + 2.0 * BAR, "Keyway here", cost(Some(now))))
                }
            }))
        }
    }
}

fn cost(said: Option<&Said>) -> Option<f64> {
    said.map(|said| said.cost_percent)
}

/// An experiment's own figures, folded away.
fn measured(document: &StudyDocument, study: &Study, experiment: &StudyExperiment) -> Markup {
    let own = |name: &str, other: &str| name == study.name && other == experiment.name;
    let found = document.measured.iter().find(|m| own(&m.study, &m.experiment)).map(|m| &m.document);
    let rows: Vec<&Comparison> =
        found.iter().flat_map(|document| &document.cells).filter(|row| row.primary).collect();
    html! {
        @if !rows.is_empty() {
            details {
                summary { (experiment.name) ": none, software and hardware side by side" }
                p.dim { (experiment.workload) " on " (experiment.drive) @if let Some(d) = found { ", " (place(d)) } }
                (bars::charts(&rows))
            }
        }
    }
}

fn place(document: &Document) -> String {
    let machine = &document.machine;
    format!("{}, {} cores, {}; {}", machine.processor, machine.cores, machine.kernel, document.date)
}

fn how(document: &StudyDocument) -> Markup {
    html! {
        h2 { "How to read this" }
        ul {
            li { "“Costs”, “gains” and “equal” are told where the whole interval lies beyond, or within, the change that counts (3 % "
                "where nothing else is said); everything else is undecided. Intervals hold with 95 % for all claims of an experiment together." }
            li { "A claim with a size is refuted where the whole interval lies below it by more than that change, and holds where it reaches it." }
            li { "“Reproduced”: the cost model comes to the same word, and within a quarter of the published cost." }
        }
        @if let Some(first) = document.measured.first() {
            p.dim { "Measured with Keyway " (first.document.machine.keyway) " in " (format!("{:.0}", document.seconds / 60.0))
                " minutes: " code { (first.document.command) } }
        }
    }
}
