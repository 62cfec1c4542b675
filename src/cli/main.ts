#!/usr/bin/env node
/** The command `varve`. Each command is a file of its own; here is how they come together. */
import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { addB11rCommand } from './b11rCommand.ts'
import { addDbCommand } from './dbCommand.ts'
import { addDemoCommand } from './demoCommand.ts'
import { EXIT_USAGE, reportFault } from './exit.ts'
import { addGetCommand } from './getCommand.ts'
import { addImportCommand } from './importCommand.ts'
import { addStatetestCommand } from './statetestCommand.ts'
import { addT8nCommand } from './t8nCommand.ts'
import { addT9nCommand } from './t9nCommand.ts'

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }

const program = new Command('varve')
  .description('Executes EVM blocks and keeps their state layered, authenticated and durable.')
  .version(version)
  .showHelpAfterError()
addImportCommand(program)
addDbCommand(program)
addGetCommand(program)
addDemoCommand(program)
addStatetestCommand(program)
addT8nCommand(program)
addT9nCommand(program)
addB11rCommand(program)
throwInsteadOfExit(program)

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
