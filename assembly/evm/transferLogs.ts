/**
 * Logs of the protocol itself about wei that move or are destroyed (EIP-7708). They come from the system's address and
 * lie among those of code, so a failing frame takes them back.
 */
import {
  A_BALANCE,
  account,
  accountNumber,
  destructedAt,
  destructedLength,
} from './accounts'
import { addressWord } from './addresses'
import { SCRATCH } from './layout'
import { appendLog } from './logs'
import { copyWord, isZero, lessThan, writeBytes } from './word'

// Topics lie as on a stack, the first on top.
const LAST_TOPIC: usize = SCRATCH + 800
const AMOUNT: usize = SCRATCH + 896
const SYSTEM: usize = SCRATCH + 768
const BALANCE: usize = SCRATCH + 736

/** `Transfer(from, to, amount)`, as tokens log it. */
export function logTransfer(from: u32, to: u32, amount: usize): void {
  const first = LAST_TOPIC + 64
  // keccak256('Transfer(address,address,uint256)')
  store<u64>(first, 0x28f55a4df523b3ef)
  store<u64>(first, 0x952ba7f163c4a116, 8)
  store<u64>(first, 0x69c2b068fc378daa, 16)
  store<u64>(first, 0xddf252ad1be2c89b, 24)
  addressWord(from, LAST_TOPIC + 32)
  addressWord(to, LAST_TOPIC)
  append(3, first, amount)
}

/** `Burn(account, amount)`. */
export function logBurn(owner: u32, amount: usize): void {
  const first = LAST_TOPIC + 32
  // keccak256('Burn(address,uint256)')
  store<u64>(first, 0x71a0fdb75d397ca5)
  store<u64>(first, 0x6cffcc184412cf7a, 8)
  store<u64>(first, 0x815c1ee09dbd0673, 16)
  store<u64>(first, 0xcc16f5dbb4873280, 24)
  addressWord(owner, LAST_TOPIC)
  append(2, first, amount)
}

/** Logs what the accounts that the transaction deletes still hold, in the order of their addresses. */
export function logBurns(): void {
  let last: u32 = 0
  for (;;) {
    const next = nextBurnt(last)
    if (next == 0) return
    // A log may move the records of accounts, so the balance is copied first.
    copyWord(BALANCE, account(next) + A_BALANCE)
    logBurn(next, BALANCE)
    last = next
  }
}

/** The account to be deleted with wei on it whose address follows that of `last`; 0 where there is none. */
function nextBurnt(last: u32): u32 {
  let found: u32 = 0
  for (let at: u32 = 0; at < destructedLength(); at++) {
    const index = destructedAt(at)
    if (isZero(account(index) + A_BALANCE)) continue
    if (last != 0 && !isBelow(last, index)) continue
    if (found == 0 || isBelow(index, found)) found = index
  }
  return found
}

/** Whether the address of account `a` is less than that of `b`. */
function isBelow(a: u32, b: u32): bool {
  addressWord(a, LAST_TOPIC)
  addressWord(b, LAST_TOPIC + 32)
  return lessThan(LAST_TOPIC, LAST_TOPIC + 32)
}

function append(topicCount: u32, first: usize, amount: usize): void {
  writeBytes(amount, AMOUNT)
  // The system's address is named only: no account is read for it.
  store<u64>(SYSTEM, 0xfffffffffffffffe)
  store<u64>(SYSTEM, 0xffffffffffffffff, 8)
  store<u64>(SYSTEM, 0xffffffff, 16)
  store<u64>(SYSTEM, 0, 24)
  appendLog(accountNumber(SYSTEM), topicCount, first, AMOUNT, 32)
}
