/**
 * One private instance of the mcl WebAssembly library. The package's own entry keeps one curve for the whole process;
 * its factory gives each caller a module with its own memory, so bn254, BLS12-381 and P-256 live side by side.
 * Points stay in that memory and are worked on by offset, which spares the package's conversions.
 *
 * This is the only file that knows the exports of the library.
 */

/** Numbers of the curves in mcl. */
export const MclCurveId = { bn254: 4, bls12_381: 5, p256: 107 } as const
export type MclCurveId = (typeof MclCurveId)[keyof typeof MclCurveId]

/** Sizes in mcl's memory, fixed when it was compiled: every field element has room for 384 bits. */
export const FP_BYTES = 48
export const FR_BYTES = 32
export const G1_BYTES = 3 * FP_BYTES
export const G2_BYTES = 6 * FP_BYTES
export const GT_BYTES = 12 * FP_BYTES
/** `MCLBN_COMPILED_TIME_VAR`: units of Fr times ten plus units of Fp; `init` refuses any other. */
const COMPILED_SIZES = 46
/** RFC 9380, as mcl numbers its ways of mapping to a curve. */
const MAP_MODE_RFC9380 = 5

type Offset = number
/** The part of the library that is used. Pointers are byte offsets; predicates answer 0 or 1. */
export type MclExports = {
  readonly wasmMemory: { readonly buffer: ArrayBuffer }
  stackSave(): number
  stackRestore(pointer: number): void
  _malloc(size: number): Offset
  _mclBn_init(curve: number, sizes: number): number
  _mclBn_setMapToMode(mode: number): number
  _mclBn_verifyOrderG1(verify: number): void
  _mclBn_verifyOrderG2(verify: number): void
  _mclBnFr_setBigEndianMod(z: Offset, bytes: Offset, size: number): number
  _mclBnFr_isZero(x: Offset): number
  _mclBnFr_neg(z: Offset, x: Offset): void
  _mclBnFr_inv(z: Offset, x: Offset): void
  _mclBnFr_mul(z: Offset, x: Offset, y: Offset): void
  _mclBnFp_setLittleEndian(z: Offset, bytes: Offset, size: number): number
  _mclBnFp_getLittleEndian(bytes: Offset, size: number, x: Offset): number
  _mclBnFp_setInt32(z: Offset, value: number): void
  _mclBnFp_clear(z: Offset): void
  _mclBnFp_sqr(z: Offset, x: Offset): void
  _mclBnFp_mul(z: Offset, x: Offset, y: Offset): void
  _mclBnFp_add(z: Offset, x: Offset, y: Offset): void
  _mclBnFp_neg(z: Offset, x: Offset): void
  _mclBnFp_squareRoot(z: Offset, x: Offset): number
  _mclBnFp_mapToG1(z: Offset, x: Offset): number
  _mclBnFp2_mapToG2(z: Offset, x: Offset): number
  _mclBn_millerLoopVec(z: Offset, g1s: Offset, g2s: Offset, count: number): void
  _mclBn_finalExp(z: Offset, x: Offset): void
  _mclBnGT_mul(z: Offset, x: Offset, y: Offset): void
  _mclBnGT_setInt32(z: Offset, value: number): void
  _mclBnGT_isOne(x: Offset): number
  _mclBn_getUint64NumToPrecompute(): number
  _mclBn_precomputeG2(lines: Offset, g2: Offset): void
  _mclBn_precomputedMillerLoop2(
    z: Offset,
    p: Offset,
    pLines: Offset,
    q: Offset,
    qLines: Offset,
  ): void
} & GroupExports<'G1'> &
  GroupExports<'G2'>

