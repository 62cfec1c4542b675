/**
 * Headers checked a second, against their parents, with the window of ancestors moved on: the cost of the rules in an
 * import. Proof of work with difficulties of both paths, and Osaka with blob gas.
 */
import { Fork, toHex } from '../base/index.ts'
import { decodeHeader, encodeHeader, type Header } from '../codec/index.ts'
import { bench, report, timeNs } from '../testing/index.ts'
import { makeChild, makeFirst } from './headerMaker.suite.ts'
import { validateHeader } from './headerRules.ts'
import { type ChainSpec, singleForkSpec } from './spec.ts'
import { AncestorWindow } from './uncleRules.ts'

const ARMS: readonly (readonly [string, Fork, bigint])[] = [
  ['Frontier, difficulty below 2^52', Fork.Frontier, 17_179_869_184n],
  ['Byzantium, difficulty above 2^53', Fork.Byzantium, 1n << 60n],
  ['Osaka, with blob gas', Fork.Osaka, 0n],
]

for (const [name, fork, difficulty] of ARMS)
  bench(`header rules: ${name}`, (mode) => {
    const headerCount = mode === 'full' ? 20_000 : 50
    const roundCount = mode === 'full' ? 9 : 1
    const spec = singleForkSpec(fork)
    const headers = [decoded(makeFirst(fork, fork < Fork.Paris ? { difficulty } : {}))]
    while (headers.length <= headerCount) headers.push(decoded(makeChild(headers.at(-1)!, spec)))
    // Two rounds to warm up: the first runs took five times as long.
    if (mode === 'full') for (let round = 0; round < 2; round++) checkAll(headers, spec)
    const samples: number[] = []
    for (let round = 0; round < roundCount; round++) {
      const elapsedNs = timeNs(() => checkAll(headers, spec))
      samples.push((headerCount / elapsedNs) * 1e9)
    }
    const check = toHex(headers.at(-1)!.hash)
    report({ name: `header rules: ${name}`, unit: 'headers/s', samples, check })
  })

/** As an import has it: headers that spreads made had a hidden class each and were checked 5 times slower. */
function decoded(header: Header): Header {
  return decodeHeader(encodeHeader(header))
}

function checkAll(headers: readonly Header[], spec: ChainSpec): void {
  const window = new AncestorWindow()
  for (let index = 1; index < headers.length; index++) {
    const header = headers[index]!
    validateHeader(header, headers[index - 1]!, spec)
    window.push({ header, uncleHashes: [] })
  }
}
