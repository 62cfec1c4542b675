/**
 * Which library answers for each curve right now. WebAssembly can only be made ready asynchronously, and precompiles
 * are synchronous, so: `preparePrecompiles` loads what a fork needs, and what was not prepared is answered by noble,
 * with the same results and 4 to 15 times slower.
 *
 *     not prepared ──preparePrecompiles──▶ mcl ──a call throws──▶ noble (that call and all later ones)
 */
import { AssertionFault, Fork } from '../../base/index.ts'
import { type BlsEngine, BN254_FORMAT, type CurveEngine } from './curves/curveEngine.ts'
import { MclBls } from './curves/mclBls.ts'
import { MclCurve } from './curves/mclCurve.ts'
import { loadMclModule, MclCurveId } from './curves/mclModule.ts'
import { nobleBls, nobleBn254 } from './curves/nobleCurve.ts'
import { MclP256, NobleP256, type P256Engine } from './curves/p256Engine.ts'
import { prepareRecovery, type RecoveryLibrary, recoveryLibrary } from './secp256k1.ts'

/** One curve: the WebAssembly engine once it is loaded, and the one that needs no loading. */
class EngineSlot<Engine> {
  private readonly load: () => Promise<Engine>
  private readonly createPortable: () => Engine
  private portable: Engine | undefined
  private fast: Engine | undefined
  private loading: Promise<void> | undefined

  constructor(load: () => Promise<Engine>, createPortable: () => Engine) {
    this.load = load
    this.createPortable = createPortable
  }

  /** Runs `work` on the best engine. Whatever the fast one throws retires it, and the portable one answers. */
  call<Result>(work: (engine: Engine) => Result): Result {
    if (this.fast !== undefined) {
      try {
        return work(this.fast)
      } catch (error) {
        if (error instanceof AssertionFault) throw error
        // After a trap the module's memory is not to be trusted; a later `prepare` makes a new one.
        this.fast = undefined
        this.loading = undefined
      }
    }
    this.portable ??= this.createPortable()
    return work(this.portable)
  }

  /** Loads the fast engine once; where it does not load, the portable one stays. */
  prepare(): Promise<void> {
    this.loading ??= this.load().then(
      (engine) => {
        this.fast = engine
      },
      () => {
        this.loading = undefined
      },
    )
    return this.loading
  }

  get isFast(): boolean {
    return this.fast !== undefined
  }
}

export const bn254Slot = new EngineSlot<CurveEngine>(
  async () => new MclCurve(BN254_FORMAT, await loadMclModule(MclCurveId.bn254)),
  nobleBn254,
)
export const blsSlot = new EngineSlot<BlsEngine>(
  async () => new MclBls(await loadMclModule(MclCurveId.bls12_381)),
  nobleBls,
)
export const p256Slot = new EngineSlot<P256Engine>(
  async () => new MclP256(await loadMclModule(MclCurveId.p256)),
  () => new NobleP256(),
)

/** Which library answers for what, at this moment. */
export type PrecompileLibraries = {
  readonly bn254: 'mcl' | 'noble'
  readonly bls12_381: 'mcl' | 'noble'
  readonly p256: 'mcl' | 'noble'
  readonly secp256k1: RecoveryLibrary
}

/**
 * Loads the WebAssembly libraries that the precompiles of `fork` use: up to three modules of mcl, about 0.15 s each,
 * and the portable secp256k1 where the native one is missing. Repeated and concurrent calls load nothing twice.
 * Never rejects: what does not load is answered by slower code, as the result says.
 */
export async function preparePrecompiles(fork: Fork = Fork.Osaka): Promise<PrecompileLibraries> {
  const loads = [prepareRecovery()]
  if (fork >= Fork.Byzantium) loads.push(bn254Slot.prepare())
  if (fork >= Fork.Cancun) loads.push(blsSlot.prepare())
  if (fork >= Fork.Osaka) loads.push(p256Slot.prepare())
  await Promise.all(loads)
  return precompileLibraries()
}

export function precompileLibraries(): PrecompileLibraries {
  return {
    bn254: bn254Slot.isFast ? 'mcl' : 'noble',
    bls12_381: blsSlot.isFast ? 'mcl' : 'noble',
    p256: p256Slot.isFast ? 'mcl' : 'noble',
    secp256k1: recoveryLibrary(),
  }
}
