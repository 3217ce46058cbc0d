//! How the page looks: light and dark, on a phone, on paper.

/// The colours. On paper they are the light ones, whatever the screen has.
pub(super) const COLOURS: &str = "
:root { --ink: #1b1f24; --dim: #5b6570; --paper: #ffffff; --line: #d5dae0; --card: #f5f7f9;
  --c0: #6e7781; --c1: #1f6feb; --c2: #1a8754; --c3: #c2700a; --c4: #8250df; --c5: #bf3989; --bad: 207 34 46; --good: 26 135 84; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6eaef; --dim: #9aa5b1; --paper: #12161b; --line: #323a43; --card: #1a2027;
  --c0: #8b949e; --c1: #4d94ff; --c2: #3fb981; --c3: #e8973a; --c4: #a98bf5; --c5: #f178b6; --bad: 248 81 73; --good: 63 185 129; } }
";

/// What pictures need, on the page and by themselves.
pub(super) const PICTURES: &str = "
.chart text { font: 11px system-ui, sans-serif; fill: var(--ink); }
.chart .label { fill: var(--dim); } .whisker { stroke: var(--ink); stroke-width: 1.3; } .grid { stroke: var(--line); }
polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
.s0 { fill: var(--c0); } .s1 { fill: var(--c1); } .s2 { fill: var(--c2); } .s3 { fill: var(--c3); } .s4 { fill: var(--c4); } .s5 { fill: var(--c5); }
.l0 { stroke: var(--c0); } .l1 { stroke: var(--c1); } .l2 { stroke: var(--c2); } .l3 { stroke: var(--c3); } .l4 { stroke: var(--c4); } .l5 { stroke: var(--c5); }
.paper { fill: var(--paper); }
";

/// The page, and what is otherwise on a phone and on paper.
pub(super) const PAGE: &str = "
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 2rem auto 4rem; padding: 0 1rem; }
h1 { font-size: 1.8rem; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .4rem; padding-top: .8rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
.lead, .dim, dt, .legend, figcaption { color: var(--dim); } .lead { max-width: 46rem; margin-top: 0; }
.dim { font-size: .85rem; font-weight: normal; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 1rem 0; } dd { margin: 0; min-width: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .8rem; margin: 1.2rem 0; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; }
.card h2 { font-size: 1rem; border: 0; padding: 0; margin: 0; overflow-wrap: anywhere; } .card p { margin: .15rem 0; font-size: .9rem; }
.card .big { font-size: 2rem; font-weight: 650; line-height: 1.15; } .card .big span { font-size: 1rem; font-weight: normal; color: var(--dim); }
.legend { margin: .6rem 0; font-size: .9rem; } .legend span { margin-right: 1.2rem; white-space: nowrap; } .legend svg { vertical-align: -1px; }
.scroll { overflow-x: auto; } .save { margin: .1rem 0 .6rem; font-size: .8rem; } a { color: var(--c1); }
.chart { width: 100%; min-width: 18rem; height: auto; display: block; }
.small { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1rem 1.4rem; } figure { margin: 0; min-width: 0; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; font-size: .87rem; }
th, td { padding: .22rem .8rem .22rem 0; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { color: var(--dim); font-weight: 600; } th[scope=row] { color: var(--ink); font-weight: normal; } th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
td.words { white-space: normal; text-align: left; min-width: 16rem; color: var(--dim); }
.published td { color: var(--dim); } .quantiles { font-size: .8rem; width: 100%; }
.quantiles th:nth-child(2), .quantiles td:nth-child(2) { text-align: right; }
.heat td, .heat th { text-align: center !important; padding: .28rem .9rem; border: 2px solid var(--paper); }
.heat td:first-child, .heat th:first-child { text-align: left !important; padding-left: 0; }
.heat .cost { background: rgb(var(--bad) / calc(var(--strength) * 70%)); } .heat .gain { background: rgb(var(--good) / calc(var(--strength) * 70%)); }
.heat .same { background: var(--card); color: var(--dim); }
.heat .open { color: var(--dim); font-style: italic; border: 2px dotted var(--line); }
.answer { background: var(--card); border-left: .3rem solid var(--c1); border-radius: .4rem; padding: .6rem 1rem; max-width: 46rem; }
.answer p { margin: .3rem 0; }
.claims { width: 100%; } .claims td, .claims th { text-align: left !important; white-space: normal; vertical-align: top; }
.claims .refuted { font-weight: 650; } .claims .open { color: var(--dim); font-style: italic; } .claims .dim { display: block; }
.flag { border: 1px solid var(--line); border-radius: .3rem; padding: 0 .35rem; font-size: .8rem; white-space: nowrap; color: var(--dim); }
.warning { border: 1px solid rgb(var(--bad)); border-radius: .6rem; padding: 0 1rem; } .note { color: var(--dim); font-size: .9rem; }
code { overflow-wrap: anywhere; font-size: .85rem; } summary { cursor: pointer; margin-top: 2rem; font-weight: 600; }
@media (max-width: 34rem) { body { font-size: 14px; margin-top: 1rem; } dl { grid-template-columns: 1fr; } dt { margin-top: .4rem; }
  .chart { min-width: 36rem; } .small .chart { min-width: 0; }
  .claims, .claims tbody, .claims tr, .claims td { display: block; } .claims thead { display: none; }
  .claims tr { border-bottom: 1px solid var(--line); padding: .5rem 0; } .claims td { border: 0; padding: .05rem 0; }
  .claims td::before { content: attr(data-label) ': '; color: var(--dim); } }
@media print { :root { --ink: #000; --dim: #444; --paper: #fff; --card: #fff; } body { max-width: none; margin: 0; font-size: 11px; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } .scroll { overflow: visible; } .save { display: none; } th, td { white-space: normal; padding-right: .5rem; } figure, .card, tr, svg { break-inside: avoid; }
  h2, h3 { break-after: avoid; } details { display: none; } .chart { min-width: 0; } }
";
