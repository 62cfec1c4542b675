/** Runs state tests on this thread or on others. */
import type { PrecompileSet } from '../../evm/index.ts'
import { workerUrl } from '../../threads/index.ts'
import type { TestSelection } from '../testfiles/messages.ts'
import { TestServer } from '../testfiles/serveTests.ts'
import type { Answer, TestTask } from '../testfiles/testTask.ts'
import { StateTestRunner, type SubCaseResult } from './runStateTest.ts'
import { isStateTest, readStateTest } from './stateTest.ts'

export type StateTestOptions = TestSelection & {
  /** These precompiles, whatever a file says about its making. */
  readonly precompileSet?: PrecompileSet | undefined
}

/**
 * @param trace takes the text of traces by EIP-3155; it cannot go to another thread
 */
export function stateTestTask(
  options: StateTestOptions,
  trace?: (text: string) => void,
): TestTask<SubCaseResult> {
  return {
    open: () => openStateTests(options, trace),
    entry: workerUrl(import.meta.url, './statetest.worker'),
    data: options,
  }
}

/** Opens what requests are answered with. @throws SyntaxError where the filter is no regular expression */
export async function openStateTests(
  { fork, filter, precompileSet }: StateTestOptions,
  trace?: (text: string) => void,
): Promise<Answer<SubCaseResult>> {
  const runner = await StateTestRunner.open()
  const server = new TestServer<SubCaseResult>(
    {
      isTest: isStateTest,
      run: (name, test) => runner.run(readStateTest(name, test), { fork, precompileSet, trace }),
    },
    filter,
  )
  return (request) => server.answer(request)
}
