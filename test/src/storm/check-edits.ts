import type { Edits, RoleChange, Told } from './edits.js'
import type { Site } from './site.js'
import type { EventRow } from './tables.js'

/** What is left of the editors' work. */
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

/** Holds what editors were told against what is stored: whatever was answered with success is there. One sentence a violation. */
export function checkEdits({ told, roles }: Pick<Edits, 'told' | 'roles'>, tables: EditedTables): string[] {
  const versions = new Map(
    tables.versions.map(({ ruleId, version, description }) => [`${ruleId} ${version}`, description]),
  )
  const keys = new Set(tables.keys)
  const events = new Map(tables.events.map(({ id, replayOf }) => [id, replayOf]))
  const members = new Map(
    tables.members.map(({ workspaceId, userId, role }) => [`${workspaceId} ${userId}`, role]),
  )
  return [
    ...told.flatMap((one) => (isThere(one) ? [] : [`${JSON.stringify(one)} was told, and is not there`])),
    ...[...roles].flatMap(([key, changes]) => checkRole(key, changes, members.get(key))),
  ]

  function isThere(one: Told): boolean {
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

/** The last change that was accepted stands, or one of those after it of which nobody knows. */
function checkRole(key: string, changes: RoleChange[], stored: string | undefined): string[] {
  const last = changes.findLastIndex(({ isAccepted }) => isAccepted)
  if (last < 0) return []
  const possible = changes.slice(last).map(({ role }) => role)
  return stored !== undefined && possible.includes(stored)
    ? []
    : [`the member ${key} is ${stored}, and was to be ${possible.join(' or ')}`]
}
