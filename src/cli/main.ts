#!/usr/bin/env node
/** The command `varve`. Each command is a file of its own; here is how they come together. */
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { EXIT_PIPE, EXIT_USAGE, reportFault } from './exit.ts'

/** In the order of the help. A command's file loads with all it stands on, so only the one that is called does. */
const COMMANDS: Record<string, (program: Command) => Promise<unknown>> = {
  import: async (to) => (await import('./importCommand.ts')).addImportCommand(to),
  db: async (to) => (await import('./dbCommand.ts')).addDbCommand(to),
  get: async (to) => (await import('./getCommand.ts')).addGetCommand(to),
  demo: async (to) => (await import('./demoCommand.ts')).addDemoCommand(to),
  'create-db': async (to) => (await import('./createDbCommand.ts')).addCreateDbCommand(to),
  'run-executor': async (to) => (await import('./runExecutorCommand.ts')).addRunExecutorCommand(to),
  bench: async (to) => (await import('./benchCommand.ts')).addBenchCommand(to),
  soak: async (to) => (await import('./soakCommand.ts')).addSoakCommand(to),
  statetest: async (to) => (await import('./statetestCommand.ts')).addStatetestCommand(to),
  blocktest: async (to) => (await import('./blocktestCommand.ts')).addBlocktestCommand(to),
  t8n: async (to) => (await import('./t8nCommand.ts')).addT8nCommand(to),
  t9n: async (to) => (await import('./t9nCommand.ts')).addT9nCommand(to),
  b11r: async (to) => (await import('./b11rCommand.ts')).addB11rCommand(to),
}

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }

const program = new Command('varve')
  .description('Executes EVM blocks and keeps their state layered, authenticated and durable.')
  .version(version)
  .showHelpAfterError()
const called = process.argv[2] ?? ''
const loads = Object.hasOwn(COMMANDS, called) ? [COMMANDS[called]!] : Object.values(COMMANDS)
for (const load of loads) await load(program)
throwInsteadOfExit(program)

// Whoever reads has enough, as `head` does: the end of the work, and no fault.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(EXIT_PIPE)
  })

try {
  await program.parseAsync()
} catch (error) {
  // Help and version end with 0; anything else that commander throws is wrong usage.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
  else reportFault(error, process.argv.includes('--json'))
}

/** Lets this file decide about exit codes, for the command and all below it. */
function throwInsteadOfExit(command: Command): void {
  command.exitOverride()
  for (const child of command.commands) throwInsteadOfExit(child as Command)
}
