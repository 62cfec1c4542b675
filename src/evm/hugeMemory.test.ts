/**
 * Aim: a frame may have more than the 1 GiB of the largest class of blocks, grows on in place, and gives it back. Method:
 * a callee stores words beyond 1 GiB and reads them again; called twice, its second block fits only where the first was
 * given back. @isolate
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toBareHex } from '../base/index.ts'
import { Status } from './status.ts'
import { assemble, RETURN_TOP, runCode, World } from './testWorld.suite.ts'

const CALLEE = new Uint8Array(20).fill(0xca)
const FIRST = 0x4400_0000
const SECOND = 0x4600_0000

test('memory beyond 1 GiB grows in place and is given back', () => {
  const world = new World()
  const sum = `${FIRST} MLOAD ${SECOND} MLOAD ADD`
  const code = assemble(`1 ${FIRST} MSTORE 2 ${SECOND} MSTORE ${sum} ${RETURN_TOP}`)
  world.put(CALLEE, { nonce: 1n, code })
  // The answer is written to memory at 0.
  const call = `32 0 0 0 0 0x${toBareHex(CALLEE)} GAS CALL POP 0 MLOAD`
  const { status, output } = runCode(assemble(`${call} ${call} ADD ${RETURN_TOP}`), {
    gas: 1n << 62n,
    world,
  })
  assert.equal(status, Status.Success)
  assert.equal(BigInt(`0x${toBareHex(output)}`), 6n)
})
