/**
 * The naive side of `workflow.fuzz.ts`: whole states, one a block, copied for each; roots, usage and rows made from the
 * whole of a state each time. Sixteen accounts of six slots, so that whatever can meet meets.
 */
import { Fork, fromHex, toHex } from '../../base/index.ts'
import { type Genesis, parseGenesisJson, singleForkSpec } from '../../chain/index.ts'
import { type Header, sealHeader } from '../../codec/index.ts'
import { NaiveState } from '../../commit/naiveState.suite.ts'
import {
  completeDelta,
  encodeDelta,
  encodeFlatAccount,
  encodeFlatSlot,
  hashOfKey,
  type StateDelta,
} from '../../state/index.ts'
import {
  DeltaSource,
  type KeyShape,
  type ModelState,
  modelApply,
  modelView,
} from '../../state/layers/model.suite.ts'
import {
  accountNodeKey,
  blockKey,
  type Store,
  storageKey,
  storageNodeKey,
  type Table,
} from '../../store/index.ts'
import type { Prng } from '../../testing/index.ts'

const ADDRESS_COUNT = 16
const SLOT_COUNT = 6

/** One version: a block with its change and the state after it. */
export type Version = {
  readonly parent: Version | undefined
  readonly header: Header
  /** As it was handed in, and with every slot that it clears. */
  readonly delta: StateDelta
  readonly complete: StateDelta
  readonly state: ModelState
  readonly root: Uint8Array
}

export class WorkflowModel {
  readonly genesis: Genesis
  readonly source: DeltaSource
  private readonly prng: Prng

  constructor(prng: Prng, shape: KeyShape) {
    this.prng = prng
    this.source = new DeltaSource(prng, shape, ADDRESS_COUNT, SLOT_COUNT)
    const file = { config: { chainId: 1 }, difficulty: '0x0', gasLimit: '0x1000', alloc: {} }
    const spec = singleForkSpec(Fork.Paris)
    this.genesis = { ...parseGenesisJson(JSON.stringify(file)), spec }
  }

  /** The version of block 0. */
  start(header: Header): Version {
    const empty = { accounts: [], codes: [] }
    const root = header.stateRoot
    return {
      ...{ parent: undefined, header, delta: empty, complete: empty },
      ...{ state: new Map(), root },
    }
  }

  /** A random version on another one. @param isWrong whether its header names another root than the state has */
  next(parent: Version, isWrong: boolean): Version {
    const { header: before, state: old } = parent
    const delta = this.source.next(old)
    const state = modelApply(old, delta)
    const root = fromHex(new NaiveState(state).root)
    const header = sealHeader({
      ...before,
      parentHash: before.hash,
      number: before.number + 1,
      timestamp: before.timestamp + 1n,
      stateRoot: isWrong ? this.prng.bytes(32) : root,
      // Two versions with the same change are two blocks.
      mixHash: this.prng.bytes(32),
    })
    return { parent, header, delta, complete: completeDelta(delta, modelView(old)), state, root }
  }
}

/** Whether a version is another one or stands on it. */
export function standsOn(version: Version, ancestor: Version): boolean {
  let at: Version | undefined = version
  while (at !== undefined && at.header.number > ancestor.header.number) at = at.parent
  return at === ancestor
}

const STATE_TABLES = ['accounts', 'storages', 'accountNodes', 'storageNodes', 'deltas'] as const

/** Rows as text: table, key, value. */
type Rows = Map<string, string>

/** What a store must hold of states at a version: flat rows, nodes, and the changes of the blocks above the floor. */
export function modelRows(version: Version, floor: number): Rows {
  const rows: Rows = new Map()
  const put = (table: Table, key: Uint8Array, value: Uint8Array) =>
    rows.set(`${table} ${toHex(key)}`, toHex(value))
  const tries = new NaiveState(version.state)
  for (const [key, { account, slots }] of version.state) {
    const addressHash = hashOfKey(key)
    if (account !== undefined) put('accounts', addressHash, encodeFlatAccount(account))
    for (const [slot, value] of slots)
      put('storages', storageKey(addressHash, hashOfKey(slot)), encodeFlatSlot(value))
    for (const [path, bytes] of tries.storages.get(key)?.nodes ?? [])
      put('storageNodes', storageNodeKey(addressHash, nibblesOf(path), path.length), bytes)
  }
  const leafKeys = [...version.state]
    .filter(([, { account }]) => account !== undefined)
    .map(([key]) => toHex(hashOfKey(key)).slice(2))
  for (const [path, bytes] of tries.accounts.nodes) {
    // A leaf has no row: it stands where one key alone leads.
    if (leafKeys.filter((key) => key.startsWith(path)).length === 1) continue
    put('accountNodes', accountNodeKey(nibblesOf(path), path.length), bytes)
  }
  let at = version
  while (at.header.number > floor) {
    const { number, hash } = at.header
    put('deltas', blockKey(number, hash), encodeDelta({ ...at.complete, codes: [] }))
    at = at.parent!
  }
  return rows
}

/** The same of a store. */
export function stateRows(store: Store): Rows {
  const rows: Rows = new Map()
  for (const table of STATE_TABLES)
    for (const { key, value } of store.range(table))
      rows.set(`${table} ${toHex(key)}`, toHex(value))
  return rows
}

function nibblesOf(path: string): Uint8Array {
  return Uint8Array.from(path, (digit) => Number.parseInt(digit, 16))
}
