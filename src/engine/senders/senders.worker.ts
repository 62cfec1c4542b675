/** Entry of a thread that recovers senders. */
import { SenderRecovery } from '../../codec/index.ts'
import { serve } from '../../threads/index.ts'
import { recoverPacked } from './senderBatch.ts'

serve<undefined, Uint8Array, Uint8Array>(async () => {
  const recovery = await SenderRecovery.open()
  return (packed) => {
    const reply = recoverPacked(recovery, packed)
    return { reply, transfer: [reply.buffer] }
  }
})
