/** Entry of a turn's process: takes one request, answers once, ends. */
import type { PreparedBench } from '../../measure/index.ts'
import { gather } from './gather.ts'
import { thisMachine } from './machine.ts'
import { findCases } from './registry.ts'
import type { Peers, TurnReply, TurnRequest } from './turnMessages.ts'

let prepared: PreparedBench | undefined

// Whoever asked has gone or has had enough: what was set up on the disk goes too.
for (const event of ['disconnect', 'SIGTERM'])
  process.once(event, () => {
    void Promise.resolve(prepared?.close?.()).finally(() => process.exit(1))
  })

process.once('message', (message) => {
  void answer(message as TurnRequest).then((reply) => {
    process.send!(reply, () => process.exit(0))
  })
})

async function answer(request: TurnRequest): Promise<TurnReply> {
  try {
    prepared = await prepare(request)
    const figures = await gather(prepared, request)
    await prepared.close?.()
    return { kind: 'figures', machine: thisMachine(), figures }
  } catch (error) {
    return {
      kind: 'fault',
      text: error instanceof Error ? (error.stack ?? error.message) : `${error}`,
    }
  }
}

async function prepare({ caseId, size, arm, peers }: TurnRequest): Promise<PreparedBench> {
  if (peers === undefined) {
    const [bench] = await findCases([caseId])
    return await bench!.prepare(size, arm)
  }
  const { PEERS } = (await import(peers)) as { PEERS: Peers }
  return await PEERS[arm]!.cases[caseId]!(size)
}
