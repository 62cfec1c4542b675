/** Reading what a person typed: addresses, slots, numbers. */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ADDRESS_BYTES, fromBareHex, HASH_BYTES } from '../base/index.ts'
import { MEMORY_BYTES_MIN } from '../engine/index.ts'
import type { JournalSync } from '../store/index.ts'
import type { MetricsAddress } from './metrics/metricsServer.ts'

/** 20 bytes; `0x` may be missing, the case does not matter. */
export function parseAddress(text: string): Uint8Array {
  const digits = text.replace(/^0x/i, '')
  if (!/^[0-9a-f]{40}$/i.test(digits))
    throw new InvalidArgumentError(
      `"${text}" is no address: expected 0x and ${2 * ADDRESS_BYTES} hex digits.`,
    )
  return fromBareHex(digits)
}

/** A storage slot of 1 to 64 hex digits, padded on the left; `0x` may be missing. */
export function parseSlot(text: string): Uint8Array {
  const digits = text.replace(/^0x/i, '')
  if (!/^[0-9a-f]{1,64}$/i.test(digits))
    throw new InvalidArgumentError(
      `"${text}" is no slot: expected 0x and 1 to ${2 * HASH_BYTES} hex digits.`,
    )
  return fromBareHex(digits.padStart(2 * HASH_BYTES, '0'))
}

/** Path of a folder. An empty one, as from a shell variable that is not set, would mean the folder at hand. */
export function parseFolder(text: string): string {
  if (text === '') throw new InvalidArgumentError('expected the path of a folder, got nothing.')
  return text
}

/** A block number. */
export function parseCount(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value))
    throw new InvalidArgumentError(`"${text}" is no number from 0 up.`)
  return value
}

/** A count of at least one. */
export function parsePositive(text: string): number {
  const value = parseCount(text)
  if (value === 0) throw new InvalidArgumentError('expected at least 1.')
  return value
}

/** Bytes, with a unit of 1,024 where one is named: `67108864`, `64M`, `2GiB`. At least what an engine takes. */
export function parseMemory(text: string): number {
  const [, digits, unit = ''] = /^(\d+)\s*([KMGT]?)(?:i?B)?$/i.exec(text) ?? []
  const value = Number(digits) * 1024 ** ' KMGT'.indexOf(unit.toUpperCase() || ' ')
  if (!Number.isSafeInteger(value) || value < MEMORY_BYTES_MIN)
    throw new InvalidArgumentError(
      `"${text}" is no amount of memory: expected bytes, or as 512M, from 64M up.`,
    )
  return value
}

/** `--pipeline`, of every command that executes blocks into a database. */
export function pipelineOption(): Option {
  return new Option('--pipeline <on|off>', 'whether roots and writes are made on other threads')
    .choices(['on', 'off'])
    .default('on')
}

/** `--memory`, of the same commands. @param fallback what is taken without it, in words */
export function memoryOption(fallback = '1G'): Option {
  return new Option(
    '--memory <bytes>',
    `for states, trie nodes and what waits for a write, as 512M or 2G (default: ${fallback})`,
  ).argParser(parseMemory)
}

/** `--metrics`, `--slow-block` and `--slow-block-log`, of the same commands. */
export function addWatchOptions(command: Command): Command {
  return command
    .option(
      '--metrics <port|host:port>',
      'serve metrics for Prometheus at http://127.0.0.1:PORT/metrics while the command runs; port 0: a free one',
      parseMetricsAddress,
    )
    .option(
      '--slow-block <ms>',
      'print a JSON line for each block that takes as long: where the time went, and on which accounts and slots',
      parseMilliseconds,
    )
    .option('--slow-block-log <file>', 'add these lines to a file (default: standard error)')
}

/** A port of the loopback interface, or `HOST:PORT`; an IPv6 address stands in brackets. */
export function parseMetricsAddress(text: string): MetricsAddress {
  const [, bracketed, plain, digits] =
    /^(?:\[([\da-f:.]+)\]:|([^:[\]\s]+):)?(\d{1,5})$/i.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535)
    throw new InvalidArgumentError(`"${text}" is no port from 0 to 65535, nor HOST:PORT.`)
  return { host: bracketed ?? plain ?? '127.0.0.1', port }
}

/** From 0 up, a fraction allowed. */
function parseMilliseconds(text: string): number {
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text))
    throw new InvalidArgumentError(`"${text}" is no number of milliseconds from 0 up.`)
  return Number(text)
}

/** `--sync`, of the same commands. @param mode where none is asked for */
export function syncOption(mode: 'always' | 'group'): Option {
  return new Option(
    '--sync <always|group[:ms]|os>',
    'when a block is durable: with its own disk sync, with one for all blocks of some milliseconds, or when the ' +
      'operating system has it. A killed process loses nothing; a power cut loses nothing, the last milliseconds, or ' +
      'the last seconds of blocks, and never damages the database',
  )
    .argParser(parseSync)
    .default(parseSync(mode), mode)
}

const GROUP_MS = 50

/** `always`, `os`, `group`, or `group:MS`. */
export function parseSync(text: string): JournalSync {
  if (text === 'always' || text === 'os') return { mode: text }
  const [, digits] = /^group(?::(\d{1,5}))?$/.exec(text) ?? [undefined, 'none']
  if (digits === 'none')
    throw new InvalidArgumentError(`"${text}" is none of always, group, group:MS, os.`)
  return { mode: 'group', milliseconds: digits === undefined ? GROUP_MS : Number(digits) }
}

/** `latest` or a block number. */
export function parseBlock(text: string): 'latest' | number {
  return text === 'latest' ? text : parseCount(text)
}
