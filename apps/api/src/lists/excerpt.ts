import { cutText } from '@automation/engine'
import { readSmallData } from '@automation/history'
import { Type } from 'typebox'

const mostFields = 12
const mostPath = 60
const mostText = 80

/** Of a list: whether its rows tell some of the data of their events. */
export const ExcerptQuery = Type.Optional(
  Type.Boolean({ description: 'true: each item has an `excerpt` of the data of its event. Default: false.' }),
)

export const Excerpt = Type.Optional(
  Type.Object(
    {},
    {
      additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Boolean()]),
      description: `If asked for: up to ${mostFields} fields of the data of the event by their paths, the outer ones first, with strings cut to ${mostText} characters. Empty if the data is larger than 16 KiB.`,
    },
  ),
)
export type Excerpt = Record<string, string | number | boolean>

/** Adds their excerpts to the rows of a page, by one more statement. */
export async function addExcerpts<Row extends object>(
  database: Parameters<typeof readSmallData>[0],
  workspaceId: string,
  rows: Row[],
  /** null: its event was removed. */
  eventIdOf: (row: Row) => string | null,
): Promise<(Row & { excerpt: Excerpt })[]> {
  const ids = rows.flatMap((row) => eventIdOf(row) ?? [])
  const known = await readSmallData(database, workspaceId, ids)
  return rows.map((row) => ({ ...row, excerpt: excerptOf(known.get(eventIdOf(row) ?? '') ?? {}) }))
}

/** The plain values of data and of the objects right in it. */
export function excerptOf(data: object): Excerpt {
  const outer = Object.entries(data)
  const inner = outer.flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([key, found]) => [`${name}.${key}`, found] as const)
      : [],
  )
  const found = [...outer, ...inner].flatMap(([path, value]) =>
    path.length <= mostPath && isPlain(value) && value !== ''
      ? [[path, typeof value === 'string' ? cutText(value, mostText, '…') : value] as const]
      : [],
  )
  // Unlike an assignment, this keeps a field that is called __proto__.
  return Object.fromEntries(found.slice(0, mostFields))
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}
