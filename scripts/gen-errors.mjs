// Writes docs/ERRORS.md from the unions of error codes at the foot of each module:
//   export type XErrorCode =
//     /** What it means. */
//     | 'X_CODE'
// Usage: node scripts/gen-errors.mjs [--check]     --check compares and exits 1 on a difference.
// It also refuses codes that are thrown but stand in no union, and codes of a union that nothing throws.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const files = readdirSync('src', { recursive: true })
  .filter((file) => file.endsWith('.ts') && !/\.(test|suite|fuzz|bench)\.ts$/.test(file))
  .map((file) => join('src', file))
  .sort()
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))

const faults = []
/** code -> {text, folder} */
const documented = new Map()
for (const [file, text] of texts) {
  for (const [, name, body] of text.matchAll(
    /export type (\w*ErrorCode)\s*=([\s\S]*?)(?=\n(?:export|\/\*\*|type|function|const)\b|$(?![\s\S]))/g,
  )) {
    for (const [, comment, code] of body.matchAll(
      /\/\*\*([\s\S]*?)\*\/\s*\|?\s*'([A-Z][A-Z0-9_]+)'/g,
    )) {
      const meaning = comment.replace(/\s*\n\s*\*\s?/g, ' ').trim()
      if (documented.has(code)) faults.push(`${file}: ${code} stands in two unions`)
      documented.set(code, { meaning, folder: file.split('/')[1] })
    }
    for (const [, code] of body.matchAll(/\|?\s*'([A-Z][A-Z0-9_]+)'/g))
      if (!documented.has(code)) faults.push(`${file}: ${name} has ${code} without a doc comment`)
  }
}

const everything = [...texts.values()].join('\n')
for (const code of documented.keys())
  if (everything.split(`'${code}'`).length - 1 < 2)
    faults.push(`${code} is documented but nothing yields it`)
for (const [file, text] of texts)
  for (const [, code] of text.matchAll(/new VarveError(?:<[^>]*>)?\(\s*'([A-Z0-9_]+)'/g))
    if (!documented.has(code)) faults.push(`${file}: ${code} is thrown but stands in no union`)

const folders = [...new Set([...documented.values()].map(({ folder }) => folder))].sort()
const lines = [
  '# Error codes',
  '',
  'Generated from the source by `node scripts/gen-errors.mjs`. A code never changes its meaning.',
  '',
]
for (const folder of folders) {
  lines.push(`## ${folder}`, '', '| code | meaning |', '|---|---|')
  for (const [code, entry] of [...documented].sort(([a], [b]) => (a < b ? -1 : 1)))
    if (entry.folder === folder) lines.push(`| \`${code}\` | ${entry.meaning} |`)
  lines.push('')
}
const page = lines.join('\n')
const path = 'docs/ERRORS.md'
if (process.argv.includes('--check')) {
  if (!existsSync(path) || readFileSync(path, 'utf8') !== page)
    faults.push(`${path} is out of date: run node scripts/gen-errors.mjs`)
} else writeFileSync(path, page)

for (const fault of faults) console.log(fault)
console.log(`${documented.size} error codes, ${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
