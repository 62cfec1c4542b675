/** `varve get`: one answer from a state that a database keeps, the newest or one of those before. */
import { Command } from 'commander'
import { toHex, toQuantity } from '../base/index.ts'
import type { AccountProof, EngineView } from '../engine/index.ts'
import { parseAddress, parseBlock, parseFolder, parseSlot } from './arguments.ts'
import { tellBacklog, withEngine } from './database.ts'
import { toJson } from './exit.ts'

type GetFlags = { readonly db: string; readonly block: 'latest' | number; readonly json?: boolean }

export function addGetCommand(program: Command): void {
  const get = new Command('get').description('read an account, its storage or code, or a proof')
  subcommand(get, 'account', 'balance, nonce and code hash of an account').action(printAccount)
  subcommand(get, 'code', 'code of an account').action(printCode)
  subcommand(get, 'storage', 'values of storage slots', '<slot...>').action(printStorage)
  subcommand(get, 'proof', 'proof of an account and of slots (EIP-1186)', '[slot...]').action(
    printProof,
  )
  program.addCommand(get)
}

function subcommand(get: Command, name: string, description: string, slots?: string): Command {
  const command = get
    .command(name)
    .description(description)
    .argument('<address>', '20 bytes in hex', parseAddress)
  if (slots !== undefined) command.argument(slots, '1 to 64 hex digits each', addSlot, [])
  const example = `varve get ${name} 0x5abfec25f74cd88437631a7731906932776356f9${slots === undefined ? '' : ' 0x0'} --db ./mainnet`
  return command
    .requiredOption('--db <dir>', 'database folder', parseFolder)
    .option(
      '--block <number|latest>',
      'block whose state is asked; as far back as states are kept, see `varve db stats`',
      parseBlock,
      'latest',
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', `\nExample:\n  ${example}\n`)
}

/** Collects the slots of a variadic argument. */
function addSlot(text: string, before: readonly Uint8Array[]): Uint8Array[] {
  return [...before, parseSlot(text)]
}

function read<Result>(flags: GetFlags, work: (view: EngineView) => Result): Promise<Result> {
  return withEngine(flags.db, (engine, store) => {
    tellBacklog(flags.db, store)
    return work(engine.at(flags.block))
  })
}

function printAccount(address: Uint8Array, flags: GetFlags): Promise<void> {
  return read(flags, (view) => {
    const account = view.account(address)
    const { nonce = 0n, balance = 0n } = account ?? {}
    if (flags.json === true) {
      const codeHash = account === undefined ? undefined : toHex(account.codeHash)
      console.log(
        toJson({
          ...blockOf(view),
          address: toHex(address),
          exists: account !== undefined,
          nonce,
          balance,
          codeHash,
        }),
      )
    } else if (account === undefined)
      console.log(`no account at ${toHex(address)} (block ${view.header.number})`)
    else
      console.log(
        `balance  ${balance} wei\nnonce    ${nonce}\ncodeHash ${toHex(account.codeHash)}\nblock    ${view.header.number}`,
      )
  })
}

function printCode(address: Uint8Array, flags: GetFlags): Promise<void> {
  return read(flags, (view) => {
    const code = toHex(view.code(address))
    console.log(
      flags.json === true ? toJson({ ...blockOf(view), address: toHex(address), code }) : code,
    )
  })
}

function printStorage(
  address: Uint8Array,
  slots: readonly Uint8Array[],
  flags: GetFlags,
): Promise<void> {
  return read(flags, (view) => {
    const values = slots.map((slot) => ({
      slot: toHex(slot),
      value: toHex(view.storage(address, slot)),
    }))
    if (flags.json === true)
      console.log(toJson({ ...blockOf(view), address: toHex(address), storage: values }))
    else for (const { slot, value } of values) console.log(`${slot} ${value}`)
  })
}

/** Printed in the form of `eth_getProof` either way, on one line with `--json`. */
function printProof(
  address: Uint8Array,
  slots: readonly Uint8Array[],
  flags: GetFlags,
): Promise<void> {
  return read(flags, (view) => {
    const answer = {
      ...blockOf(view),
      stateRoot: toHex(view.root()),
      ...proofToJson(view.proof(address, slots)),
    }
    console.log(flags.json === true ? toJson(answer) : JSON.stringify(answer, undefined, 2))
  })
}

/** A proof with the names and forms of EIP-1186. */
export function proofToJson(proof: AccountProof) {
  return {
    address: toHex(proof.address),
    balance: toQuantity(proof.balance),
    nonce: toQuantity(proof.nonce),
    codeHash: toHex(proof.codeHash),
    storageHash: toHex(proof.storageRoot),
    accountProof: proof.accountProof.map(toHex),
    storageProof: proof.storageProof.map(({ slot, value, proof: nodes }) => ({
      key: toHex(slot),
      value: toQuantity(BigInt(toHex(value))),
      proof: nodes.map(toHex),
    })),
  }
}

function blockOf(view: EngineView) {
  return { block: { number: view.header.number, hash: toHex(view.header.hash) } }
}
