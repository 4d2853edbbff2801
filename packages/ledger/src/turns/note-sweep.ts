import type { Database } from '@automation/database'

/** What workers do again and again for the rules of all workspaces, and the time (s) after which it counts as interrupted. */
const interruptedAfter = { ticks: 60, silences: 20 }

export type SweepName = keyof typeof interruptedAfter

/** At most one a second is noted, whatever the number of workers. $1 name · $2 seconds */
const noteSweepSql = `
  INSERT INTO sweeps (name, since, at) VALUES ($1, now(), now())
  ON CONFLICT (name) DO UPDATE
  SET at = now(), since = CASE WHEN sweeps.at < now() - make_interval(secs => $2) THEN now() ELSE sweeps.since END,
      previous_since = CASE WHEN sweeps.at < now() - make_interval(secs => $2) THEN sweeps.since ELSE sweeps.previous_since END,
      previous_at = CASE WHEN sweeps.at < now() - make_interval(secs => $2) THEN sweeps.at ELSE sweeps.previous_at END
  WHERE sweeps.at < now() - interval '1 second'`

/**
 * Notes that a sweep has done what it does, for some rules. So what is late can be told apart: nobody swept, or all who did were busy with others. One mark
 * serves all rules.
 */
export async function noteSweep(database: Pick<Database, 'run'>, name: SweepName): Promise<void> {
  await database.run('note_sweep', noteSweepSql, [name, interruptedAfter[name]])
}
