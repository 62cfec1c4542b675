/** Aim: the fuzzer runs a little with every test run, each time from another seed, which it prints where it fails. */
import { test } from 'node:test'
import { fuzzTransactions } from './transaction.fuzz.ts'

const seed = Date.now() % 2 ** 31

test(`random blocks, seed ${seed}`, () => fuzzTransactions(seed, 300))
