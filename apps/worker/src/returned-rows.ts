import type { NewEvent } from '@automation/inbox'
import type { Run } from './run.js'

/** One row of what a statement of the ledger returns. */
export interface ReturnedRow {
  /**
   * - `held`: the lease of a run that this worker goes on with
   * - `overtaken`: an event that another delivery recorded first
   * - `moved`: an execution that was written
   * - `told`: a service event for a subscription
   * - `failing`: a rule whose last run has failed
   */
  what: 'held' | 'overtaken' | 'moved' | 'told' | 'failing'
  /** null for a rule. */
  id: string
  workspaceId: string
  ruleId: string
  /** In a row. */
  failures: number
}

/** What a commit asks for beside its runs. */
export interface FollowUps {
  /** Service events, which have no job yet. */
  serviceEvents: Pick<NewEvent, 'id' | 'workspaceId' | 'ruleId'>[]
  /** Rules that have failed as often in a row as their workspaces allow. */
  failingRules: FailingRule[]
}

export interface FailingRule {
  workspaceId: string
  ruleId: string
}

/** The columns of a row that has an id alone. */
export const columnsOf = (id: string) =>
  `${id} AS id, NULL::uuid AS "workspaceId", NULL::uuid AS "ruleId", NULL::float8 AS failures`

/** Ends a statement's SELECT: what record-effects.ts asks for. Where no run has failed, that is no row. */
export const selectFollowUps = `
  UNION ALL SELECT 'told', id, workspace_id, rule_id, NULL FROM told
  UNION ALL SELECT 'failing', NULL, workspace_id, rule_id, consecutive_failures FROM counted WHERE consecutive_failures > 0`

export function pickIds(rows: ReturnedRow[], wanted: ReturnedRow['what']): Set<string> {
  return new Set(rows.flatMap(({ what, id }) => (what === wanted ? id : [])))
}

/** @returns undefined where there is nothing to do, as after almost every commit */
export function readFollowUps(rows: ReturnedRow[], runs: Run[]): FollowUps | undefined {
  const serviceEvents = rows.filter(({ what }) => what === 'told')
  const failing = rows.filter(({ what }) => what === 'failing')
  if (serviceEvents.length === 0 && failing.length === 0) return undefined
  const bounds = new Map(runs.map(({ event }) => [event.workspaceId, event.autoPauseAfter]))
  const failingRules = failing.filter(
    ({ workspaceId, failures }) => failures >= (bounds.get(workspaceId) ?? Number.POSITIVE_INFINITY),
  )
  return { serviceEvents, failingRules }
}
