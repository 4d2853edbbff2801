import { postgresNow } from '@automation/database'
import { maxCountedByTime } from '@automation/history'
import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { Timestamp } from '../responses.js'
import { checkQuery, readQueryTime, TimeRange } from './history-filter.js'

const dayMs = 86_400_000
const longestMs = 31 * dayMs

/** A range of time that is counted in slices of equal length. */
export interface TimeWindow {
  /** epoch ms, inclusive */
  from: number
  /** epoch ms, exclusive */
  to: number
  slices: number
}

const Query = (maximum: number, usual: number) =>
  Type.Object({
    ...TimeRange,
    slices: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum,
        description: `Number of slices of equal length. Default: ${usual}.`,
      }),
    ),
  })

/** The query of a window, and how it is read. Without `from` and `to` it is the last 24 hours. */
export function windowQuery(maximum: number, usual: number) {
  const schema = Query(maximum, usual)
  return {
    schema,
    /** @throws a 400 refusal where it is none, or too long */
    read(query: Type.Static<typeof schema>): TimeWindow {
      checkQuery(schema, query)
      const to = query.to === undefined ? postgresNow() : readQueryTime(query.to).getTime()
      const from = query.from === undefined ? Math.max(to - dayMs, 0) : readQueryTime(query.from).getTime()
      if (from >= to) throw refusals.badRequest('Query parameter from must be before to')
      if (to - from > longestMs)
        throw refusals.badRequest('Query parameters from and to must be at most 31 days apart')
      return { from, to, slices: query.slices ?? usual }
    },
  }
}

/** What a response says of its window. */
export const CountedWindow = {
  from: Timestamp,
  to: Timestamp,
  countedFrom: Type.String({
    format: 'date-time',
    description: `Start of the time that was counted. It is later than \`from\` if there are more than ${maxCountedByTime.toLocaleString('en-US')} rows.`,
  }),
}

/** @param countedFrom epoch ms */
export function presentWindow({ from, to }: TimeWindow, countedFrom: number) {
  return {
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    countedFrom: new Date(countedFrom).toISOString(),
  }
}
