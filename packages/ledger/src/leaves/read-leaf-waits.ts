import type { Database } from '@automation/database'

export interface LeafWait {
  name: string
  waitsFor: string
  seconds: number
}

const readLeafWaitsSql = `
  SELECT name, waits_for AS "waitsFor", floor(extract(epoch FROM now() - waits_since))::float8 AS seconds
  FROM history.exchanges WHERE step IS NOT NULL AND waits_since IS NOT NULL`

/** Reads the exchanges that cannot go on, and for how long. */
export function readLeafWaits(database: Pick<Database, 'run'>): Promise<LeafWait[]> {
  return database.run('read_leaf_waits', readLeafWaitsSql, [])
}
