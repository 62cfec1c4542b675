/**
 * Aim: both implementations of the curve find the key that signed, for every shape of signature. Method: transactions
 * of all types signed by thousands of seeded keys with another library (`@noble/curves`), so that r and s with leading
 * zeros occur; faulty signatures on which all three must agree.
 */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bigintFromBytes, bigintToBytes, bytesConcat, toHex } from '../base/index.ts'
import { keccak256 } from '../kernels/index.ts'
import { Prng } from '../testing/index.ts'
import { encodeRlpWithPrefix } from './rlp.ts'
import { openSecp256k1 } from './secp256k1.ts'
import { addressOfPublicKey, SenderRecovery } from './sender.ts'
import { randomUnsigned } from './transaction.fuzz.ts'
import {
  decodeTransaction,
  encodeTransaction,
  sealTransaction,
  signingHash,
} from './transaction.ts'
import { SECP256K1_ORDER } from './transactionReaders.ts'

const KEY_COUNT = 2048

test('transactions of random keys: sign, encode, decode, recover', async () => {
  const recoveries = [await SenderRecovery.open('wasm')]
  if ((await SenderRecovery.open()).kind === 'native')
    recoveries.push(await SenderRecovery.open('native'))
  const random = new Prng(5)
  let shortCount = 0
  for (let index = 0; index < KEY_COUNT; index++) {
    const key = randomKey(random)
    const unsigned = randomUnsigned(random)
    const { r, s, yParity } = sign(signingHash(unsigned), key)
    if (r >> 248n === 0n || s >> 248n === 0n) shortCount++
    const signed = sealTransaction({ ...unsigned, r, s, yParity })
    const decoded = decodeTransaction(encodeTransaction(signed))
    assert.deepEqual(decoded, signed)
    const expected = toHex(addressOfPublicKey(secp256k1.getPublicKey(key, false).subarray(1)))
    // The slower implementation sees every eighth, and all with short numbers.
    for (const recovery of recoveries)
      if (recovery.kind === 'native' || index % 8 === 0 || (r & s) >> 248n === 0n)
        assert.equal(toHex(recovery.recoverSender(decoded)), expected, `key ${index}`)
  }
  assert.ok(shortCount >= 5, `${shortCount} signatures with leading zeros`)
})

test('authorizations: the authority, or none where the signature is not valid', async () => {
  const recovery = await SenderRecovery.open()
  const random = new Prng(6)
  for (let index = 0; index < 50; index++) {
    const key = randomKey(random)
    const fields = {
      chainId: random.bigint(64),
      address: random.bytes(20),
      nonce: random.bigint(64),
    }
    const hash = keccak256(encodeRlpWithPrefix([fields.chainId, fields.address, fields.nonce], 5))
    const signature = sign(hash, key)
    const expected = toHex(addressOfPublicKey(secp256k1.getPublicKey(key, false).subarray(1)))
    assert.equal(toHex(recovery.recoverAuthority({ ...fields, ...signature })!), expected)
    const { r, s, yParity } = signature
    for (const bad of [
      { r, s, yParity: 2 },
      { r, s, yParity: 27 },
      { r: 0n, s, yParity },
      { r: SECP256K1_ORDER, s, yParity },
      { r, s: 0n, yParity },
      // EIP-7702 takes only the lower s.
      { r, s: SECP256K1_ORDER - s, yParity: 1 - yParity },
      { r, s: 2n ** 256n - 1n, yParity },
    ])
      assert.equal(recovery.recoverAuthority({ ...fields, ...bad }), undefined)
  }
})

test('all implementations agree on signatures of any numbers', async () => {
  const curves = [await openSecp256k1('wasm'), await openSecp256k1()]
  const random = new Prng(7)
  let foundCount = 0
  for (let index = 0; index < 300; index++) {
    const r = random.pick([random.bigint(256), BigInt(random.below(30)), SECP256K1_ORDER - 1n])
    const s = random.pick([random.bigint(256), BigInt(random.below(3)), SECP256K1_ORDER - 1n])
    const yParity = random.below(2) as 0 | 1
    const hash = random.oneIn(10) ? new Uint8Array(32) : random.bytes(32)
    const signature = bytesConcat(bigintToBytes(r, 32), bigintToBytes(s, 32))
    const found = curves.map((curve) => curve.recover(signature, yParity, hash))
    const expected = recoverByNoble(signature, yParity, hash)
    for (const key of found)
      assert.deepEqual(key && toHex(key), expected, `r ${r} s ${s} ${yParity}`)
    if (expected !== undefined) foundCount++
  }
  assert.ok(foundCount > 50 && foundCount < 250, `${foundCount} have a key`)
})

test('the native implementation, where it is installed, is the binding and no fallback', async (context) => {
  const curve = await openSecp256k1()
  if (curve.kind !== 'native') return context.skip('native secp256k1 is not installed')
  const loaded = Object.keys(createRequire(import.meta.url).cache)
  assert.ok(loaded.some((path) => path.endsWith('.node') && path.includes('secp256k1')))
  assert.ok(!loaded.some((path) => path.includes('elliptic')))
})

test('short buffers are a bug of the caller, not an invalid signature', async () => {
  for (const kind of ['wasm', 'auto'] as const) {
    const curve = await openSecp256k1(kind)
    assert.throws(() => curve.recover(new Uint8Array(63), 0, new Uint8Array(32)))
    assert.throws(() => curve.recover(new Uint8Array(64), 0, new Uint8Array(31)))
  }
})

function recoverByNoble(
  signature: Uint8Array,
  yParity: 0 | 1,
  hash: Uint8Array,
): string | undefined {
  try {
    const point = secp256k1.Signature.fromBytes(signature, 'compact')
      .addRecoveryBit(yParity)
      .recoverPublicKey(hash)
    return toHex(point.toBytes(false).subarray(1))
  } catch {
    return undefined
  }
}

function randomKey(random: Prng): Uint8Array {
  const key = random.bytes(32)
  return secp256k1.utils.isValidSecretKey(key) ? key : randomKey(random)
}

function sign(hash: Uint8Array, key: Uint8Array): { r: bigint; s: bigint; yParity: 0 | 1 } {
  const bytes = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' })
  return {
    yParity: bytes[0] === 0 ? 0 : 1,
    r: bigintFromBytes(bytes.subarray(1, 33)),
    s: bigintFromBytes(bytes.subarray(33)),
  }
}
