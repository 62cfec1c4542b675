/** `varve blocktest`: published blockchain tests, from files, folders or packed shards. */
import { type Command, Option } from 'commander'
import { memoryOption, parseCount } from './arguments.ts'
import { blockTestTask } from './blocktest/blockTestTask.ts'
import { addTestOptions, runTests, type TestFlags } from './testfiles/runTests.ts'

type BlocktestFlags = TestFlags & {
  readonly preAlloc: readonly string[]
  readonly crossCheck?: boolean
  readonly pipeline: 'on' | 'off' | 'delayed'
  readonly seed: number
  readonly memory?: number
}

export function addBlocktestCommand(program: Command): void {
  const command = program
    .command('blocktest')
    .description(
      'run blockchain tests through the engine: JSON files as published, folders of them, or packed shards',
    )
  addTestOptions(command, 'name, pass, fork, stateRoot, lastBlockHash, error?')
    .option(
      '--pre-alloc <path>',
      'file, folder or shard of states that tests name by a hash; may be repeated',
      (path: string, before: readonly string[]) => [...before, path],
      [],
    )
    .option('--cross-check', "also make each block's witness and execute the block from it alone")
    .addOption(
      new Option(
        '--pipeline <off|on|delayed>',
        'on: blocks go through a pipeline, whose answers and rows must be those without one; delayed: and every stage ' +
          'is late at random',
      )
        .choices(['off', 'on', 'delayed'])
        .default('off'),
    )
    .option('--seed <number>', 'of the delays', parseCount, 1)
    .addOption(memoryOption())
    .addHelpText(
      'after',
      '\nTests are chains of blocks, or of payloads of the engine API. Ends with 1 where a test failed, with 2 where an\ninput cannot be read.\n\nExample:\n  varve blocktest BlockchainTests/ValidBlocks --fork Cancun\n',
    )
    .action((paths: string[], flags: BlocktestFlags) => runBlocktests(paths, flags))
}

function runBlocktests(paths: readonly string[], flags: BlocktestFlags): Promise<void> {
  const { fork, filter, preAlloc, crossCheck = false, pipeline: kind, seed, memory } = flags
  const pipeline = kind === 'delayed' ? { kind, seed } : { kind }
  if (kind === 'delayed') console.error(`pipeline delayed at random, seed ${seed}`)
  const options = { fork, filter, preAlloc, crossCheck, pipeline, memoryBytes: memory }
  return runTests(paths, flags, blockTestTask(options), { noun: 'blockchain tests' })
}
