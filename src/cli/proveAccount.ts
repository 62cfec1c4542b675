/** An account of a database, proved, and the proof verified against the head's root alone. */
import { toHex } from '../base/index.ts'
import { type EngineView, verifyAccountProof } from '../engine/index.ts'
import { withEngine } from './database.ts'

export type ProvedAccount = {
  readonly address: string
  /** Wei. */
  readonly balance: bigint
  readonly nonce: bigint
  /** Trie nodes of the proof, and their bytes together. */
  readonly nodes: number
  readonly bytes: number
}

/** Opens the database in `db`, which must exist. @throws VarveError STORE_*, ENGINE_*, PROOF_* */
export function proveAccount(
  db: string,
  addressOf: (view: EngineView) => Uint8Array,
): Promise<ProvedAccount> {
  return withEngine(db, (engine) => {
    const view = engine.at('latest')
    const address = addressOf(view)
    const proof = view.proof(address)
    const { account } = verifyAccountProof(view.root(), proof)
    const { accountProof } = proof
    return {
      address: toHex(address),
      balance: account?.balance ?? 0n,
      nonce: account?.nonce ?? 0n,
      nodes: accountProof.length,
      bytes: accountProof.reduce((sum, node) => sum + node.length, 0),
    }
  })
}

/** One line for a person. */
export function describeProof({ address, balance, nodes, bytes }: ProvedAccount): string {
  return `proof    ${address} has ${balance} wei: ${nodes} nodes, ${bytes} bytes, verified`
}
