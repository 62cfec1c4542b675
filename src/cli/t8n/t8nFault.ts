/** How geth's tools end: each kind of fault has its exit code, and one line on stderr names both. */

/** Exit codes of `evm t8n`, `t9n` and `b11r`. */
export const T8nExit = {
  Other: 1,
  /** The state or a block could not be made. */
  Evm: 2,
  /** Flags or environment make no sense. */
  Config: 3,
  /** Code asked for a block hash that the environment does not hold. */
  MissingBlockhash: 4,
  Json: 10,
  Io: 11,
  Rlp: 12,
} as const
export type T8nExit = (typeof T8nExit)[keyof typeof T8nExit]

/** Ends a command with one of geth's exit codes. */
export class T8nFault extends Error {
  override readonly name = 'T8nFault'
  readonly exitCode: T8nExit

  constructor(exitCode: T8nExit, message: string) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Runs a command and turns its fault into a line and an exit code. What is no fault goes on. */
export async function endAsGeth(work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof T8nFault)) throw error
    const isNumbered = error.exitCode !== T8nExit.Other
    console.error(isNumbered ? `ERROR(${error.exitCode}): ${error.message}` : error.message)
    process.exitCode = error.exitCode
  }
}
