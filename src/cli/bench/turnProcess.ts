/** Entry of a turn's process: takes one request, answers once, ends. */
import { gather } from './gather.ts'
import { thisMachine } from './machine.ts'
import { findCases } from './registry.ts'
import type { Peers, TurnReply, TurnRequest } from './turnMessages.ts'

process.once('message', (message) => {
  void answer(message as TurnRequest).then((reply) => {
    process.send!(reply, () => process.exit(0))
  })
})

async function answer(request: TurnRequest): Promise<TurnReply> {
  try {
    const prepared = await prepare(request)
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

async function prepare({ caseId, size, arm, peers }: TurnRequest) {
  if (peers === undefined) {
    const [bench] = await findCases([caseId])
    return await bench!.prepare(size, arm)
  }
  const { PEERS } = (await import(peers)) as { PEERS: Peers }
  return await PEERS[arm]!.cases[caseId]!(size)
}
