/** Tracers by the names that geth gives them, with its options as JSON. */
import { VarveError } from '../base/index.ts'
import { CallTracer } from './callTracer.ts'
import { Erc7562Tracer } from './erc7562Tracer.ts'
import { FlatCallTracer, type TracePlace } from './flatCallTracer.ts'
import { FourByteTracer } from './fourByteTracer.ts'
import { LegacyCallTracer } from './legacyCallTracer.ts'
import { MuxTracer } from './muxTracer.ts'
import { NoopTracer } from './noopTracer.ts'
import { PrestateTracer } from './prestateTracer.ts'
import { StructLogTracer } from './structLogTracer.ts'
import type { Tracer } from './tracer.ts'

/** Reads one option. @throws VarveError TRACE_OPTION_INVALID */
type Options = {
  flag(name: string): boolean
  count(name: string): number | undefined
  quantities(name: string): readonly number[] | undefined
}

type Opener = (options: Options, place: TracePlace | undefined) => Tracer
type ConfigObject = { readonly [key: string]: unknown }

/** Deepest nesting of muxes. */
const MUX_DEPTH_MAX = 8

const OPENERS: Readonly<Record<string, Opener>> = {
  callTracer: ({ flag }) =>
    new CallTracer({ onlyTopCall: flag('onlyTopCall'), withLog: flag('withLog') }),
  callTracerLegacy: () => new LegacyCallTracer(),
  flatCallTracer: ({ flag }, place) =>
    new FlatCallTracer(
      {
        convertParityErrors: flag('convertParityErrors'),
        includePrecompiles: flag('includePrecompiles'),
      },
      place,
    ),
  prestateTracer: ({ flag }) =>
    new PrestateTracer({
      diffMode: flag('diffMode'),
      disableCode: flag('disableCode'),
      disableStorage: flag('disableStorage'),
      includeEmpty: flag('includeEmpty'),
    }),
  erc7562Tracer: ({ flag, quantities }) => {
    const ignoredOpcodes = quantities('ignoredOpcodes')
    return new Erc7562Tracer({
      withLog: flag('withLog'),
      ...(ignoredOpcodes === undefined ? {} : { ignoredOpcodes }),
    })
  },
  structLogger: ({ flag, count }) =>
    new StructLogTracer({
      enableMemory: flag('enableMemory'),
      disableStack: flag('disableStack'),
      disableStorage: flag('disableStorage'),
      enableReturnData: flag('enableReturnData'),
      limit: count('limit') ?? 0,
    }),
  '4byteTracer': () => new FourByteTracer(),
  noopTracer: () => new NoopTracer(),
}

/** All names that `openTracer` knows. */
export const TRACER_NAMES: readonly string[] = [...Object.keys(OPENERS), 'muxTracer'].sort()

/**
 * Opens a tracer. Options that it does not know are passed over, as geth does.
 * @param config options as parsed from JSON; `undefined` for none. A `muxTracer` has those of each tracer by name
 * @param place shown by the `flatCallTracer`
 * @throws VarveError TRACE_TRACER_UNKNOWN | TRACE_OPTION_INVALID
 */
export function openTracer(name: string, config?: unknown, place?: TracePlace): Tracer {
  return open(name, config, place, MUX_DEPTH_MAX)
}

function open(
  name: string,
  config: unknown,
  place: TracePlace | undefined,
  depthLeft: number,
): Tracer {
  const object = objectOf(name, config ?? {})
  if (name === 'muxTracer') {
    if (depthLeft === 0) throw invalidOption(name, 'muxTracer', `at most ${MUX_DEPTH_MAX} levels`)
    return new MuxTracer(
      new Map(
        Object.entries(object).map(([inner, options]) => [
          inner,
          open(inner, options, place, depthLeft - 1),
        ]),
      ),
    )
  }
  const opener = Object.hasOwn(OPENERS, name) ? OPENERS[name] : undefined
  if (opener === undefined)
    throw new VarveError(
      'TRACE_TRACER_UNKNOWN',
      `no tracer "${name}"; known are ${TRACER_NAMES.join(', ')}`,
      { name },
    )
  return opener(optionsOf(name, object), place)
}

function objectOf(name: string, config: unknown): ConfigObject {
  if (typeof config === 'object' && config !== null && !Array.isArray(config))
    return config as ConfigObject
  throw invalidOption(name, 'tracerConfig', 'an object')
}

function optionsOf(name: string, config: ConfigObject): Options {
  const optionOf = (key: string) =>
    Object.hasOwn(config, key) ? (config[key] ?? undefined) : undefined
  return {
    flag(key) {
      const value = optionOf(key)
      if (value === undefined || typeof value === 'boolean') return value === true
      throw invalidOption(name, key, 'true or false')
    },
    count(key) {
      const value = optionOf(key)
      if (value === undefined) return undefined
      if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
      throw invalidOption(name, key, 'a whole number from 0 up')
    },
    quantities(key) {
      const value = optionOf(key)
      if (value === undefined) return undefined
      if (Array.isArray(value) && value.every(isQuantity)) return value.map(Number)
      throw invalidOption(name, key, 'a list of quantities, as "0x50"')
    },
  }
}

function isQuantity(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value)
}

function invalidOption(
  tracer: string,
  option: string,
  expected: string,
): VarveError<TracerErrorCode> {
  return new VarveError('TRACE_OPTION_INVALID', `${tracer}, ${option}: expected ${expected}`, {
    tracer,
    option,
  })
}

/** Error codes of this module. */
export type TracerErrorCode =
  /** No tracer has this name. */
  | 'TRACE_TRACER_UNKNOWN'
  /** An option of a tracer is of the wrong kind. */
  | 'TRACE_OPTION_INVALID'
