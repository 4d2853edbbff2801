import { Type } from 'typebox'
import { refusals } from '../errors.js'
import { checkQuery, readTime, TimeRange } from './history-filter.js'

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

/** The query of a window. Without `from` and `to` it is the last 24 hours. */
export function windowQuery(maximum: number, usual: number) {
  const description = `Number of slices of equal length. Default: ${usual}.`
  return Type.Object({
    ...TimeRange,
    slices: Type.Optional(Type.Integer({ minimum: 1, maximum, description })),
  })
}

/** @throws a 400 refusal where it is none, or too long */
export function readWindow(
  schema: ReturnType<typeof windowQuery>,
  query: Type.Static<ReturnType<typeof windowQuery>>,
  usualSlices: number,
): TimeWindow {
  checkQuery(schema, query)
  const to = query.to === undefined ? Date.now() : readTime(query.to).getTime()
  const from = query.from === undefined ? Math.max(to - dayMs, 0) : readTime(query.from).getTime()
  if (from >= to) throw refusals.badRequest('Query parameter from must be before to')
  if (to - from > longestMs)
    throw refusals.badRequest('Query parameters from and to must be 31 days apart at most')
  return { from, to, slices: query.slices ?? usualSlices }
}
