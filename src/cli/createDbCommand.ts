/** `varve create-db`: a database for the executor benchmark. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { parseCount, parseFolder, parsePositive } from './arguments.ts'
import { type CreateReport, createDatabase, describeCreation } from './executor/createDatabase.ts'
import { toJson, UsageError } from './exit.ts'
import { Progress } from './progress.ts'

type CreateFlags = {
  readonly dataDir: string
  readonly numAccounts: number
  readonly initAccountBalance: bigint
  readonly mainSignerAccounts?: number
  readonly moduleWorkingSetSize: number
  readonly json?: boolean
}

/** Accounts with keys and tokens, unless there are fewer accounts. */
const SIGNERS = 20_000
/** Enough for the dearest workload, and far below what a balance can hold. */
const BALANCE = 10n ** 18n

export function addCreateDbCommand(program: Command): void {
  program
    .command('create-db')
    .description('make a database for run-executor: accounts with a balance, and contracts')
    .requiredOption('--data-dir <dir>', 'database folder; empty or not there', parseFolder)
    .option('--num-accounts <count>', 'accounts', parsePositive, 1_000_000)
    .addOption(
      new Option('--init-account-balance <wei>', 'balance of each account')
        .argParser(parseWei)
        .default(BALANCE, '10^18'),
    )
    .option(
      '--main-signer-accounts <count>',
      `accounts with keys and tokens (default: ${SIGNERS}, or all)`,
      parseCount,
    )
    .option(
      '--module-working-set-size <count>',
      'how often each contract stands, for runs that spread their calls',
      parsePositive,
      1,
    )
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExample:\n  varve create-db --data-dir ./bench-db --num-accounts 100000\n',
    )
    .action((flags: CreateFlags) => runCreate(flags))
}

function runCreate(flags: CreateFlags): void {
  const { numAccounts: accounts, mainSignerAccounts: signers = Math.min(SIGNERS, accounts) } = flags
  if (signers > accounts)
    throw new UsageError(
      `--main-signer-accounts: expected at most --num-accounts, ${accounts}, got ${signers}`,
    )
  const bar = new Progress('writing  ', 'accounts', flags.json !== true)
  let report: CreateReport
  try {
    report = createDatabase({
      folder: flags.dataDir,
      accounts,
      signers,
      moduleCopies: flags.moduleWorkingSetSize,
      balance: flags.initAccountBalance,
      onAccount: (done, total) => bar.update(done, total),
    })
  } finally {
    bar.stop()
  }
  if (flags.json === true) console.log(toJson(report))
  else console.log(describeCreation(report))
}

function parseWei(text: string): bigint {
  if (!/^\d{1,60}$/.test(text)) throw new InvalidArgumentError(`"${text}" is no number of wei.`)
  return BigInt(text)
}
