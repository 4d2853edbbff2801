import { findOperator } from '../operators/index.js'
import type { Clause } from '../rule.js'
import { readTime } from '../times/read-time.js'
import { toNumber } from '../values/comparison.js'
import { parsePath } from '../values/path.js'

/** Words of field names such as createdAt, due_date and expires. */
const words =
  /^(?:at|date|time|datetime|timestamp|ts|created|updated|modified|due|deadline|expires|expiry|expiration|since|until|birthday)$/
const [earliest, latest] = [Date.UTC(2000, 0), Date.UTC(2100, 0)]

/** Says that a clause compares a time as a number: its field has the name of a time, and its constant is one of this century. */
export function findNumberAsTime({ field, operator, value }: Clause): string | undefined {
  const name = parsePath(field)?.at(-1) ?? ''
  const parts = name.replace(/([a-z])(?=[A-Z])/g, '$1 ').toLowerCase()
  if (!parts.split(/[^a-z]+/).some((part) => words.test(part))) return undefined
  // An operator that compares times reads no number in the rule.
  if (findOperator(operator)?.compares.includes('number') !== true) return undefined
  for (const constant of [value].flat()) {
    const instant = readTime(toNumber(constant))
    if (instant >= earliest && instant <= latest)
      return `${constant} is compared as a number here. If it is a time, use before or after with ${JSON.stringify(new Date(instant).toISOString())}, which read numbers in events, too`
  }
  return undefined
}
