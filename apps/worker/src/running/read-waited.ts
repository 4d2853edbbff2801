import { type Database, waitKeyOf } from '@automation/database'
import { readMatch, writeMatch } from '@automation/engine'
import type { LoadedEvent } from '@automation/ledger'
import { selectWaitedPaths } from '@automation/rules'

/** Reads what WAITs of a workspace match of events of a type. */
export async function readWaited(
  database: Pick<Database, 'run'>,
  workspaceId: string,
  type: string,
): Promise<string[][]> {
  const { text, values } = selectWaitedPaths(workspaceId, type)
  const rows = await database.run<{ paths: string[] }>('read_waited', text, values)
  return rows.map(({ paths }) => paths)
}

/** What an event has that a WAIT may wait for; undefined where there is nothing. One that is for a single rule ends no WAIT. */
export function listWaitKeys(
  { workspaceId, type, data, addressee }: LoadedEvent,
  waited: readonly (readonly string[])[],
): string[] | undefined {
  if (waited.length === 0 || addressee !== null) return undefined
  const keys = waited.flatMap((paths) => {
    const match = readMatch(paths, data)
    return match === undefined ? [] : [waitKeyOf(workspaceId, writeMatch(type, match))]
  })
  return keys.length === 0 ? undefined : keys
}
