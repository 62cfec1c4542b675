/** Entry of a crew's helper. */
import { serve } from '../../threads/index.ts'
import { HelperWork } from './helperWork.ts'
import type { HelperOptions, HelperReply, HelperRequest } from './messages.ts'

serve<HelperOptions, HelperRequest, HelperReply>(async (options) => {
  const work = new HelperWork(options)
  return (request) => work.answer(request)
})
