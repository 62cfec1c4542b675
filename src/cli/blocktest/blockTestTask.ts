/** Runs blockchain tests on this thread or on others. */
import { isVarveError } from '../../base/index.ts'
import { workerUrl } from '../../threads/index.ts'
import type { TestSelection } from '../testfiles/messages.ts'
import { TestServer } from '../testfiles/serveTests.ts'
import type { Answer, TestTask } from '../testfiles/testTask.ts'
import { type BlockTest, isBlockTest, readBlockTest } from './blockTest.ts'
import { CrossCheck } from './crossCheck.ts'
import { preStateGroups } from './preStateGroups.ts'
import { type BlockTestResult, BlockTestRunner, type PipelineMode } from './runBlockTest.ts'

export type BlockTestOptions = TestSelection & {
  /** Files, folders or shards with states that tests name by a hash. */
  readonly preAlloc: readonly string[]
  /** Also executes each block from its witness. */
  readonly crossCheck: boolean
  readonly pipeline: PipelineMode
  readonly memoryBytes: number | undefined
}

export function blockTestTask(options: BlockTestOptions): TestTask<BlockTestResult> {
  return {
    open: () => openBlockTests(options),
    entry: workerUrl(import.meta.url, './blocktest.worker'),
    data: options,
  }
}

/** Opens what requests are answered with. @throws SyntaxError where the filter is no regular expression */
export async function openBlockTests(options: BlockTestOptions): Promise<Answer<BlockTestResult>> {
  const runner = await BlockTestRunner.open()
  const crossCheck = options.crossCheck ? new CrossCheck() : undefined
  const groups = await preStateGroups(options.preAlloc)
  const wanted = options.fork?.toLowerCase()
  const server = new TestServer<BlockTestResult>(
    {
      isTest: isBlockTest,
      async run(name, value) {
        const network = (value as { readonly network: unknown }).network
        if (wanted !== undefined && String(network).toLowerCase() !== wanted) return []
        let test: BlockTest
        try {
          test = readBlockTest(name, value, (preHash) => groups.get(preHash))
        } catch (error) {
          if (!isVarveError(error, 'TESTFILE_NETWORK_UNKNOWN')) throw error
          return [unsupported(name, String(network))]
        }
        const observer = await crossCheck?.observerOf(test, test.precompileSet)
        const { pipeline, memoryBytes } = options
        return [await runner.run(test, { observer, pipeline, memoryBytes })]
      },
    },
    options.filter,
  )
  return (request) => server.answer(request)
}

/** A network that this version does not know fails its test, as a fork does in a state test. */
function unsupported(name: string, fork: string): BlockTestResult {
  const error = `unsupported network "${fork}"`
  return { name, pass: false, fork, stateRoot: '', lastBlockHash: '', error }
}
