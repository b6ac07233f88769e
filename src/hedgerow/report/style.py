"""The look of the page, on wide and narrow screens and on paper."""

STYLE = """
:root { color-scheme: light; --ink: #1a1a1a; --soft: #555; --line: #ddd; --tint: #f4f7fa; }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: #fff;
  margin: 0 auto; padding: 1.5rem; max-width: 72rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.25rem; margin: 2.4rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; } p, figcaption { max-width: 50rem; }
.soft, figcaption { color: var(--soft); font-size: .875rem; }
figure { margin: 1rem 0 2rem; } img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; } td.n, th.n { text-align: right; white-space: nowrap; }
.claims td:last-child { width: 50%; } .claim { width: 20%; }
tr.ours { background: var(--tint); } .front { font-weight: 600; }
.yes { color: #00614a; } .no, .warn { color: #a33c00; }
.mixed, .undecided, .untested { color: #7a5c00; }
nav a { margin-right: 1rem; } a { color: #00568a; }
@media (max-width: 40rem) { body { padding: .8rem; font-size: 15px; }
  .pan { overflow-x: auto; } .pan img { max-width: 60rem; }
  .claims th { display: none; } .claims, .claims tbody, .claims tr, .claims td { display: block; }
  .claims td, .claims td:last-child { width: auto; border: 0; padding: .1rem 0; }
  .claims td.claim { font-weight: 600; border-top: 1px solid var(--line); padding-top: .5rem; } }
@media print { body { max-width: none; font-size: 11pt; } h2 { break-after: avoid; }
  figure, table { break-inside: avoid; } nav { display: none; } }
"""
