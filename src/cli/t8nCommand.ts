/** `varve t8n`: a state transition over files, with the flags, files and exit codes of geth's `evm t8n`. */
import { type Command, InvalidArgumentError } from 'commander'
import { isVarveError, toHex } from '../base/index.ts'
import { type GenesisAccount, parseAllocJson } from '../chain/index.ts'
import { encodeRlp, SenderRecovery } from '../codec/index.ts'
import { preparePrecompiles } from '../evm/index.ts'
import { allocationAfter } from './t8n/allocation.ts'
import { candidatesOfFile, candidatesOfStdin } from './t8n/candidates.ts'
import { blockOf, readEnvironment } from './t8n/environment.ts'
import { makeFolder, readJson, readStdin, readText, STDIN, writeOutputs } from './t8n/files.ts'
import { rulesOfFork } from './t8n/forkName.ts'
import { resultJson } from './t8n/resultJson.ts'
import { endAsGeth, T8nExit, T8nFault } from './t8n/t8nFault.ts'
import { traceOpener } from './t8n/tracing.ts'
import { runTransition, type TransitionResult } from './t8n/transition.ts'
import { type JsonRecord, readRecord } from './t8n/values.ts'

/** Flags by the names that they have on the command line. */
type T8nFlags = {
  readonly 'input.alloc': string
  readonly 'input.env': string
  readonly 'input.txs': string
  readonly 'output.basedir': string
  readonly 'output.alloc': string
  readonly 'output.result': string
  readonly 'output.body': string
  readonly 'state.fork': string
  readonly 'state.chainid'?: bigint
  readonly 'state.reward'?: bigint
  readonly trace?: boolean
  readonly 'trace.tracer': string
  readonly 'trace.tracerconfig': string
  readonly 'trace.memory'?: boolean
  readonly 'trace.nostack'?: boolean
  readonly 'trace.returndata'?: boolean
  readonly 'trace.callframes'?: boolean
}

export function addT8nCommand(program: Command): void {
  program
    .command('t8n')
    .alias('transition')
    .description('execute transactions over accounts as one block, with the files of `evm t8n`')
    .option('--input.alloc <file>', 'accounts before; stdin', 'alloc.json')
    .option('--input.env <file>', 'block environment; stdin', 'env.json')
    .option('--input.txs <file>', 'transactions, JSON or hexadecimal .rlp; stdin', 'txs.json')
    .option('--output.basedir <folder>', 'where outputs go; made where there is none', '')
    .option('--output.alloc <file>', 'accounts after; stdout, stderr or empty', 'alloc.json')
    .option('--output.result <file>', 'roots and receipts; stdout, stderr or empty', 'result.json')
    .option('--output.body <file>', 'RLP of the transactions; stdout, stderr or empty', '')
    .option('--state.fork <name>', 'rules, e.g. Cancun', 'GrayGlacier')
    .option('--state.chainid <id>', 'chain id (default: 1)', parseInteger)
    .option('--state.reward <wei>', 'reward of the miner; -1 for none (default: 0)', parseInteger)
    .option('--trace', 'write the steps of each transaction (EIP-3155) to trace-INDEX-HASH.jsonl')
    .option(
      '--trace.tracer <name|script>',
      'write the result of a tracer to trace-INDEX-HASH.json',
      '',
    )
    .option('--trace.tracerconfig <json>', 'options of the tracer', '')
    .option('--trace.memory', 'memory in steps')
    .option('--trace.nomemory', 'no memory in steps, which is the default')
    .option('--trace.nostack', 'no stack in steps')
    .option('--trace.returndata', 'return data in steps')
    .option('--trace.noreturndata', 'no return data in steps, which is the default')
    .option('--trace.callframes', 'a line for each message that begins')
    .option('--verbosity <level>', 'accepted and passed over')
    .addHelpText(
      'after',
      '\nEnds as `evm t8n`: 2 evm, 3 configuration, 4 missing block hash, 10 JSON, 11 files, 12 RLP.\n\nExample:\n  varve t8n --state.fork Cancun --output.result stdout --output.alloc ""\n',
    )
    .action((flags: T8nFlags) => endAsGeth(() => runT8n(flags)))
}

async function runT8n(flags: T8nFlags): Promise<void> {
  const folder = flags['output.basedir']
  makeFolder(folder)
  const openTrace = traceOpener(
    {
      steps: flags.trace === true,
      options: {
        memory: flags['trace.memory'] === true,
        stack: flags['trace.nostack'] !== true,
        returnData: flags['trace.returndata'] === true,
        callFrames: flags['trace.callframes'] === true,
      },
      tracer: flags['trace.tracer'],
      tracerConfig: flags['trace.tracerconfig'],
    },
    folder,
  )
  const sources = [flags['input.alloc'], flags['input.env'], flags['input.txs']]
  const stdin = sources.includes(STDIN) ? readRecord(readStdin(), 'stdin') : {}
  const accounts = readAccounts(flags['input.alloc'], stdin)
  const environment = readEnvironment(
    flags['input.env'] === STDIN ? stdin['env'] : readJson(flags['input.env'], 'env'),
  )
  const rules = rulesOfFork(flags['state.fork'], environment.number, environment.timestamp)
  const chainId = flags['state.chainid'] ?? 1n
  const signer = { fork: rules.fork, chainId }
  const candidates =
    flags['input.txs'] === STDIN
      ? candidatesOfStdin(stdin['txs'], stdin['txsRlp'], signer)
      : candidatesOfFile(flags['input.txs'], signer)
  const block = blockOf(environment, rules, chainId)
  await preparePrecompiles()
  const recovery = await SenderRecovery.open()
  const reward = flags['state.reward'] ?? 0n
  const state = { accounts, environment, block, rules, candidates }
  const result = runTransition({ ...state, reward, recovery, openTrace })
  writeOutputs(folder, [
    {
      name: 'alloc',
      to: flags['output.alloc'],
      value: allocationAfter(accounts, result.writes),
    },
    { name: 'result', to: flags['output.result'], value: resultJson(result, block) },
    { name: 'body', to: flags['output.body'], value: bodyOf(result) },
  ])
}

/** The transactions of the block as an RLP list. */
function bodyOf({ executed }: TransitionResult): string {
  const items = executed.map(({ transaction: { type, raw } }) => (type === 0 ? { raw } : raw))
  return toHex(encodeRlp(items))
}

function readAccounts(path: string, stdin: JsonRecord): GenesisAccount[] {
  const text = path === STDIN ? JSON.stringify(stdin['alloc'] ?? {}) : readText(path, 'alloc')
  try {
    return parseAllocJson(text)
  } catch (error) {
    if (!isVarveError(error)) throw error
    throw new T8nFault(T8nExit.Json, `failed unmarshalling alloc file: ${error.message}`)
  }
}

/** Decimal or `0x` hexadecimal, with a sign. */
function parseInteger(text: string): bigint {
  const match = /^(-?)(0x[0-9a-f]+|[0-9]+)$/i.exec(text)
  if (match === null || text.length > 80) throw new InvalidArgumentError('expected a number.')
  const value = BigInt(match[2]!)
  return match[1] === '-' ? -value : value
}
