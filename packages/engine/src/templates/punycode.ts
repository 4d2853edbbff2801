/** Parameters of RFC 3492. */
const base = 36
const tMin = 1
const tMax = 26
const skew = 38
const damp = 700

/**
 * Whether the part of a host after `xn--` stands for text in another script. The URL parsers of Node 20 and 22 check this, that of
 * Node 24 does not, and an address must not be valid on one of them alone.
 */
export function isPunycode(text: string): boolean {
  const decoded = decode(text.toLowerCase())
  return (
    decoded !== undefined && /[^\0-\x7f]/.test(decoded) && !/(?![\u200c\u200d])[\p{C}\p{Z}]/u.test(decoded)
  )
}

function decode(text: string): string | undefined {
  const dash = text.lastIndexOf('-')
  const points = [...text.slice(0, Math.max(0, dash))].map((letter) => letter.charCodeAt(0))
  let point = 128
  let bias = 72
  let index = 0
  for (let at = dash + 1; at < text.length; ) {
    const before = index
    for (let weight = 1, k = base; ; k += base) {
      const digit = Number.parseInt(toBase36(text[at++]), base)
      if (Number.isNaN(digit)) return undefined
      index += digit * weight
      const threshold = Math.min(tMax, Math.max(tMin, k - bias))
      if (digit < threshold) break
      weight *= base - threshold
    }
    const length = points.length + 1
    bias = adapt(index - before, length, before === 0)
    point += Math.floor(index / length)
    index %= length
    if (point > 0x10ffff) return undefined
    points.splice(index++, 0, point)
  }
  return String.fromCodePoint(...points)
}

/** Punycode begins with the letters, base 36 with the digits. Anything else stays what it is, and is no digit. */
function toBase36(letter = ''): string {
  if (/^[a-z]$/.test(letter)) return (letter.charCodeAt(0) - 97).toString(base)
  return /^[0-9]$/.test(letter) ? (Number(letter) + 26).toString(base) : '?'
}

function adapt(delta: number, length: number, isFirst: boolean): number {
  let left = Math.floor(delta / (isFirst ? damp : 2))
  left += Math.floor(left / length)
  let k = 0
  for (; left > ((base - tMin) * tMax) / 2; k += base) left = Math.floor(left / (base - tMin))
  return k + Math.floor(((base - tMin + 1) * left) / (left + skew))
}
