/**
 * Options of the seed's benchmark that have nothing to act on here. Each is known, so that a command line written for
 * that benchmark ends with the reason. The table in the README of `cli` says the same.
 */
import { type Command, Option } from 'commander'
import { UsageError } from '../exit.ts'

/** Name without dashes, and why it is not taken. */
export const REFUSED_OPTIONS: Readonly<Record<string, string>> = {
  'allow-aborts': 'no workload has a transaction that fails, so one that does is a fault',
  'allow-discards': 'a block with a transaction that is refused is no block',
  'allow-retries': 'transactions run in their order, so none is run again',
  'enable-epoch-snapshot-pruner': 'there are no snapshots of epochs',
  'enable-feature': 'the fork is that of the database, Cancun',
  'enable-ledger-pruner': 'blocks and receipts are kept',
  'enable-state-pruner': 'older states always go: --state-prune-window says when',
  'num-executor-shards': 'one executor runs all transactions of a block',
  'skip-paranoid-checks': 'the checks of the EVM are part of its result',
  'use-global-executor': 'one executor runs all transactions of a block',
  'use-keyless-accounts': 'a transaction is signed with secp256k1',
  'use-sender-account-pool': 'senders are a pool anyway: --main-signer-accounts says how large',
}

/** Adds them, without a line in the help. */
export function addRefusedOptions(command: Command): Command {
  for (const name of Object.keys(REFUSED_OPTIONS))
    command.addOption(new Option(`--${name} [value]`).hideHelp())
  return command.hook('preAction', () => {
    for (const [name, reason] of Object.entries(REFUSED_OPTIONS))
      if (command.getOptionValueSource(camelCase(name)) !== undefined)
        throw new UsageError(`--${name}: not taken, as ${reason}`)
  })
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
