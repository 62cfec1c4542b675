/**
 * A second process for the test that kills it: `node journalChild.suite.js FOLDER MODE`. Appends records without end and
 * prints the sequence of each once it is durable. Does nothing when imported.
 */
import { writeSync } from 'node:fs'
import { openBlockJournal } from './blockJournal.ts'
import type { JournalSync } from './durability.ts'

export const CHILD_SYNCS: Readonly<Record<string, JournalSync>> = {
  always: { mode: 'always' },
  group: { mode: 'group', milliseconds: 2 },
  os: { mode: 'os' },
}

/** Payload of a record: of a size and content that follow from its sequence. */
export function childPayload(sequence: number): Uint8Array {
  return new Uint8Array((sequence * 7919) % 60_000).fill(sequence)
}

async function appendForever(folder: string, sync: JournalSync): Promise<void> {
  const journal = openBlockJournal(folder, { sync, segmentBytes: 300_000 })
  for (;;) {
    const sequence = journal.append(sequence32(journal.last + 1), [childPayload(journal.last + 1)])
    if (sync.mode === 'group') void journal.whenDurable(sequence).then(() => print(sequence))
    else {
      await journal.whenDurable(sequence)
      print(sequence)
    }
    if (sequence % 8 === 0) await new Promise((resume) => setImmediate(resume))
    if (sequence % 50 === 0) journal.cut(sequence - 40)
  }
}

function sequence32(sequence: number): number {
  return sequence % 2 ** 32
}

function print(sequence: number): void {
  writeSync(1, `${sequence}\n`)
}

const [, script, folder, mode] = process.argv
if (script === import.meta.filename && folder !== undefined)
  await appendForever(folder, CHILD_SYNCS[mode!]!)
