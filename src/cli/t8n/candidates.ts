/** The transactions that a run is given: JSON to be signed or signed, or an RLP list of signed ones. */
import { type Fork, isVarveError } from '../../base/index.ts'
import { decodeTransaction } from '../../codec/index.ts'
import { readJson } from './files.ts'
import { listItems, RlpTextFault, readLooseTransaction } from './looseTransaction.ts'
import { T8nExit, T8nFault } from './t8nFault.ts'
import { readTransactions } from './transactionJson.ts'
import type { Candidate } from './transition.ts'
import { readHexBytes } from './values.ts'

type Rules = { readonly fork: Fork; readonly chainId: bigint }

/** From a file; one whose name ends in `.rlp` holds hexadecimal text. @throws T8nFault */
export function candidatesOfFile(path: string, rules: Rules): Candidate[] {
  const json = readJson(path, 'txs')
  return path.endsWith('.rlp') ? candidatesOfRlp(readHexBytes(json, 'txs')) : signed(json, rules)
}

/** From the members of the object on stdin. @throws T8nFault */
export function candidatesOfStdin(txs: unknown, txsRlp: unknown, rules: Rules): Candidate[] {
  if (typeof txsRlp === 'string' && txsRlp !== '')
    return candidatesOfRlp(readHexBytes(txsRlp, 'txsRlp'))
  return signed(txs ?? [], rules)
}

function signed(json: unknown, rules: Rules): Candidate[] {
  return readTransactions(json, rules).map((transaction) => ({ kind: 'transaction', transaction }))
}

/** Splits a list; an item that is no transaction is a candidate with its fault. @throws T8nFault Io */
export function candidatesOfRlp(bytes: Uint8Array): Candidate[] {
  return rlpItems(bytes).map((raw): Candidate => {
    try {
      return { kind: 'transaction', transaction: decodeTransaction(readLooseTransaction(raw).raw) }
    } catch (error) {
      if (error instanceof RlpTextFault) return { kind: 'unreadable', error: error.message }
      if (!isVarveError(error)) throw error
      const isSignature = error.code === 'TRANSACTION_SIGNATURE'
      return {
        kind: 'unreadable',
        error: isSignature ? 'invalid transaction v, r, s values' : error.message,
      }
    }
  })
}

/** The items of an RLP list. @throws T8nFault Io where they do not fit into it */
export function rlpItems(bytes: Uint8Array): Uint8Array[] {
  try {
    return listItems(bytes)
  } catch (error) {
    if (error instanceof RlpTextFault) throw new T8nFault(T8nExit.Io, error.message)
    throw error
  }
}
