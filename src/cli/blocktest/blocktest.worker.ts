/** Entry of a thread that runs blockchain tests. */
import { serve } from '../../threads/index.ts'
import type { TestReply, TestRequest } from '../testfiles/messages.ts'
import { type BlockTestOptions, openBlockTests } from './blockTestTask.ts'
import type { BlockTestResult } from './runBlockTest.ts'

serve<BlockTestOptions, TestRequest, TestReply<BlockTestResult>>(async (options) => {
  const answer = await openBlockTests(options)
  return async (request) => ({ reply: await answer(request) })
})
