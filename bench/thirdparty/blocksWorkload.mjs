// What the block comparison runs: one genesis and signed transactions, equal for every engine.
//
//     senders S0 … Sn-1, each sends one transfer a block ─▶ receivers drawn from a pool of accounts that exist
import { createRequire } from 'node:module'
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createTx } from '@ethereumjs/tx'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { compileContracts } from './evmPrograms.mjs'
import { hex } from './harness.mjs'

const secp256k1 = createRequire(import.meta.url)('secp256k1')

export const COINBASE = `0x${'c0'.repeat(20)}`
export const TOKEN = `0x${'70'.repeat(20)}`
export const GAS_LIMIT = 100_000_000n
export const GENESIS_SECONDS = 1_700_000_000n
export const SECONDS_A_BLOCK = 12n
/** EDR fixes this one. */
export const CHAIN_ID = 31337n
const SENDER_WEI = 10n ** 24n
const SENDER_TOKENS = 10n ** 20n
const FEE_CAP = 20_000_000_000n

/** Kinds of transfer: what a transaction holds beside nonce and fees, from its receiver. */
export const KINDS = {
  eth: { gasLimit: 21_000n, fields: (to) => ({ to, value: 1n }) },
  erc20: {
    gasLimit: 100_000n,
    fields: (to, { selector }) => ({
      to: TOKEN,
      value: 0n,
      data: `0x${selector}${wordOf(BigInt(to))}${wordOf(1n)}`,
    }),
  },
}

export const peerCommon = (customCrypto = {}) =>
  new Common({
    chain: { ...Mainnet, chainId: Number(CHAIN_ID) },
    hardfork: Hardfork.Cancun,
    customCrypto,
  })

/** @returns `{ accounts, blocks }`: accounts as in a genesis file, blocks as lists of signed transactions in hex text. */
export async function makeWorkload({ kind, transactionCount, blockCount, receiverCount }) {
  const senders = Array.from({ length: transactionCount }, (_, index) => senderOf(index))
  const receivers = Array.from({ length: receiverCount }, (_, index) => receiverOf(index))
  const token = kind === 'erc20' ? await tokenOf(senders) : undefined
  const accounts = {
    ...Object.fromEntries(
      senders.map(({ address }) => [address, { balance: `0x${SENDER_WEI.toString(16)}` }]),
    ),
    ...Object.fromEntries(receivers.map((address) => [address, { balance: '0x1' }])),
    ...(token === undefined ? {} : { [TOKEN]: token.account }),
  }
  const common = peerCommon()
  const draw = drawer(1000)
  const blocks = Array.from({ length: blockCount }, (_, nonce) =>
    senders.map(({ key }) => {
      const fields = KINDS[kind].fields(receivers[draw() % receivers.length], token ?? {})
      return signed({ ...fields, nonce, gasLimit: KINDS[kind].gasLimit }, key, common)
    }),
  )
  return { accounts, blocks, senders: senders.map(({ address }) => address) }
}

function signed(fields, key, common) {
  const transaction = createTx(
    { type: 2, chainId: CHAIN_ID, maxFeePerGas: FEE_CAP, maxPriorityFeePerGas: 0n, ...fields },
    { common },
  )
  const { signature, recid } = secp256k1.ecdsaSign(transaction.getHashedMessageToSign(), key)
  const both = transaction.addSignature(
    BigInt(recid),
    signature.subarray(0, 32),
    signature.subarray(32),
  )
  return `0x${hex(both.serialize())}`
}

function senderOf(index) {
  const key = keccak_256(new TextEncoder().encode(`sender ${index}`))
  const point = secp256k1.publicKeyCreate(key, false)
  return { key, address: `0x${hex(keccak_256(point.subarray(1)).subarray(12))}` }
}

const receiverOf = (index) => `0x${(0x50_0000_0000 + index).toString(16).padStart(40, 'e')}`
const wordOf = (value) => value.toString(16).padStart(64, '0')

/** The token as it stands after its deployment and a gift to every sender: `balanceOf` is the mapping in slot 0. */
async function tokenOf(senders) {
  const { Token } = await compileContracts()
  const slotOf = (address) =>
    `0x${hex(keccak_256(Buffer.from(wordOf(BigInt(address)) + wordOf(0n), 'hex')))}`
  return {
    selector: Token.selectors['transfer(address,uint256)'],
    account: {
      balance: '0x0',
      nonce: '0x1',
      code: `0x${Token.runtimeCode}`,
      storage: Object.fromEntries(
        senders.map(({ address }) => [slotOf(address), `0x${wordOf(SENDER_TOKENS)}`]),
      ),
    },
  }
}

/** Seeded draws below 2^32 (xorshift32). */
function drawer(seed) {
  let word = seed
  return () => {
    word ^= word << 13
    word ^= word >>> 17
    word ^= word << 5
    word >>>= 0
    return word
  }
}

/** A genesis file, in geth's form. */
export const genesisOf = ({ accounts }) =>
  JSON.stringify({
    config: {
      chainId: Number(CHAIN_ID),
      homesteadBlock: 0,
      eip150Block: 0,
      eip155Block: 0,
      eip158Block: 0,
      byzantiumBlock: 0,
      constantinopleBlock: 0,
      petersburgBlock: 0,
      istanbulBlock: 0,
      berlinBlock: 0,
      londonBlock: 0,
      terminalTotalDifficulty: 0,
      terminalTotalDifficultyPassed: true,
      shanghaiTime: 0,
      cancunTime: 0,
      blobSchedule: { cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3338477 } },
    },
    difficulty: '0x0',
    gasLimit: `0x${GAS_LIMIT.toString(16)}`,
    timestamp: `0x${(GENESIS_SECONDS).toString(16)}`,
    coinbase: COINBASE,
    baseFeePerGas: '0x7',
    alloc: accounts,
  })
