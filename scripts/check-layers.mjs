// Checks that every import in src/ goes to a folder or package that its own folder may use, and that the
// package's export map names exactly the public folders.
// Usage: node scripts/check-layers.mjs [root]    reads root/layers.json and root/src, exits 1 on any fault.
// Plain text matching on purpose: TypeScript 7 ships no JavaScript compiler API.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

const root = resolve(process.argv[2] ?? '.')
const sourceRoot = join(root, 'src')
const { $comment, ...rules } = JSON.parse(readFileSync(join(root, 'layers.json'), 'utf8'))
const layerNames = Object.keys(rules)

// Static imports, re-exports, dynamic imports, and worker or asset entries (`new URL('./x.ts', import.meta.url)`).
const specifierPattern = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+|new URL\(\s*)(['"])([^'"]+)\1/g
const commentPattern = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm

const faults = []

// The declaration reads bottom to top, so a layer may name only layers above its own line: no cycles.
layerNames.forEach((layer, height) => {
  for (const lower of rules[layer].layers) {
    const lowerHeight = layerNames.indexOf(lower)
    if (lowerHeight < 0) faults.push(`layers.json: '${layer}' names the unknown layer '${lower}'`)
    else if (lowerHeight >= height)
      faults.push(`layers.json: '${layer}' names '${lower}', which is not below it`)
  }
})

function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* sourceFiles(path)
    else if (entry.name.endsWith('.ts')) yield path
  }
}

const isTestFile = (path) => /\.(test|suite|fuzz|bench)\.ts$/.test(path)
const layerOf = (path) => relative(sourceRoot, path).split(sep)[0]

let fileCount = 0
let importCount = 0
for (const path of sourceFiles(sourceRoot)) {
  fileCount++
  const layer = layerOf(path)
  const rule = rules[layer]
  const where = relative(root, path)
  if (rule === undefined) {
    faults.push(`${where}: folder '${layer}' is not declared in layers.json`)
    continue
  }
  const text = readFileSync(path, 'utf8').replace(commentPattern, '')
  for (const [, , specifier] of text.matchAll(specifierPattern)) {
    importCount++
    if (specifier.startsWith('.')) {
      const target = layerOf(resolve(dirname(path), specifier))
      if (target === layer || rule.layers.includes(target)) continue
      // A data file beside src/, such as package.json.
      if (target === '..' && specifier.endsWith('.json')) continue
      if (rules[target]?.testOnly && isTestFile(path)) continue
      faults.push(`${where}: '${layer}' may not import '${target}' (${specifier})`)
    } else {
      const isNamed = rule.packages.some(
        (name) => specifier === name || specifier.startsWith(`${name}/`),
      )
      if (isNamed || isTestFile(path)) continue
      faults.push(`${where}: '${layer}' may not import the package '${specifier}'`)
    }
  }
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const expected = Object.fromEntries(
  layerNames.flatMap((name) => {
    const { export: own, parts = {} } = rules[name]
    const folders = Object.entries(parts).map(([path, folder]) => [path, `${name}/${folder}`])
    if (own) folders.unshift([own, name])
    return folders.map(([path, folder]) => [path, `./dist/${folder}/index.js`])
  }),
)
for (const path of new Set([...Object.keys(expected), ...Object.keys(manifest.exports ?? {})]))
  if (expected[path] !== manifest.exports?.[path])
    faults.push(`package.json: export '${path}' should be ${expected[path] ?? 'absent'}`)

for (const fault of faults) console.log(fault)
console.log(`${fileCount} files, ${importCount} imports, ${faults.length} layering faults`)
process.exitCode = faults.length === 0 ? 0 : 1
