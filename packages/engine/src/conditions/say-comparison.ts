import { phrases } from '../operators/phrases.js'
import { cutText } from '../texts/cut-text.js'
import { isReference, readReference } from '../values/value-reference.js'

/** What is known of a clause beside it. */
interface Known {
  /** Of two fields: the value of the other one. */
  other?: unknown
}

const longest = 80
const longestList = 160

/**
 * Says a clause: `score is above 80`. It brings no operators: a page that only says clauses does without them.
 *
 * @param operator its name, which is no alias
 */
export function sayComparison(subject: string, operator: string, value: unknown, known?: Known): string {
  const phrase = `${subject} ${phrases[operator] ?? operator.replaceAll('_', ' ')}`
  return value === undefined ? phrase : `${phrase} ${sayValue(operator, value, known)}`
}

/** Says the value of a clause; one that is another field by its path, and where it is known with its value: `the customer.limit (20,000)`. */
export function sayValue(operator: string, value: unknown, known: Known = {}): string {
  if (isReference(value) && (typeof value.field === 'string' || typeof value.root === 'string')) {
    const { text } = readReference(value)
    return 'other' in known ? `the ${text} (${sayConstant(operator, known.other)})` : text
  }
  if (!Array.isArray(value))
    return operator.startsWith('within') ? String(value) : sayConstant(operator, value)
  const items = value.map((item) => sayConstant(operator, item))
  return cutText(items.join(operator.endsWith('between') ? ' and ' : ', '), longestList, '…')
}

/** JSON on one line, cut. A number that is above or below another has its thousands apart; any other may be an id, or a year. */
export function sayConstant(operator: string, value: unknown): string {
  const isAmount = /^(?:greater|less)_than|between$/.test(operator)
  if (isAmount && typeof value === 'number' && Math.abs(value) >= 10_000 && Math.abs(value) < 1e15)
    return value.toLocaleString('en-US', { maximumFractionDigits: 20 })
  return cutText(JSON.stringify(value) ?? 'nothing', longest, '…')
}
