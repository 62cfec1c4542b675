/** Entry of a thread that runs state tests. */
import { serve } from '../../threads/index.ts'
import type { TestReply, TestRequest } from '../testfiles/messages.ts'
import type { SubCaseResult } from './runStateTest.ts'
import { openStateTests, type StateTestOptions } from './stateTestTask.ts'

serve<StateTestOptions, TestRequest, TestReply<SubCaseResult>>(async (options) => {
  const answer = await openStateTests(options)
  return async (request) => ({ reply: await answer(request) })
})
