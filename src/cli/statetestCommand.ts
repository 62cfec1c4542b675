/** `varve statetest`: published state tests, from files, folders or packed shards. */
import { type Command, Option } from 'commander'
import { PRECOMPILE_SETS, type PrecompileSet } from '../evm/index.ts'
import { stateTestTask } from './statetest/stateTestTask.ts'
import { addTestOptions, runTests, type TestFlags } from './testfiles/runTests.ts'

type StatetestFlags = TestFlags & {
  readonly precompiles?: PrecompileSet
  readonly trace?: boolean
}

export function addStatetestCommand(program: Command): void {
  const command = program
    .command('statetest')
    .description('run state tests: JSON files as published, folders of them, or packed shards')
  addTestOptions(command, 'name, pass, fork, stateRoot, error?')
    .addOption(
      new Option(
        '--precompiles <set>',
        'precompiles of EIP-2537; without it, as a file was filled',
      ).choices(PRECOMPILE_SETS),
    )
    .option('--trace', 'write every step to standard error (EIP-3155); runs on one thread')
    .addHelpText(
      'after',
      '\nEnds with 1 where a test failed, with 2 where an input cannot be read.\n\nExample:\n  varve statetest GeneralStateTests/stExample --fork Cancun\n',
    )
    .action((paths: string[], flags: StatetestFlags) => runStatetests(paths, flags))
}

function runStatetests(paths: readonly string[], flags: StatetestFlags): Promise<void> {
  const { fork, filter, precompiles: precompileSet } = flags
  const isTraced = flags.trace === true
  const trace = isTraced ? (text: string) => process.stderr.write(text) : undefined
  const task = stateTestTask({ fork, filter, precompileSet }, trace)
  return runTests(paths, flags, task, { noun: 'state tests', isOneThread: isTraced })
}
