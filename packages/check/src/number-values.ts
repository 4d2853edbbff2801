import { firstMilliseconds, firstSeconds, lastMilliseconds, toNumber } from '@automation/engine'
import type { Constants } from './constants.js'

/** Where the engine reads a number in another unit, or as no time. */
const edges = [firstSeconds, firstMilliseconds, lastMilliseconds].flatMap((edge) => [-edge, edge])
/** From here on the neighbour of a number may be infinite, which JSON cannot represent. */
const largest = 1e300

/** Every number that is compared with, one between each two, and one beyond on both sides. Undefined: there are numbers too large. */
export function listNumbers({ numbers, texts, instants, hasTime }: Constants): number[] | undefined {
  const constants = new Set(numbers)
  // A text that is a number equals that number.
  for (const text of texts) constants.add(toNumber(text))
  if (hasTime) for (const number of [...edges, ...[...instants].flatMap(listUnits)]) constants.add(number)
  constants.delete(Number.NaN)
  const sorted = [...constants].sort((left, right) => left - right)
  const [lowest, highest] = [sorted[0], sorted.at(-1)]
  if (lowest === undefined || highest === undefined) return [1]
  if (lowest < -largest || highest > largest) return undefined
  const values: number[] = []
  sorted.forEach((constant, index) => {
    const next = sorted[index + 1]
    values.push(constant)
    if (next === undefined) values.push(below(-constant) * -1)
    else values.push(...findBetween(constant, next))
  })
  values.push(below(lowest))
  return values
}

/** An instant as the numbers that are read as it. Seconds are rounded to milliseconds. */
function listUnits(instant: number): number[] {
  return [instant, ...[instant - 0.5, instant, instant + 0.5].map((ms) => ms / 1_000)]
}

/** The decimal digits of a number, without an exponent. */
export function toDecimal(number: number): string {
  const [mantissa = '0', exponent] = String(number).split('e')
  if (exponent === undefined) return mantissa
  const isNegative = mantissa.startsWith('-')
  const [whole = '0', fraction = ''] = mantissa.replace('-', '').split('.')
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  const text =
    point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : point >= digits.length
        ? digits + '0'.repeat(point - digits.length)
        : `${digits.slice(0, point)}.${digits.slice(point)}`
  return isNegative ? `-${text}` : text
}

function below(number: number): number {
  const one = Math.ceil(number) - 1
  return one < number ? one : number - Math.abs(number) * 2 ** -52
}

/** A number strictly between two, if there is one: whole where possible. */
function findBetween(low: number, high: number): number[] {
  const whole = Math.floor(low) + 1
  if (whole > low && whole < high) return [whole]
  const half = low / 2 + high / 2
  return half > low && half < high ? [half] : []
}
