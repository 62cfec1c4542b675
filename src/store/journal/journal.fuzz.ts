/**
 * Aim: whatever the moment of a power cut, a journal opens again with a prefix of what was written and with all that was
 * durable; whatever byte is damaged, what was durable is missed by name. Method: random calls on a disk whose power is
 * cut, against a list of payloads. Payloads hold what looks like records of the journal.
 */
import assert from 'node:assert/strict'
import { bytesConcat, isVarveError } from '../../base/index.ts'
import { Prng } from '../../testing/index.ts'
import { type BlockJournal, openBlockJournal } from './blockJournal.ts'
import type { JournalSync } from './durability.ts'
import {
  encodeRecordHeader,
  firstOfName,
  RECORD_HEADER_BYTES,
  SEGMENT_HEADER_BYTES,
} from './layout.ts'
import { PowerCutDisk } from './powerCut.suite.ts'

const MODES: readonly JournalSync[] = [
  { mode: 'always' },
  // Longer than a test: a sync begins with the first record of a group, and when the test says so.
  { mode: 'group', milliseconds: 1_000_000 },
  { mode: 'os' },
]

/** Random calls and power cuts. */
export function fuzzJournalPowerCut(seed: number, stepCount: number): void {
  const prng = new Prng(seed)
  const disk = new PowerCutDisk()
  /** Payload of each record, by sequence; `undefined` for what was cut. */
  const model: (Uint8Array | undefined)[] = [undefined]
  let stored = 0
  for (let done = 0; done < stepCount; ) {
    const sync = prng.pick(MODES)
    const journal = openBlockJournal('disk', { files: disk, sync, segmentBytes: 4000 })
    const where = `seed ${seed}, step ${done}, ${sync.mode}`
    if (journal.last < stored) journal.startAfter(stored)
    checkRecords(journal, model, stored, where)
    const steps = prng.between(1, 60)
    for (let step = 0; step < steps; step++) {
      stored = Math.max(stored, randomCall(journal, disk, model, prng))
      done++
    }
    const { durable } = journal
    if (prng.oneIn(4)) journal.close()
    // The timer of a group would keep the process alive; a killed one has none.
    else endTimer(journal)
    const isPowerCut = prng.oneIn(2)
    if (isPowerCut) disk.cutPower(prng)
    else disk.kill()
    const least = isPowerCut ? (sync.mode === 'os' ? 0 : durable) : model.length - 1
    const again = openBlockJournal('disk', { files: disk, sync: { mode: 'os' } })
    assert.ok(again.last < model.length, where)
    // What is safe elsewhere need not be there; whoever keeps it begins behind it.
    assert.ok(again.last >= least || least <= stored, `${where}: ${again.last} of ${least}`)
    if (again.last < stored) again.startAfter(stored)
    model.length = Math.max(again.last, stored) + 1
    checkRecords(again, model, stored, where)
    endTimer(again)
    disk.kill()
  }
}

/** Returns the sequence that the call says is stored elsewhere. */
function randomCall(
  journal: BlockJournal,
  disk: PowerCutDisk,
  model: (Uint8Array | undefined)[],
  prng: Prng,
): number {
  if (prng.oneIn(4)) disk.endSync()
  if (prng.oneIn(12)) journal.syncNow()
  if (prng.oneIn(25)) journal.roll()
  if (prng.oneIn(8)) void journal.whenDurable(journal.last)
  if (prng.oneIn(20)) {
    const sequence = prng.between(0, journal.last)
    journal.cut(sequence)
    return sequence
  }
  const payload = randomPayload(prng, model.length)
  const half = prng.between(0, payload.length)
  const parts = [payload.subarray(0, half), payload.subarray(half)]
  assert.equal(journal.append(prng.below(4), parts), model.length)
  model.push(payload)
  return 0
}

/** Sometimes with what would be evidence, were it believed. */
function randomPayload(prng: Prng, sequence: number): Uint8Array {
  const bytes = prng.bytes(prng.pick([0, 1, 40, 300, 511, 512, 513, 1200, 5000]))
  if (!prng.oneIn(3)) return bytes
  const forged = {
    payloadBytes: 0,
    sequence: sequence + prng.between(1, 5),
    durable: sequence,
    kind: 1,
    payloadCrc: 0,
  }
  return bytesConcat(bytes, encodeRecordHeader(forged, prng.pick([0, prng.uint32()])))
}

function checkRecords(
  journal: BlockJournal,
  model: readonly (Uint8Array | undefined)[],
  stored: number,
  where: string,
): void {
  assert.equal(journal.last, model.length - 1, where)
  let expected = stored + 1
  for (const { sequence, payload } of journal.records(stored + 1)) {
    assert.equal(sequence, expected++, where)
    assert.deepEqual(payload, model[sequence], where)
  }
  assert.equal(expected, Math.max(model.length, stored + 1), `${where}: all records`)
}

function endTimer(journal: BlockJournal): void {
  ;(journal as unknown as { durability: { close(): void } }).durability.close()
}

/** One flipped bit in a journal of which all is durable. */
export function fuzzJournalDamage(seed: number, stepCount: number): void {
  const prng = new Prng(seed)
  for (let done = 0; done < stepCount; done += 100) {
    const disk = new PowerCutDisk()
    const options = { files: disk, sync: { mode: 'always' }, segmentBytes: 3000 } as const
    const journal = openBlockJournal('disk', options)
    /** File and bytes from header to end of each record. */
    const places: { name: string; start: number; end: number }[] = []
    const count = prng.between(1, 12)
    for (let sequence = 1; sequence <= count; sequence++) {
      const payload = randomPayload(prng, sequence)
      journal.append(1, [payload])
      journal.syncNow()
      const [name] = disk.list()
      const end = disk.bytesOf(name!).length
      places.push({ name: name!, start: end - payload.length - RECORD_HEADER_BYTES, end })
    }
    journal.close()
    const name = prng.pick(disk.list())
    const bytes = disk.bytesOf(name)
    const at = prng.below(bytes.length)
    bytes[at] = bytes[at]! ^ (1 << prng.below(8))
    const where = `seed ${seed}, ${name} byte ${at} of ${bytes.length}`
    const damaged =
      at < SEGMENT_HEADER_BYTES
        ? firstOfName(name)! - 1
        : places.findIndex((place) => place.name === name && at >= place.start && at < place.end)
    if (at >= SEGMENT_HEADER_BYTES && damaged === count - 1) {
      assert.equal(openBlockJournal('disk', options).last, count - 1, where)
      continue
    }
    const offset = at < SEGMENT_HEADER_BYTES ? 0 : places[damaged]!.start
    const isNamed = (error: unknown): boolean =>
      isVarveError(error, 'JOURNAL_CORRUPT') &&
      error.data['path'] === `disk/${name}` &&
      error.data['offset'] === offset
    // A header is missed at once, a payload when it is read.
    assert.throws(() => [...openBlockJournal('disk', options).records()], isNamed, where)
  }
}
