/** Styles of the pages. One column on a phone; charts and cases side by side where there is room. */
export const PAGE_STYLE = `
:root { --ink: #1c2430; --soft: #5b6675; --paper: #ffffff; --card: #f4f6f9; --rule: #d8dee6;
  --head: #0b6e99; --base: #b3541e; --sham: #c9d2dd; --good: #14794a; --bad: #b3261e; --doubt: #8a6100 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf2; --soft: #9aa7b8; --paper: #12161c; --card: #1b2129;
  --rule: #333d4a; --head: #55b7e0; --base: #f0985f; --sham: #3b4654; --good: #5cc98f; --bad: #ff8a80; --doubt: #e2b54a } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", sans-serif; -webkit-text-size-adjust: 100% }
main { max-width: 1180px; margin: 0 auto; padding: 12px }
h1 { font-size: 1.6rem; margin: 8px 0 }
h2 { font-size: 1.25rem; margin: 32px 0 8px; border-bottom: 2px solid var(--rule) }
h3 { font-size: 1rem; margin: 0 0 4px; overflow-wrap: anywhere }
p { margin: 4px 0 10px }
.lead, article p, figcaption { color: var(--soft); font-size: .9rem }
.tiles { display: flex; flex-wrap: wrap; gap: 8px }
.tile { background: var(--card); border-radius: 8px; padding: 8px 12px; font-size: .9rem }
.tile b { font-size: 1.3rem; margin-right: 4px }
.cases { display: grid; gap: 12px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)) }
article { background: var(--card); border-radius: 8px; padding: 12px; min-width: 0 }
figure { margin: 8px 0; max-width: 620px }
svg { display: block; width: 100%; height: auto; font-size: 12px; fill: var(--ink) }
svg .rule { stroke: var(--rule) } svg .strong { stroke: var(--soft); stroke-width: 1.5 }
svg polyline { fill: none; stroke-width: 2.5 }
svg polyline.head { stroke: var(--head) } svg circle.head { fill: var(--head) }
svg polyline.base { stroke: var(--base) } svg circle.base { fill: var(--base) }
svg polyline.sham { stroke: var(--soft); stroke-dasharray: 5 4 } svg circle.sham { fill: var(--soft) }
svg rect.sham { fill: var(--sham) }
svg .interval { stroke-width: 3; stroke: var(--soft) } svg circle.no-difference, svg circle.void { fill: var(--soft) }
svg .interval.faster { stroke: var(--good) } svg circle.faster { fill: var(--good) }
svg .interval.slower { stroke: var(--bad) } svg circle.slower { fill: var(--bad) }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .35em }
.key.head { background: var(--head) } .key.base { background: var(--base) } .key.sham { background: var(--sham) }
.key.control { background: var(--soft) }
.wide { overflow-x: auto }
table { width: 100%; border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums }
th, td { text-align: right; vertical-align: top; padding: 5px 3px; border-top: 1px solid var(--rule) }
thead th { border-top: 0; color: var(--soft); font-weight: 600 }
tbody th { font-weight: 400 } th:first-child { text-align: left }
small { display: block; color: var(--soft) }
.faster { color: var(--good) } .slower, .void { color: var(--bad) } .doubt { color: var(--doubt) }
.notes { padding-left: 18px; font-size: .85rem; overflow-wrap: anywhere; margin: 8px 0 0 }
`
