/** The package has no types of its own; this is the part that is used. */
declare module 'snappyjs' {
  /** Unpacks one snappy block. Throws an Error where it is not valid or longer than `maxLength` plain bytes. */
  function uncompress(compressed: Uint8Array, maxLength?: number): Uint8Array
  const snappy: { readonly uncompress: typeof uncompress }
  export default snappy
}
