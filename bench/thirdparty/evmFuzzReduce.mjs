// Makes a differing case smaller while it still differs: fewer transactions, slots and bytes of code.

/** @param differs async test of a case. Cost: a few hundred runs. */
export async function reduceCase(fuzzCase, differs) {
  let best = fuzzCase
  const attempt = async (candidate) => {
    if (!(await differs(candidate))) return false
    best = candidate
    return true
  }
  for (
    let index = best.transactions.length - 1;
    index >= 0 && best.transactions.length > 1;
    index--
  )
    await attempt({ ...best, transactions: best.transactions.toSpliced(index, 1) })
  for (const address of Object.keys(best.accounts)) {
    const replace = (fields) => ({
      ...best,
      accounts: { ...best.accounts, [address]: { ...best.accounts[address], ...fields } },
    })
    await attempt(replace({ slots: [] }))
    await shrinkBytes(best.accounts[address].code, (code) => attempt(replace({ code })))
  }
  for (let index = 0; index < best.transactions.length; index++) {
    const replace = (input) => ({
      ...best,
      transactions: best.transactions.with(index, { ...best.transactions[index], input }),
    })
    await shrinkBytes(best.transactions[index].input, (input) => attempt(replace(input)))
  }
  return best
}

/** Takes out ever shorter ranges; `attempt` says which results are kept. */
async function shrinkBytes(start, attempt) {
  let bytes = start
  for (let size = bytes.length; size >= 1; size = size >> 1)
    for (let at = bytes.length - size; at >= 0; ) {
      const shorter = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + size)])
      if (await attempt(shorter)) bytes = shorter
      at = Math.min(at - size, bytes.length - size)
    }
}
