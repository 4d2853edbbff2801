import { type Database, groupCommit } from '@automation/database'

/** An accepted event that is not done, as a worker takes it up. */
export interface LoadedEvent {
  id: string
  workspaceId: string
  type: string
  data: object
  /** Set where one rule was executed by hand, or one subscription is told. */
  ruleId: string | null
  /** How many EMIT_EVENT lie between it and an event from outside. */
  depth: number
  /** The workspace's at this moment: rules compiled at a lower one are out of date. */
  rulesVersion: number
  /** A rule that has failed so many times in a row is switched off; null never does. */
  autoPauseAfter: number | null
  /** How many workers are known to have ended while they ran it. */
  crashes: number
}

/** Reads the event of a job, many jobs at a time; undefined where it is done already, as on a second delivery. */
export function createEventLoader(database: Database): (eventId: string) => Promise<LoadedEvent | undefined> {
  return groupCommit(async (ids: string[]) => {
    const events = await database.run<LoadedEvent>('load_events', statement, [ids])
    const byId = new Map(events.map((event) => [event.id, event]))
    return ids.map((id) => byId.get(id))
  })
}

const statement = `
  SELECT e.id, e.workspace_id AS "workspaceId", e.type, e.data, e.rule_id AS "ruleId", e.depth, e.crashes,
         w.rules_version AS "rulesVersion", w.auto_pause_after AS "autoPauseAfter"
  FROM events e
  JOIN workspaces w ON w.id = e.workspace_id
  WHERE e.id = ANY($1::uuid[]) AND e.done_at IS NULL`
