/**
 * What a published test says about the program that filled it, and the rules that follow from that.
 *
 * Files of EIP-2537 were filled under the name Prague by `evm` of go-ethereum 1.14, which had the draft; the final rules
 * came with 1.15 (go-ethereum pull request 30978, opened on 2 January 2025). Files of other fillers have the final ones.
 *
 * Files of the releases zkevm@v0.3.x were filled under the draft of Amsterdam before that of bal@v5.7.
 */
import type { AmsterdamDraft } from '../../base/index.ts'
import type { PrecompileSet } from '../../evm/index.ts'

/** `evm version 1.14.0-unstable-a208e725-20240416`: minor version, and the day of an unstable build. */
const GETH_EVM = /^evm version 1\.(\d{1,3})\.\d{1,3}(?:-\w+(?:-[0-9a-f]{8})?(?:-(\d{8}))?)?/
const MINOR_WITH_DRAFT = 14
/** Builds of development branches from this day on may have the final rules whatever their version. */
const FINAL_SINCE = '20250102'

/**
 * Precompiles that a test was filled with: told by the version of the filler, not by names or paths of tests.
 * @param info the test's `_info`, any JSON value
 */
export function precompileSetOf(info: unknown): PrecompileSet {
  if (typeof info !== 'object' || info === null) return 'final'
  const fields = info as { readonly [key: string]: unknown }
  const version = fields['filling-rpc-server'] ?? fields['filling-transition-tool']
  const found = typeof version === 'string' ? GETH_EVM.exec(version) : null
  if (found === null || Number(found[1]) !== MINOR_WITH_DRAFT) return 'final'
  const day = found[2]
  return day === undefined || day < FINAL_SINCE ? 'eip2537-april-2024' : 'final'
}

/** Release in the address of a test's source. */
const OLD_DRAFT_RELEASE = /\/blob\/tests-(?:zkevm@v0\.3\.|bal@v5\.[3-6]\.)/

/** The draft of Amsterdam that a test was filled under, told by the release it is of; `undefined` for the usual one. */
export function amsterdamDraftOf(info: unknown): AmsterdamDraft | undefined {
  if (typeof info !== 'object' || info === null) return undefined
  const { url } = info as { readonly url?: unknown }
  return typeof url === 'string' && OLD_DRAFT_RELEASE.test(url) ? 'bal@v5.6' : undefined
}
