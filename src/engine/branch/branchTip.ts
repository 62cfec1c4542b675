/**
 * The newest block of a branch, and through it the ones before. Its header needs the root of its state, which costs
 * more than the block itself; so the block is sealed when its hash is first asked for: by its owner, or by the block
 * that comes on top of it. Branches that were forked from one another share their tips.
 */
import { totalDifficulty } from '../../chain/index.ts'
import type { Block, Header } from '../../codec/index.ts'
import type { StoredHeader } from '../chainRecords.ts'

/** Seals a block with the root of the state after it. */
export type Seal = (stateRoot: Uint8Array) => Block

export class BranchTip {
  readonly number: number
  /** `undefined` for the block of the chain that the branch begins at. */
  readonly parent: BranchTip | undefined
  private readonly sealWith: Seal | undefined
  private sealedBlock: Block | undefined
  private stored: StoredHeader | undefined

  /**
   * @param block of the chain, or the tip that a block of the branch stands on
   * @param seal of that block
   */
  constructor(block: StoredHeader | BranchTip, seal?: Seal) {
    if (block instanceof BranchTip) {
      this.parent = block
      this.number = block.number + 1
    } else {
      this.stored = { header: block.header, totalDifficulty: block.totalDifficulty }
      this.number = block.header.number
    }
    this.sealWith = seal
  }

  /** The block, or `undefined` for the chain's own. @param root of the state after it; asked for once at most */
  block(root: () => Uint8Array): Block | undefined {
    if (this.sealWith !== undefined) this.sealedBlock ??= this.sealWith(root())
    return this.sealedBlock
  }

  /** The header and the difficulty up to it. @param root as in `block` */
  header(root: () => Uint8Array): StoredHeader {
    if (this.stored === undefined) {
      const { header } = this.block(root)!
      // A block is made on a sealed one.
      const before = this.parent!.stored!
      this.stored = {
        header,
        totalDifficulty: totalDifficulty(before.totalDifficulty, header.difficulty),
      }
    }
    return this.stored
  }

  /** Header of a block of the branch below this one, or `undefined` where the chain has to be asked. */
  ancestor(number: number): Header | undefined {
    let tip: BranchTip | undefined = this
    while (tip !== undefined && tip.number > number) tip = tip.parent
    return tip?.number === number ? tip.stored?.header : undefined
  }
}
