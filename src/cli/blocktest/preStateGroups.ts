/** States that tests name by a hash, each in a file `<hash>.json` of its own (`pre_alloc`). */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { findInputs, requestsOf } from '../testfiles/inputs.ts'
import { type JsonRecord, readObject, readText } from '../testfiles/jsonValue.ts'
import type { PreStateGroup } from './blockTest.ts'

/**
 * Reads all groups below the paths.
 * @throws VarveError TESTFILE_UNREADABLE, TESTFILE_INVALID, SyntaxError, and faults of the file system
 */
export async function preStateGroups(
  paths: readonly string[],
): Promise<ReadonlyMap<string, PreStateGroup>> {
  const groups = new Map<string, PreStateGroup>()
  for (const input of paths.flatMap(findInputs))
    for await (const request of requestsOf(input, () => undefined)) {
      if (request.kind === 'file') {
        const text = readFileSync(request.path, 'utf8')
        addGroup(groups, request.path, readObject(JSON.parse(text), request.path))
        continue
      }
      for (const line of new TextDecoder().decode(request.bytes).split('\n')) {
        if (line === '') continue
        const record = readObject(JSON.parse(line), 'record')
        addGroup(groups, readText(record['path'], 'path'), readObject(record['tests'], 'tests'))
      }
    }
  return groups
}

function addGroup(groups: Map<string, PreStateGroup>, path: string, group: JsonRecord): void {
  groups.set(basename(path, '.json'), {
    pre: readObject(group['pre'], `${path}.pre`),
    environment: readObject(group['environment'], `${path}.environment`),
  })
}
