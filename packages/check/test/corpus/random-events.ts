import { type CheckedRule, parseDuration, parsePath, readTime } from '@automation/engine'
import type { Random } from './random.js'

// Written without the check's own candidates: it is what they are tested with.

type Json = unknown

/** Values at and around every constant of some rules, of every kind, for each of their paths. */
export class Domain {
  readonly #values: Json[]
  readonly #paths: string[][]
  /** Of placeholders: where they read something that fits, actions are done. */
  readonly #read: string[][]

  constructor(rules: readonly CheckedRule[], now: number) {
    const clauses = findClauses(rules)
    const constants = clauses.flatMap(({ value }) => (Array.isArray(value) ? (value as Json[]) : [value]))
    this.#paths = [...new Set(clauses.map(({ field }) => field))].map((field) => parsePath(field) ?? [field])
    const placeholders = JSON.stringify(rules.map(({ actions }) => actions)).matchAll(/{{([^}|]+)/g)
    this.#read = [...new Set([...placeholders].map(([, path = '']) => path.trim()))].map(
      (path) => parsePath(path) ?? [path],
    )
    this.#values = [
      ...new Set([
        ...constants.flatMap((constant) => around(constant, now)),
        ...constantValues,
        ...listsOf(constants),
      ]),
    ]
  }

  /** Every value, every text of two of them, and every list of two. */
  listValues(): Json[] {
    const texts = this.#values.filter((value) => typeof value === 'string')
    const scalars = this.#values.filter((value) => typeof value !== 'object')
    return [
      undefined,
      ...this.#values,
      ...texts.flatMap((one) => texts.map((other) => one + other)),
      ...scalars.flatMap((one) => scalars.map((other) => [one, other])),
    ]
  }

  /** Event data in which each path has any of the values, or none. Those of placeholders often have one that fits. */
  event(random: Random): Record<string, Json> {
    const data: Record<string, Json> = {}
    for (const keys of this.#paths) if (random.chance(0.85)) place(data, keys, this.#value(random))
    for (const keys of this.#read) if (random.chance(0.6)) place(data, keys, random.pick(fitting))
    return data
  }

  /** Texts of two constants, and lists of some, are rarer than the constants. */
  #value(random: Random): Json {
    if (random.chance(0.15)) return String(random.pick(this.#values)) + String(random.pick(this.#values))
    if (random.chance(0.15))
      return random
        .some(this.#values.filter((value) => typeof value !== 'object').slice(0, 40), 0)
        .slice(0, 4)
    return random.pick(this.#values)
  }
}

const fitting: Json[] = ['ada@example.com', 'ada@example.com', '1h', 'x', {}, 7]

const constantValues: Json[] = [
  0,
  1,
  -1e9,
  ...[1e15, 1e8, -1e8, 99_999_999, 1e11, 1e11 - 1, -1e11, 1 - 1e11],
  '',
  ' ',
  'q',
  'true',
  true,
  false,
  null,
  [],
  {},
  [{}],
  { q: 1 },
  ['q'],
  '007',
  '1e3',
  '2026-13-01',
]

function around(constant: Json, now: number): Json[] {
  const found: Json[] = [constant]
  const number = Number(constant)
  if (
    typeof constant === 'number' ||
    (typeof constant === 'string' && constant !== '' && Number.isFinite(number))
  )
    for (const one of [
      number,
      number + 1,
      number - 1,
      number + 0.5,
      number - 0.5,
      number * (1 + 2 ** -52),
      number * (1 - 2 ** -52),
    ])
      found.push(one, String(one), `${one}.0`, `${one}0`)
  if (typeof constant !== 'string') return found
  const span = parseDuration(constant)
  const instant = span === undefined ? readTime(constant) : Number.NaN
  const instants = span === undefined ? [instant] : [now, now - span, now + span]
  for (const one of instants)
    if (!Number.isNaN(one))
      for (const near of [one, one - 1, one + 1, one - 3_600_000, one + 3_600_000])
        found.push(
          ...[near, near / 1_000, (near - 0.4) / 1_000, (near + 0.4) / 1_000, near + 0.5],
          ...[new Date(near).toISOString(), new Date(near).toISOString().replace('Z', '+0000')],
        )
  found.push(
    `${constant}q`,
    `q${constant}`,
    `q${constant}q`,
    constant.slice(0, -1),
    constant.slice(1),
    constant.toUpperCase(),
    [constant],
    { q: constant },
  )
  return found
}

function listsOf(constants: readonly Json[]): Json[] {
  const scalars = [...new Set(constants)].filter((constant) => typeof constant !== 'object')
  return [
    ...scalars.map((one) => [one]),
    ...scalars.map((one, index) => [one, scalars[(index + 1) % scalars.length]]),
    scalars,
    scalars.map(String),
  ]
}

export function place(data: Record<string, Json>, keys: readonly string[], value: Json): void {
  let holder: Record<string, Json> = data
  for (const key of keys.slice(0, -1)) {
    const next = holder[key]
    if (typeof next !== 'object' || next === null) holder[key] = {}
    else holder[key] = Array.isArray(next) ? [...next] : { ...next }
    holder = holder[key] as Record<string, Json>
  }
  holder[keys.at(-1) as string] = value
}

interface FoundClause {
  field: string
  value?: Json
}

/** All clauses, wherever they are in a rule. */
function findClauses(value: Json): FoundClause[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(findClauses)
  return 'field' in value && 'operator' in value ? [value as FoundClause, ...inner] : inner
}
