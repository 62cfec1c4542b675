/** An arm's process, seen from the command. */
import { type ChildProcess, fork } from 'node:child_process'
import type { ReplayReply, ReplayRequest } from './messages.ts'

/** Asks one thing at a time. Ends with its signal. */
export class ArmProcess {
  readonly label: string
  private readonly child: ChildProcess
  private waiting: { resolve(reply: ReplayReply): void; reject(error: Error): void } | undefined
  private ended: Error | undefined

  /** @param program path of the compiled entry */
  constructor(label: string, program: string, signal: AbortSignal) {
    this.label = label
    const { VARVE_VERIFY: _, ...env } = process.env
    this.child = fork(program, [], {
      execArgv: [],
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      signal,
    })
    this.child.on('message', (reply) =>
      this.take((waiting) => waiting.resolve(reply as ReplayReply)),
    )
    const end = (error: Error) => {
      this.ended ??= error
      this.take((waiting) => waiting.reject(error))
    }
    this.child.on('error', end)
    this.child.on('exit', (code, killedBy) =>
      end(new Error(`${label}: its process ended by ${killedBy ?? code}`)),
    )
  }

  /** @throws Error with the arm's name, where it fails or ends */
  async ask<Kind extends ReplayReply['kind']>(
    request: ReplayRequest,
    kind: Kind,
  ): Promise<Extract<ReplayReply, { kind: Kind }>> {
    if (this.ended !== undefined) throw this.ended
    const reply = await new Promise<ReplayReply>((resolve, reject) => {
      this.waiting = { resolve, reject }
      this.child.send(request)
    })
    if (reply.kind === 'fault') throw new Error(`${this.label}: ${reply.text}`)
    if (reply.kind !== kind) throw new Error(`${this.label}: expected ${kind}, got ${reply.kind}`)
    return reply as Extract<ReplayReply, { kind: Kind }>
  }

  /** Ends the process, whatever it is at. */
  kill(): void {
    this.child.kill('SIGKILL')
  }

  private take(use: (waiting: NonNullable<ArmProcess['waiting']>) => void): void {
    const { waiting } = this
    this.waiting = undefined
    if (waiting !== undefined) use(waiting)
  }
}
