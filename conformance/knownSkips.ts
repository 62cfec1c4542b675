/**
 * Cases that are not expected to pass, each with the reason. One that skips nothing fails its suite.
 */

export type KnownSkip = {
  readonly suite: string
  /** Matches the names of the cases. */
  readonly name: RegExp
  readonly reason: string
}

export const KNOWN_SKIPS: readonly KnownSkip[] = [
  {
    suite: 'geth-t8n',
    name: /^evmrun$/,
    reason:
      'outputs of `evm run`, which is not a command here, and of `evm statetest` on a file that the suite lacks',
  },
]
