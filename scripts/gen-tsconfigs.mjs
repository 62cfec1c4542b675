// Writes src/*/tsconfig.json and the root tsconfig.json from layers.json, so that the compiler enforces the
// same walls as the layer check. `--check` only compares and exits 1 on a difference.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const checkOnly = process.argv.includes('--check')
const { $comment, ...rules } = JSON.parse(readFileSync('layers.json', 'utf8'))
const names = Object.keys(rules)

/** Project folders outside src/ which import the package by its own name. */
const outside = ['conformance', 'fuzz', 'bench', 'examples'].filter((folder) =>
  existsSync(`${folder}/tsconfig.json`),
)

const files = new Map()
for (const name of names) {
  // What tests share stands on some layers itself: those do without it.
  const isBelowTests = rules[name].testOnly || rules.testing.layers.includes(name)
  const seen = isBelowTests ? rules[name].layers : [...rules[name].layers, 'testing']
  files.set(`src/${name}/tsconfig.json`, {
    extends: '../../tsconfig.base.json',
    include: ['./**/*.ts'],
    references: seen.map((layer) => ({ path: `../${layer}` })),
  })
}
files.set('tsconfig.json', {
  files: [],
  references: [...names.map((name) => `src/${name}`), ...outside].map((path) => ({ path })),
})

let faultCount = 0
for (const [path, content] of files) {
  const text = `${JSON.stringify(content, null, 2)}\n`
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  if (checkOnly) {
    console.log(`${path} is out of date: run node scripts/gen-tsconfigs.mjs`)
    faultCount++
  } else writeFileSync(path, text)
}
process.exitCode = faultCount === 0 ? 0 : 1
