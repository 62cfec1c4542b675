/** Aim: geth's words, by rejections that arise in real checks, and addresses by the vectors of EIP-55. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fork, fromHex, type Hex } from '../../base/index.ts'
import { SECP256K1_ORDER } from '../../codec/index.ts'
import { checksumAddress, signatureProblem } from './rejectionText.ts'

test('addresses of EIP-55', () => {
  for (const address of [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
  ])
    assert.equal(checksumAddress(fromHex(address.toLowerCase() as Hex)), address)
})

test('a signature is judged by the fork', () => {
  const legacy = { type: 0, chainId: undefined, r: 1n, s: 1n } as const
  const invalid = 'invalid transaction v, r, s values'
  assert.equal(signatureProblem(legacy, Fork.Frontier, 1n), undefined)
  assert.equal(signatureProblem({ ...legacy, r: 0n }, Fork.Frontier, 1n), invalid)
  assert.equal(signatureProblem({ ...legacy, s: SECP256K1_ORDER }, Fork.Frontier, 1n), invalid)
  const high = { ...legacy, s: SECP256K1_ORDER - 1n }
  assert.equal(signatureProblem(high, Fork.Frontier, 1n), undefined)
  assert.equal(signatureProblem(high, Fork.Homestead, 1n), invalid)
  const bound = { ...legacy, chainId: 5n }
  assert.equal(signatureProblem(bound, Fork.Homestead, 5n), invalid)
  assert.equal(signatureProblem(bound, Fork.TangerineWhistle, 5n), invalid)
  assert.equal(signatureProblem(bound, Fork.SpuriousDragon, 5n), undefined)
  assert.equal(
    signatureProblem(bound, Fork.London, 1n),
    'invalid chain id for signer: have 5 want 1',
  )
  const blob = { ...bound, type: 3 } as const
  assert.equal(signatureProblem(blob, Fork.London, 5n), 'transaction type not supported')
})
