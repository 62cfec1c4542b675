/**
 * Verifies a block by its witness alone: no database, nothing believed but hashes.
 * node dist/examples/verifyByWitness.js BLOCK.json      with { "block": "0x…" RLP, "executionWitness": {state, codes, headers} }
 */
import { readFileSync } from 'node:fs'
import { fromHex, isVarveError } from 'varve'
import { mainnet } from 'varve/chain'
import { decodeBlock } from 'varve/codec'
import { executeWitness, witnessFromJson } from 'varve/stateless'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('usage: verifyByWitness BLOCK.json')

const { block: rlp, executionWitness } = JSON.parse(readFileSync(file, 'utf8'))
const block = decodeBlock(fromHex(rlp))
try {
  const { gasUsed, receipts } = await executeWitness(block, witnessFromJson(executionWitness), {
    spec: mainnet,
  })
  console.log(`block ${block.header.number}: valid, ${receipts.length} receipts, ${gasUsed} gas`)
} catch (error) {
  if (!isVarveError(error)) throw error
  console.log(`block ${block.header.number}: refused: ${error.code}: ${error.message}`)
  process.exitCode = 1
}
