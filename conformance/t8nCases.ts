/** How go-ethereum's own tests call its tools on each folder of `cmd/evm/testdata`, and what must come out. */

export type T8nCase = {
  /** Folder below `cmd/evm/testdata`. */
  readonly folder: string
  /** Command and flags; `@` stands for the folder. */
  readonly args: readonly string[]
  readonly exitCode?: number
  /** File with the JSON that stdout must hold. */
  readonly expected?: string
  /** Files with the lines that the run must leave in its output folder. */
  readonly traces?: readonly string[]
}

type Input = readonly [alloc: string, txs: string, env: string, fork: string, reward?: string]

/** @param out which outputs go to stdout: alloc, result, body */
function t8n(
  folder: string,
  [alloc, txs, env, fork, reward]: Input,
  out: string,
  rest: Pick<T8nCase, 'exitCode' | 'expected'>,
): T8nCase {
  const to = (name: string) => [`--output.${name}`, out.includes(name) ? 'stdout' : '']
  return {
    folder,
    args: [
      ...['t8n', ...to('body'), ...to('result'), ...to('alloc')],
      ...['--input.alloc', `@/${alloc}`, '--input.txs', `@/${txs}`, '--input.env', `@/${env}`],
      ...['--state.fork', fork, ...(reward === undefined ? [] : ['--state.reward', reward])],
    ],
    ...rest,
  }
}

function usual(folder: string, fork: string, txs = 'txs.json'): T8nCase {
  const input: Input = ['alloc.json', txs, 'env.json', fork]
  return t8n(folder, input, 'alloc result', { expected: 'exp.json' })
}

/** A run of which only the result is compared. */
function resultOnly(folder: string, fork: string, env: string, expected: string): T8nCase {
  return t8n(folder, ['alloc.json', 'txs.json', env, fork], 'result', { expected })
}

function t9n(folder: string, txs: string, fork: string, expected?: string): T8nCase {
  const args = ['t9n', '--input.txs', `@/${txs}`, '--state.fork', fork]
  return { folder, args, ...(expected === undefined ? { exitCode: 11 } : { expected }) }
}

function b11r(folder: string, expected: string, ...more: string[]): T8nCase {
  const args = ['b11r', '--input.header', '@/header.json', '--input.ommers', '@/ommers.json']
  args.push(...more, '--input.txs', '@/txs.rlp', '--output.block', 'stdout')
  return { folder, args, expected }
}

function traced(folder: string, fork: string, flags: readonly string[], traces: string[]): T8nCase {
  const args = ['t8n', '--input.alloc=@/alloc.json', '--input.txs=@/txs.json']
  args.push('--input.env=@/env.json', `--state.fork=${fork}`, ...flags)
  return { folder, args, traces }
}

const COUNTING_SCRIPT = `{
  count: 0,
  result: function () { this.count = this.count + 1; return "hello world " + this.count },
  fault: function () {}
}`
const HASHES = [
  '0-0x88f5fbd1524731a81e49f637aa847543268a5aaf2a6b32a69d2c6d978c45dcfb',
  '1-0x03a7b0a91e61a170d64ea94b8263641ef5a8bbdb10ac69f466083a6789c77fb8',
  '2-0xd96e0ce6418ee3360e11d3c7b6886f5a9a08f7ef183da72c23bb3b2374530128',
]
const CALL_FRAMES_TRACE =
  'trace-0-0x47806361c0fa084be3caa18afe8c48156747c01dbdfc1ee11b5aecdbe4fcf23e.jsonl'

export const T8N_CASES: readonly T8nCase[] = [
  t8n('1', ['alloc.json', 'txs.json', 'env.json', 'Frontier+1346'], 'alloc', { exitCode: 3 }),
  usual('1', 'Byzantium'),
  usual('3', 'Berlin'),
  t8n('4', ['alloc.json', 'txs.json', 'env.json', 'Berlin'], 'alloc result', { exitCode: 4 }),
  t8n('5', ['alloc.json', 'txs.json', 'env.json', 'Byzantium', '0x80'], 'alloc result', {
    expected: 'exp.json',
  }),
  // Its own text says how this one must end.
  t8n('11', ['alloc.json', 'txs.json', 'env.json', 'London'], 'alloc', { exitCode: 3 }),
  t8n('13', ['alloc.json', 'txs.json', 'env.json', 'London'], 'body', { expected: 'exp.json' }),
  t8n('13', ['alloc.json', 'signed_txs.rlp', 'env.json', 'London'], 'result', {
    expected: 'exp2.json',
  }),
  resultOnly('14', 'London', 'env.json', 'exp.json'),
  resultOnly('14', 'London', 'env.uncles.json', 'exp2.json'),
  resultOnly('14', 'Berlin', 'env.uncles.json', 'exp_berlin.json'),
  t9n('15', 'signed_txs.rlp', 'Homestead', 'exp.json'),
  t9n('15', 'signed_txs.rlp', 'London', 'exp2.json'),
  t9n('15', 'blockheader.rlp', 'London', 'exp3.json'),
  t9n('16', 'signed_txs.rlp', 'London', 'exp.json'),
  t9n('17', 'signed_txs.rlp', 'London', 'exp.json'),
  t9n('18', 'invalid.rlp', 'London'),
  resultOnly('19', 'London', 'env.json', 'exp_london.json'),
  resultOnly('19', 'ArrowGlacier', 'env.json', 'exp_arrowglacier.json'),
  resultOnly('19', 'GrayGlacier', 'env.json', 'exp_grayglacier.json'),
  b11r('20', 'exp.json'),
  b11r('21', 'exp.json'),
  b11r('21', 'exp-clique.json', '--seal.clique', '@/clique.json'),
  b11r('22', 'exp.json'),
  b11r('27', 'exp.json', '--input.withdrawals', '@/withdrawals.json'),
  resultOnly('23', 'Berlin', 'env.json', 'exp.json'),
  usual('24', 'Paris'),
  t8n('24', ['alloc.json', 'txs.json', 'env-missingrandom.json', 'Paris'], '', { exitCode: 3 }),
  usual('25', 'Paris'),
  usual('26', 'Shanghai'),
  usual('28', 'Cancun', 'txs.rlp'),
  usual('29', 'Cancun'),
  usual('30', 'Cancun', 'txs_more.rlp'),
  usual('33', 'Prague'),
  usual('34', 'Osaka'),
  traced(
    '31',
    'Cancun',
    ['--trace'],
    HASHES.map((hash) => `trace-${hash}.jsonl`),
  ),
  traced(
    '31',
    'Cancun',
    ['--trace.tracer', COUNTING_SCRIPT],
    HASHES.map((hash) => `trace-${hash}.json`),
  ),
  traced('32', 'Paris', ['--trace', '--trace.callframes'], [CALL_FRAMES_TRACE]),
]

/** Folders whose text holds what a run must print, as the last block of JSON in it. */
export const README_CASES: readonly T8nCase[] = [
  t8n('10', ['alloc.json', 'txs.json', 'env.json', 'London'], 'alloc result', {}),
  t8n('12', ['alloc.json', 'txs.json', 'env.json', 'London'], 'alloc result', {}),
]

/** Folders that say nothing of what must come out: the run has to succeed. */
export const SILENT_CASES: readonly T8nCase[] = [
  t8n('2', ['alloc.json', 'txs.json', 'env.json', 'Berlin'], 'alloc result', {}),
  t8n('8', ['alloc.json', 'txs.json', 'env.json', 'Berlin'], 'alloc result', {}),
]
