// EDR, the engine of Hardhat (revm behind JSON-RPC), as the comparisons open it: a chain of its own at one hardfork.
import { createRequire } from 'node:module'

/**
 * @param chain `{ hardfork, chainId, coinbase, blockGasLimit, genesisSeconds, genesisState, baseFee, hasAutoMining, ownedKeys }`
 * @returns `request(method, params)`, which throws on a JSON-RPC error
 */
export async function openEdr(chain) {
  const EDR = createRequire(import.meta.url)('@nomicfoundation/edr')
  const context = new EDR.EdrContext()
  await context.registerProviderFactory(EDR.GENERIC_CHAIN_TYPE, EDR.genericChainProviderFactory())
  const provider = await context.createProvider(
    EDR.GENERIC_CHAIN_TYPE,
    {
      allowBlocksWithSameTimestamp: true,
      allowUnlimitedContractSize: true,
      bailOnCallFailure: true,
      bailOnTransactionFailure: true,
      chainId: chain.chainId,
      coinbase: chain.coinbase,
      defaultTransactionGasLimit: 30_000_000n,
      genesisState: [
        ...(chain.hasSystemContracts
          ? EDR.l1GenesisState(EDR.l1HardforkFromString(chain.hardfork))
          : []),
        ...chain.genesisState,
      ],
      hardfork: chain.hardfork,
      initialBaseFeePerGas: chain.baseFee,
      initialParentBeaconBlockRoot: new Uint8Array(32),
      minGasPrice: 0n,
      mining: {
        autoMine: chain.hasAutoMining,
        memPool: { order: EDR.MineOrdering.Fifo },
        blockGasLimit: chain.blockGasLimit,
      },
      network: {
        genesisBlockGasLimit: chain.blockGasLimit,
        genesisBlockTime: chain.genesisSeconds,
        genesisBlobGas: { gasUsed: 0n, excessGas: 0n },
      },
      networkId: chain.chainId,
      observability: {},
      ownedAccounts: chain.ownedKeys,
      precompileOverrides: [],
      transactionGasCap: false,
    },
    { enable: false, decodeConsoleLogInputsCallback: () => [], printLineCallback: () => {} },
    { subscriptionCallback: () => {} },
    new EDR.ContractDecoder(),
  )
  let id = 0
  return async (method, params) => {
    const text = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
    const { data } = await provider.handleRequest(text)
    const { result, error } = typeof data === 'string' ? JSON.parse(data) : data
    if (error !== undefined) throw new Error(`EDR: ${method}: ${error.message}`)
    return result
  }
}

/** Why EDR cannot run here, or `undefined`. */
export function edrMissing() {
  try {
    createRequire(import.meta.url)('@nomicfoundation/edr')
    return undefined
  } catch (error) {
    return `EDR is left out, it does not load: ${String(error.message).split('\n')[0]}`
  }
}
