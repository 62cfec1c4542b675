/** Entry of a thread that runs state tests. */
import { serve } from '../../threads/index.ts'
import type { StateTestOptions, StateTestReply, StateTestRequest } from './messages.ts'
import { openStateTestServer } from './serveStateTests.ts'

serve<StateTestOptions, StateTestRequest, StateTestReply>(async (options) => {
  const answer = await openStateTestServer(options)
  return (request) => ({ reply: answer(request) })
})
