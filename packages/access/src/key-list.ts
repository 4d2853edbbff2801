/**
 * Splits the value of ENCRYPTION_KEY or JWT_SECRET. It is a list, so that a new key can come before the old one goes: the first
 * seals or signs, all open or verify. Commas separate, with or without spaces after them.
 */
export function readKeyList(text: string): [first: string, ...others: string[]] {
  const [first = '', ...others] = text.split(',').map((entry) => entry.trim())
  return [first, ...others]
}
