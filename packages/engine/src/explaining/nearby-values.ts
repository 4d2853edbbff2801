import { parseDuration } from '../times/duration.js'
import { firstMilliseconds } from '../times/read-time.js'
import { parseTimestamp } from '../times/timestamp.js'
import { toNumber } from '../values/comparison.js'

/** Longer texts and lists are not extended, but replaced. */
const maxExtended = 500

/** Values near a constant of a clause, or near the actual value, which may turn the clause. */
export function listValues(value: unknown, actual: unknown, now: number): unknown[] {
  const constants = Array.isArray(value) ? value.slice(0, 100) : [value]
  return [
    ...constants.flatMap((constant) => listNeighbours(constant, actual, now)),
    ...(Array.isArray(actual) && actual.length <= maxExtended
      ? [[...actual, ...constants], actual.filter((item) => !constants.some((constant) => item === constant))]
      : []),
    constants,
  ].filter((candidate) => candidate !== undefined)
}

function listNeighbours(constant: unknown, actual: unknown, now: number): unknown[] {
  if (typeof constant === 'number') return [constant, ...besideNumber(constant, actual)]
  if (typeof constant !== 'string') return [constant]
  const number = toNumber(constant)
  const times = [parseTimestamp(constant), ...timesOfSpan(parseDuration(constant), now)].filter(
    (time) => !Number.isNaN(time),
  )
  const writeTime = (time: number) => writeInstant(time, actual)
  return [
    constant,
    ...(Number.isNaN(number) ? [] : besideNumber(number, actual)),
    ...times.flatMap((time) => [time, time - 1, time + 1].flatMap(writeTime)),
    ...(typeof actual === 'string' && actual.length <= maxExtended
      ? [`${constant}${actual}`, `${actual}${constant}`, actual.replaceAll(constant, '')]
      : []),
  ]
}

/** The ends of `within_last` and `within_next`. */
function timesOfSpan(span: number | undefined, now: number): number[] {
  return span === undefined ? [] : [now, now - span, now + span]
}

/** As the event writes its times: in its unit, if it has a number. */
function writeInstant(time: number, actual: unknown): unknown[] {
  const isPlain = Math.abs(time) < 2.5e14 && time > -6e13
  const isSeconds = typeof actual === 'number' && Math.abs(actual) < firstMilliseconds
  return [
    ...(typeof actual === 'number' ? [isSeconds ? time / 1_000 : time] : []),
    ...(isPlain ? [new Date(time).toISOString()] : []),
  ]
}

/** One step of the finer of the two numbers, at most a hundredth; of a large number one step of a float. */
function besideNumber(number: number, actual: unknown): number[] {
  const digits = Math.min(Math.max(decimalsOf(number), decimalsOf(toNumber(actual)), 2), 15)
  const step = Math.max(10 ** -digits, Math.abs(number) * 2 ** -52)
  const near = [number - step, number + step]
  const rounded = Math.abs(number) < 1e12 ? near.map((value) => Number(value.toFixed(digits))) : near
  return [...rounded, number - 1, number + 1].filter(Number.isFinite)
}

function decimalsOf(number: number): number {
  if (Number.isNaN(number)) return 0
  const text = String(number)
  const point = text.indexOf('.')
  return point === -1 || text.includes('e') ? 0 : text.length - point - 1
}
