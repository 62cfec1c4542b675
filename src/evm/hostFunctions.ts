/** Answers the kernel's questions from a `Host`: turns words into bytes and back, at cold accesses only. */
import { ADDRESS_BYTES, assert, EMPTY_BYTES, VarveError } from '../base/index.ts'
import { type EvmHostFunctions, type EvmKernel, EvmLayout as L } from '../kernels/index.ts'
import type { Host, StorageReader } from './host.ts'
import type { PrecompileView } from './precompiles/index.ts'
import type { TrimmedStorage } from './trimmedStorage.ts'

export type HostBinding = {
  kernel(): EvmKernel
  host(): Host
  /** Those of the block's fork and set. */
  precompiles(): PrecompileView
  /** Storages that are open in this block, by the kernel's number of the account. Emptied by the binding's owner. */
  readonly storages: StorageReader[]
  trimmed: TrimmedStorage
  trace: EvmHostFunctions['trace']
}

export function hostFunctions(binding: HostBinding): EvmHostFunctions {
  const { kernel, host, precompiles, storages, trimmed } = binding
  // One array for all slots: two a cold slot were a third of its cost.
  const lentSlot = new Uint8Array(32)
  return {
    trace: binding.trace,
    trimmedLoad: (slot, to) => trimmed.load(kernel(), slot, to),
    trimmedOriginal: (slot, to) => trimmed.original(kernel(), slot, to),
    trimmedStore: (slot, from) => trimmed.store(kernel(), slot, from),
    trimmedUndo: () => trimmed.undo(),
    trimmedForget: (slot) => trimmed.forget(slot),
    loadAccount(record) {
      const account = host().loadAccount(kernel().readWordBytes(record, ADDRESS_BYTES))
      if (account === undefined) return 0
      kernel().view.setBigUint64(record + L.A_NONCE, account.nonce, true)
      kernel().writeWord(record + L.A_BALANCE, account.balance)
      kernel().bytes.set(account.codeHash, record + L.A_CODE_HASH)
      return 1
    },
    hasStorage(record) {
      return host().hasStorage(kernel().readWordBytes(record, ADDRESS_BYTES)) ? 1 : 0
    },
    openStorage(owner, record) {
      const reader = host().openStorage(kernel().readWordBytes(record, ADDRESS_BYTES))
      if (reader === undefined) return 0
      storages[owner] = reader
      return 1
    },
    loadSlot(owner, key, to) {
      const reader = storages[owner]
      assert(reader !== undefined, 'evm: a slot of a storage that is not open')
      kernel().readWordBytesInto(key, lentSlot)
      kernel().writeWordBytes(to, reader(lentSlot) ?? EMPTY_BYTES)
    },
    loadCode(hash) {
      const codeHash = kernel().copyOut(hash, 32)
      const code = host().loadCode(codeHash)
      if (code.length === 0)
        throw new VarveError('EVM_CODE_MISSING', 'the host gave no code for a code hash')
      const block = kernel().exports.codeBlock(code.length)
      kernel().bytes.set(code, block + L.C_BYTES)
      return block
    },
    blockHash(number, to) {
      kernel().writeWordBytes(to, host().blockHash(kernel().readWord(number)))
    },
    precompile(id, input, size) {
      return runPrecompile(kernel(), precompiles(), id, input, size)
    },
  }
}

function runPrecompile(
  kernel: EvmKernel,
  precompiles: PrecompileView,
  id: number,
  input: number,
  size: number,
): number {
  const precompile = precompiles.byAddress[id]
  if (precompile === undefined) return 0
  const gas = kernel.view.getBigUint64(L.MAILBOX + L.M_PRECOMPILE_GAS, true)
  // The libraries want plain bytes of their own, not views of shared memory.
  const result = precompile.run(kernel.copyOut(input, size), gas)
  if (result.kind !== 'success') return 0
  const to = kernel.exports.returnDataSpace(result.output.length)
  kernel.bytes.set(result.output, to)
  kernel.view.setBigUint64(L.MAILBOX + L.M_PRECOMPILE_USED, result.gasUsed, true)
  return 1
}

/** Error codes of this module. */
export type HostErrorCode =
  /** The host has an account with a code hash and no code for it. */
  'EVM_CODE_MISSING'
