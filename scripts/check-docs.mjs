// Checks that every path of this repository which a document names in backticks exists, so that docs/ARCHITECTURE.md
// and the READMEs stay true. Usage: node scripts/check-docs.mjs
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const roots = ['src', 'assembly', 'scripts', 'docs', 'conformance', 'bench', 'fuzz', 'examples']
const documents = ['README.md', 'CHANGELOG.md', ...roots.flatMap((root) => markdown(root))].filter(
  (path) => existsSync(path),
)

function markdown(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .map((file) => join(folder, file))
}

const pathPattern = /`([\w@./-]+\/[\w@./-]*|[\w-]+\.(?:ts|mjs|md|json))`/g
const faults = []
let pathCount = 0
for (const document of documents) {
  for (const [, path] of readFileSync(document, 'utf8').matchAll(pathPattern)) {
    const isFile = /\.(ts|mjs|md|json)$/.test(path)
    const isFolder = path.endsWith('/')
    if (!isFile && !isFolder) continue
    if (path.startsWith('../') || path.startsWith('dist/') || path.startsWith('node:')) continue
    pathCount++
    const places = [path, join('src', path), join(dirname(document), path), join('docs', path)]
    if (!places.some((place) => existsSync(place)))
      faults.push(`${document}: \`${path}\` does not exist`)
  }
}
for (const fault of faults) console.log(fault)
console.log(`${documents.length} documents, ${pathCount} paths, ${faults.length} faults`)
process.exitCode = faults.length === 0 ? 0 : 1
