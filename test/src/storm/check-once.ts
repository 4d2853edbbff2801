import { groupBy } from './group-by.js'
import type { OnceEvent } from './once.js'
import type { HappenedFault } from './schedule.js'
import type { Tables } from './tables.js'
import type { Target } from './target.js'

export type OnceTables = Pick<Tables, 'events' | 'executions'>

/** An execution begins some time after the fault that its worker has met: clocks and statements take their time. */
const marginMs = 2_000

/**
 * Each event has made its one call, and no call was made twice. If that is not so, a fault must have happened meanwhile in which a call can
 * be lost: a worker that lives and can reach Postgres knows what it has done. One sentence for each violation.
 */
export function checkOnce(
  sent: OnceEvent[],
  { events, executions }: OnceTables,
  { calls }: Pick<Target, 'calls'>,
  faults: Pick<HappenedFault, 'kind' | 'from' | 'to'>[],
): string[] {
  const stored = groupBy(events, ({ name }) => name)
  const executionsOf = groupBy(executions, ({ eventId }) => eventId)
  const missing = sent.flatMap(({ name, isAcknowledged }) => {
    const count = stored.get(name)?.length ?? 0
    return count > 1 || (isAcknowledged && count === 0) ? [`once ${name}: there are ${count} events`] : []
  })
  return [
    ...missing,
    ...events.flatMap(({ id, name }) => {
      const own = executionsOf.get(id) ?? []
      const faults = own.length === 1 ? [] : [`${own.length} executions`]
      return [...faults, ...own.flatMap(checkExecution)].map((fault) => `once ${name}: ${fault}`)
    }),
  ]

  function checkExecution({
    id,
    status,
    error,
    startedAt,
    finishedAt,
  }: OnceTables['executions'][0]): string[] {
    const count = calls.get(`${id}:0`)?.count ?? 0
    if (count > 1) return [`it was called ${count} times`]
    if (finishedAt === null) return [`it is ${status}`]
    if (status === 'succeeded') return count === 1 ? [] : ['it has succeeded without a call']
    const isExcused = faults.some(
      ({ kind, from, to }) => kind.losesCalls && from <= finishedAt && to >= startedAt - marginMs,
    )
    return isExcused ? [] : [`it has ${count} calls and is ${status} (${error}), and no worker was lost`]
  }
}
