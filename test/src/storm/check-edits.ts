import type { AcknowledgedEdit, RoleChange } from './edits.js'
import type { Site } from './site.js'
import type { EventRow } from './tables.js'

/** The rows that the editors' work left. */
export interface EditedTables {
  versions: { ruleId: string; version: number; description: string }[]
  keys: string[]
  members: { workspaceId: string; userId: string; role: string }[]
  events: Pick<EventRow, 'id' | 'replayOf'>[]
}

export async function readEditedTables(
  { query }: Site,
  events: EditedTables['events'],
): Promise<EditedTables> {
  const keys = await query<{ id: string }>('SELECT id FROM api_keys')
  return {
    versions: await query('SELECT rule_id AS "ruleId", version, description FROM rule_versions'),
    keys: keys.map(({ id }) => id),
    members: await query('SELECT workspace_id AS "workspaceId", user_id AS "userId", role FROM members'),
    events,
  }
}

/** Compares acknowledged edits with the tables: every edit with a successful response is stored. One sentence for each violation. */
export function checkEdits(
  { acknowledged, roles }: { acknowledged: AcknowledgedEdit[]; roles: Map<string, RoleChange[]> },
  tables: EditedTables,
): string[] {
  const versions = new Map(
    tables.versions.map(({ ruleId, version, description }) => [`${ruleId} ${version}`, description]),
  )
  const keys = new Set(tables.keys)
  const events = new Map(tables.events.map(({ id, replayOf }) => [id, replayOf]))
  const members = new Map(
    tables.members.map(({ workspaceId, userId, role }) => [`${workspaceId} ${userId}`, role]),
  )
  return [
    ...acknowledged.flatMap((one) =>
      isThere(one) ? [] : [`${JSON.stringify(one)} was acknowledged, and is not there`],
    ),
    ...[...roles].flatMap(([key, changes]) => checkRole(key, changes, members.get(key))),
  ]

  function isThere(one: AcknowledgedEdit): boolean {
    switch (one.kind) {
      case 'rule':
        return versions.get(`${one.id} ${one.version}`) === one.description
      case 'key':
        return keys.has(one.id)
      case 'replay':
        return events.get(one.id) === one.replayOf
    }
  }
}

/** The role is that of the last accepted change, or of a later one with an unknown outcome. */
function checkRole(key: string, changes: RoleChange[], stored: string | undefined): string[] {
  const last = changes.findLastIndex(({ isAccepted }) => isAccepted)
  if (last < 0) return []
  const possible = changes.slice(last).map(({ role }) => role)
  return stored !== undefined && possible.includes(stored)
    ? []
    : [`the member ${key} is ${stored}, and was to be ${possible.join(' or ')}`]
}
