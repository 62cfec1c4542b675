/** `varve blocktest`: published blockchain tests, from files, folders or packed shards. */
import type { Command } from 'commander'
import { blockTestTask } from './blocktest/blockTestTask.ts'
import { addTestOptions, runTests, type TestFlags } from './testfiles/runTests.ts'

type BlocktestFlags = TestFlags & {
  readonly preAlloc: readonly string[]
  readonly crossCheck?: boolean
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
    .addHelpText(
      'after',
      '\nTests are chains of blocks, or of payloads of the engine API. Ends with 1 where a test failed, with 2 where an\ninput cannot be read.\n\nExample:\n  varve blocktest BlockchainTests/ValidBlocks --fork Cancun\n',
    )
    .action((paths: string[], flags: BlocktestFlags) => runBlocktests(paths, flags))
}

function runBlocktests(paths: readonly string[], flags: BlocktestFlags): Promise<void> {
  const { fork, filter, preAlloc, crossCheck = false } = flags
  return runTests(paths, flags, blockTestTask({ fork, filter, preAlloc, crossCheck }), {
    noun: 'blockchain tests',
  })
}