/** The same functions exist for both groups. */
type GroupExports<Name extends string> = {
  [Key in `_mclBn${Name}_${'isZero' | 'isValid' | 'isValidOrder'}`]: (x: Offset) => number
} & { [Key in `_mclBn${Name}_clear`]: (z: Offset) => void } & {
  [Key in `_mclBn${Name}_${'normalize' | 'neg'}`]: (z: Offset, x: Offset) => void
} & {
  [Key in `_mclBn${Name}_${'add' | 'mul' | 'sub'}`]: (z: Offset, x: Offset, y: Offset) => void
} & {
  [Key in `_mclBn${Name}_mulVec`]: (
    z: Offset,
    points: Offset,
    scalars: Offset,
    count: number,
  ) => void
}

export class MclModule {
  readonly calls: MclExports
  /** Little-endian bytes on their way in and out; 64 bytes. */
  private readonly transfer: Offset
  private view: Uint8Array

  /** Use `loadMclModule`. */
  constructor(calls: MclExports) {
    this.calls = calls
    this.view = new Uint8Array(calls.wasmMemory.buffer)
    this.transfer = this.allocate(64)
  }

  /** Memory that lives as long as the module. */
  allocate(size: number): Offset {
    const offset = this.calls._malloc(size)
    expectMcl(offset !== 0, 'mcl has memory left')
    return offset
  }

  /** Reads `width` big-endian bytes into the field element at `target`; the caller knows they are below the modulus. */
  readFp(target: Offset, bytes: Uint8Array, offset: number, width: number): void {
    const memory = this.memory()
    const last = this.transfer + width - 1
    for (let index = 0; index < width; index++) memory[last - index] = bytes[offset + index]!
    const status = this.calls._mclBnFp_setLittleEndian(target, this.transfer, width)
    expectMcl(status === 0, 'a field element below the modulus is one for mcl')
  }

  /** Writes the field element at `source` as `width` big-endian bytes. */
  writeFp(source: Offset, bytes: Uint8Array, offset: number, width: number): void {
    const count = this.calls._mclBnFp_getLittleEndian(this.transfer, 64, source)
    expectMcl(count > 0 && count <= width, 'mcl writes a field element in its width')
    const memory = this.memory()
    const last = offset + width - 1
    for (let index = 0; index < width; index++)
      bytes[last - index] = index < count ? memory[this.transfer + index]! : 0
  }

  /** Reads 32 big-endian bytes modulo the group order into the scalar at `target`. */
  readFr(target: Offset, bytes: Uint8Array, offset: number): void {
    this.memory().set(bytes.subarray(offset, offset + FR_BYTES), this.transfer)
    const status = this.calls._mclBnFr_setBigEndianMod(target, this.transfer, FR_BYTES)
    expectMcl(status === 0, 'mcl reduces every scalar')
  }

  /** Fetched anew after each call that may have grown the memory: growing detaches the old buffer. */
  private memory(): Uint8Array {
    if (this.view.length === 0) this.view = new Uint8Array(this.calls.wasmMemory.buffer)
    return this.view
  }
}

/**
 * Instantiates the library for one curve: about 0.15 s of processor time and 3 MB. Its 600 KB of source are imported
 * here and not above, so that start-up does not pay for them.
 */
export async function loadMclModule(curve: MclCurveId): Promise<MclModule> {
  const { default: createModule } = await import('mcl-wasm/dist/mcl_c.js')
  const calls: MclExports = await createModule({
    cryptoGetRandomValues: (bytes: Uint8Array) => crypto.getRandomValues(bytes),
  })
  const status = calls._mclBn_init(curve, COMPILED_SIZES)
  expectMcl(status === 0, 'mcl knows the curve')
  // Curve and subgroup are checked apart, where each EIP asks for it.
  calls._mclBn_verifyOrderG1(0)
  calls._mclBn_verifyOrderG2(0)
  if (curve === MclCurveId.bls12_381) calls._mclBn_setMapToMode(MAP_MODE_RFC9380)
  return new MclModule(calls)
}

/** A fault of the library, not of ours: it retires the engine, and the portable one answers. */
export function expectMcl(condition: boolean, message: string): void {
  if (!condition) throw new Error(`mcl: ${message}`)
}
