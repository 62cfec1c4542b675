/** The part of `src/arena/layout.ts` that the kernel needs; a test compares the two. */
export const HANDLE_SHIFT: usize = 3
export const KIND_LEAF: u32 = 1
export const KIND_EXTENSION: u32 = 2
export const KIND_BRANCH: u32 = 3
export const FLAG_DIRTY: u32 = 0x100
export const REFERENCE_OFFSET: usize = 8
export const DETAIL_OFFSET: usize = 4
export const BODY_OFFSET: usize = 40
export const KEY_OFFSET: usize = 44
export const VALUE_SLOT: usize = 16
