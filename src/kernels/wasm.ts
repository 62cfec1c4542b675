/**
 * Loading of wasm kernels: one compiled module a thread, any number of instances, each on a memory that the caller
 * brings. TypeScript describes `WebAssembly` only in its browser library, so the few parts used are typed here.
 *
 * Not here: what a module exports; that is known to its own loader alone.
 */

/** The part of a `WebAssembly.Memory` that kernels use. `buffer` is fetched anew after anything that may grow it. */
export type KernelMemory = { readonly buffer: ArrayBufferLike }

/** Bytes of a page, the unit in which a memory is sized. */
export const PAGE_BYTES = 65_536

type MemoryDescriptor = { initial: number; maximum: number; shared: boolean }
type WebAssemblyApi = {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (
    module: object,
    imports: Record<string, Record<string, unknown>>,
  ) => { readonly exports: object }
  readonly Memory: new (descriptor: MemoryDescriptor) => KernelMemory
}

function webAssembly(): WebAssemblyApi | undefined {
  return (globalThis as { WebAssembly?: WebAssemblyApi }).WebAssembly
}

/**
 * Makes a shared memory for kernels. It never moves: its maximum is reserved as address space at once.
 * Without WebAssembly it is a plain shared buffer of `pageCountMax` pages, which serves the twins.
 */
export function createKernelMemory(pageCount: number, pageCountMax: number): KernelMemory {
  const api = webAssembly()
  if (api === undefined) return { buffer: new SharedArrayBuffer(pageCountMax * PAGE_BYTES) }
  return new api.Memory({ initial: pageCount, maximum: pageCountMax, shared: true })
}

/** A kernel's module: decoded and compiled when first asked for, then kept for the life of the thread. */
export class KernelModule<Exports extends object> {
  private readonly base64: string
  private compiled: object | undefined
  private unavailable = false

  /** @param base64 the string of a file in `generated/` */
  constructor(base64: string) {
    this.base64 = base64
  }

  /**
   * A new instance on `memory`, which must be a shared `WebAssembly.Memory`, or `undefined` where this machine has no
   * WebAssembly, or one without SIMD or shared memory: the kernel's twin has to serve then. A kernel holds no state, so instances on
   * one memory do not know of each other. Cost: 0.2 ms for the first, some microseconds for the others.
   * @param host functions that the kernel imports from the module `host`
   */
  instantiate(memory: KernelMemory, host: Record<string, unknown> = {}): Exports | undefined {
    const module = this.compile()
    const api = webAssembly()
    if (module === undefined || api === undefined) return undefined
    return new api.Instance(module, { env: { memory }, host }).exports as Exports
  }

  private compile(): object | undefined {
    if (this.compiled !== undefined || this.unavailable) return this.compiled
    const api = webAssembly()
    try {
      if (api !== undefined) this.compiled = new api.Module(decodeBase64(this.base64))
    } catch {
      // The bytes are checked by the build, so a refusal means a feature that this engine lacks.
    }
    this.unavailable = this.compiled === undefined
    return this.compiled
  }
}

function decodeBase64(base64: string): Uint8Array {
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index)
  return bytes
}
