import type { Run } from './answer.js'

/**
 * What a worker publishes after the commit, where callers wait: several in one message. Pub/sub delivers at most once: the
 * stored outcome is the truth, and the API reads it when a reply was missed.
 */
export interface Reply {
  /** The rules that these events have considered, in creation order. */
  ruleIds: string[]
  events: { id: string; runs: MatchedRun[] }[]
}

/** The run of a rule that matched; what is left out is null or empty. A rule without one did not match. */
export interface MatchedRun
  extends Pick<Run, 'executionId' | 'status'>,
    Partial<Pick<Run, 'error' | 'results'>> {
  /** Of its rule in `ruleIds`; they ascend. */
  place: number
}

/**
 * One channel for each API instance: the cost of a reply does not grow with the number of instances. Its name goes with the
 * shape of what is said there: a process that speaks another form is not heard, and the stored outcome answers.
 */
export function replyChannel(queuePrefix: string, instanceId: string): string {
  return `${queuePrefix}:replies:${instanceId}`
}

/** Tells of each rule that an event has considered, whether it matched or not. */
export function listRuns(ruleIds: string[], matched: MatchedRun[]): Run[] {
  let next = 0
  return ruleIds.map((ruleId, place): Run => {
    const run = matched[next]
    if (run?.place !== place)
      return { ruleId, executionId: null, status: 'not_matched', error: null, results: [] }
    next++
    const { executionId, status, error = null, results = [] } = run
    return { ruleId, executionId, status, error, results }
  })
}
