/** Each case once, small, untimed: whether it still does what it claims. */
import { type BenchCase, type BenchProof, caseId, operationsOf } from '../../measure/index.ts'

export type SmokeResult = {
  readonly case: string
  readonly arm: string
  readonly size: number
  readonly proof: BenchProof
  /** What is not as the case claims; absent where all is well. */
  readonly fault?: string
}

/** Runs every arm of a case twice at its smoke size. */
export async function smoke(bench: BenchCase): Promise<SmokeResult[]> {
  const { size, digest } = bench.smoke
  const expected = { operations: operationsOf(bench, size), digest }
  const results: SmokeResult[] = []
  for (const arm of bench.arms) {
    const prepared = await bench.prepare(size, arm)
    const proofs: BenchProof[] = []
    for (let run = 0; run < 2; run++) {
      await prepared.before?.()
      await prepared.run()
      proofs.push(await prepared.prove())
      await prepared.after?.()
    }
    await prepared.close?.()
    const fault = proofs.map((proof) => faultOf(proof, expected)).find((each) => each !== undefined)
    results.push({
      case: caseId(bench),
      arm,
      size,
      proof: proofs[1]!,
      ...(fault === undefined ? {} : { fault }),
    })
  }
  return results
}

/** How a proof differs from what a case claims. */
function faultOf(proof: BenchProof, expected: BenchProof): string | undefined {
  if (proof.operations !== expected.operations)
    return `expected ${expected.operations} operations, the result proves ${proof.operations}`
  if (proof.digest !== expected.digest)
    return `expected a result with hash ${expected.digest}, got ${proof.digest}`
  return undefined
}
