/** Aim: seals are those of the network. Method: the published vectors, as they are and with one bit changed. @isolate */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromBareHex, toBareHex } from '../base/index.ts'
import { decodeHeader, Era1Reader, sealHeader } from '../codec/index.ts'
import { fixturePath, fixtureRecords, fixturesMissing } from '../testing/index.ts'
import { EthashVerifier, openEthash, sealHashOf } from './ethash.ts'

type Vector = {
  nonce: string
  mixHash: string
  header: string
  result: string
  header_hash: string
}
type File = { path: string; tests: Record<string, Vector> }

const skip = fixturesMissing('PoWTests', 'github.com/ethereum/tests')

const verifier = await openEthash()

test('published hashes', { skip }, async () => {
  let count = 0
  for await (const { path, tests } of fixtureRecords<File>('et-basic')) {
    if (path !== 'PoWTests/ethash_tests.json') continue
    for (const [name, vector] of Object.entries(tests)) {
      const header = decodeHeader(fromBareHex(vector.header))
      assert.equal(toBareHex(sealHashOf(header)), vector.header_hash, name)
      const { mix, result } = verifier.hash(header)
      assert.deepEqual([toBareHex(mix), toBareHex(result)], [vector.mixHash, vector.result], name)
      count++
    }
  }
  assert.equal(count, 2)
})

test('blocks of mainnet are sealed, and by nothing else', { skip }, () => {
  const reader = new Era1Reader(fixturePath('era1/mainnet-00000-5ec1ffb8.era1'))
  try {
    const header = decodeHeader(reader.readBlock(1).header)
    verifier.verify(header)
    for (const field of ['nonce', 'mixHash', 'coinbase'] as const) {
      const bytes = header[field].slice()
      bytes[3]! ^= 1
      assert.throws(() => verifier.verify(sealHeader({ ...header, [field]: bytes })), {
        code: 'BLOCK_SEAL_INVALID',
      })
    }
    // The right mix of a nonce that is none: only the result tells.
    const nonce = new Uint8Array(8)
    const { mix } = verifier.hash({ ...header, nonce })
    assert.throws(() => verifier.verify(sealHeader({ ...header, nonce, mixHash: mix })), {
      code: 'BLOCK_SEAL_INVALID',
      message: /hash of the seal/,
    })
  } finally {
    reader.close()
  }
})

test('a block beyond all epochs is refused before any work', () => {
  const never = () => assert.fail('no hash is needed')
  const idle = new EthashVerifier(never)
  const header = { number: 30_000 * 2049 } as Parameters<EthashVerifier['verify']>[0]
  assert.throws(() => idle.verify(header), { code: 'BLOCK_SEAL_EPOCH' })
})
