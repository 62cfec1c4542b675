/**
 * Imports a file of blocks and proves an account against the state root.
 * node dist/examples/importAndProve.js FILE GENESIS.json 0xADDRESS
 */
import { readFileSync } from 'node:fs'
import { fromHex, importChain, openBlockSource, openEngine, verifyAccountProof } from 'varve'
import { parseGenesisJson } from 'varve/chain'
import { memoryStore } from 'varve/store'

const [chainFile, genesisFile, addressText] = process.argv.slice(2)
if (chainFile === undefined || genesisFile === undefined || addressText === undefined)
  throw new Error('usage: importAndProve FILE GENESIS.json 0xADDRESS')

const genesis = parseGenesisJson(readFileSync(genesisFile, 'utf8'))
const engine = await openEngine({ store: memoryStore(), genesis })
await importChain(engine, openBlockSource(chainFile))

const view = engine.at('latest')
const proof = view.proof(fromHex(addressText))
const { account } = verifyAccountProof(view.root(), proof)
console.log(
  `block ${view.header.number}: ${account?.balance ?? 0n} wei, ${proof.accountProof.length} nodes`,
)
