/**
 * Arguments to Node for a worker: the process's own, as is the rule, but none under `--input-type`. That says what a
 * program on the command line is, and Node 20 refuses to start a worker that inherits it: `node --input-type=module -e …`
 * could not use threads at all. (Some arguments may be inherited and not named, so leaving out one does not do.)
 */
export function workerArguments(): { readonly execArgv?: string[] } {
  const isProgramOnCommandLine = process.execArgv.some((argument) =>
    argument.startsWith('--input-type'),
  )
  return isProgramOnCommandLine ? { execArgv: [] } : {}
}
