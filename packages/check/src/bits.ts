/** A set of candidates: one bit for each. */
export type Bits = Uint32Array

export function emptyBits(size: number): Bits {
  return new Uint32Array((size + 31) >>> 5)
}

export function setBit(bits: Bits, index: number): void {
  bits[index >>> 5] = word(bits, index >>> 5) | (1 << (index & 31))
}

export function intersects(left: Bits, right: Bits): boolean {
  for (let n = 0; n < left.length; n++) if ((word(left, n) & word(right, n)) !== 0) return true
  return false
}

export function isSubset(left: Bits, right: Bits): boolean {
  for (let n = 0; n < left.length; n++) if ((word(left, n) & ~word(right, n)) !== 0) return false
  return true
}

export function intersect(left: Bits, right: Bits): Bits {
  const bits = new Uint32Array(left.length)
  for (let n = 0; n < left.length; n++) bits[n] = word(left, n) & word(right, n)
  return bits
}

export function unite(left: Bits, right: Bits): Bits {
  const bits = new Uint32Array(left.length)
  for (let n = 0; n < left.length; n++) bits[n] = word(left, n) | word(right, n)
  return bits
}

export function isEmpty(bits: Bits): boolean {
  for (let n = 0; n < bits.length; n++) if (bits[n] !== 0) return false
  return true
}

/** The lowest set bit, or -1. */
export function firstBit(bits: Bits): number {
  for (let n = 0; n < bits.length; n++) {
    const bitsOfWord = word(bits, n)
    if (bitsOfWord !== 0) return n * 32 + (31 - Math.clz32(bitsOfWord & -bitsOfWord))
  }
  return -1
}

function word(bits: Bits, index: number): number {
  return bits[index] as number
}
