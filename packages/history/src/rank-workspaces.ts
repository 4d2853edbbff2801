import { type Database, firstIdOf, lowestId } from '@automation/database'

/** By what an operator compares workspaces. */
export const workspaceFigures = ['events', 'failures', 'refusals', 'bytes', 'rules'] as const
export type WorkspaceFigure = (typeof workspaceFigures)[number]

/** Of one workspace so many rows are counted at most: it has at least so many. */
export const mostCounted = 100_000
/** So many workspaces in one statement: it counts five million entries of an index at most. */
const together = 50
/** How long (ms) it goes on. */
const budgetMs = 20_000
/** Rows whose size stands for that of all. */
const sampled = 100
/** What a row of an event or an execution takes beside its JSON, about. */
const bytesBeside = 250

export interface RankedWorkspace {
  id: string
  name: string
  plan: string
  figure: number
  /** It has at least so much. */
  isAtLeast: boolean
}

export interface Ranking {
  by: WorkspaceFigure
  /** What is counted happened since then; null: it is what there is now. */
  since: string | null
  /** The highest figure first, without those that have none. */
  workspaces: RankedWorkspace[]
  /** How many workspaces were counted. */
  counted: number
  /** false: there are more, and the time was over. */
  isComplete: boolean
}

/** $1 workspaces, $2 the lowest id, $3 how many are counted of each. `figure` and `rows`, of which `rows` says whether it was cut. */
const ofRows = (table: string, condition = 'true') => `
  SELECT w.id, counted.rows AS figure, counted.rows
  FROM unnest($1::uuid[]) AS w (id),
       LATERAL (SELECT count(*)::int AS rows FROM (
         SELECT FROM ${table} WHERE workspace_id = w.id AND id >= $2::uuid AND ${condition} LIMIT $3::int) AS found) AS counted`

/** So many rows of this table, and the mean size of the newest. */
const sizeOf = (table: string, column: string) => `
  LATERAL (
    SELECT (SELECT count(*)::int FROM (
              SELECT FROM ${table} WHERE workspace_id = w.id AND id >= $2::uuid LIMIT $3::int) AS found) AS rows,
           (SELECT coalesce(avg(pg_column_size(${column})), 0) + ${bytesBeside} FROM (
              SELECT ${column} FROM ${table} WHERE workspace_id = w.id ORDER BY id DESC LIMIT ${sampled}) AS newest) AS mean
  ) AS of_${table}`

const statements: Record<WorkspaceFigure, string> = {
  events: ofRows('events'),
  failures: ofRows('executions', "status <> 'succeeded' AND status = 'failed'"),
  refusals: `
    SELECT w.id, counted.refusals AS figure, 0 AS rows
    FROM unnest($1::uuid[]) AS w (id),
         LATERAL (SELECT coalesce(sum(rejected), 0)::int AS refusals FROM webhook_tallies
                  WHERE workspace_id = w.id AND hour >= date_trunc('hour', $2::timestamptz)) AS counted`,
  bytes: `
    SELECT w.id,
           (of_events.rows * of_events.mean + of_executions.rows * of_executions.mean + versions.bytes)::float8 AS figure,
           greatest(of_events.rows, of_executions.rows) AS rows
    FROM unnest($1::uuid[]) AS w (id), ${sizeOf('events', 'data')}, ${sizeOf('executions', 'results')},
         LATERAL (SELECT coalesce(sum(bytes), 0) AS bytes FROM rule_versions WHERE workspace_id = w.id) AS versions`,
  rules: `
    SELECT w.id, counted.rules AS figure, 0 AS rows
    FROM unnest($1::uuid[]) AS w (id),
         LATERAL (SELECT count(*)::int AS rules FROM rules WHERE workspace_id = w.id) AS counted`,
}

/** $1 after this id, $2 how many */
const nextWorkspacesSql = `
  SELECT id, name, plan::text AS plan FROM workspaces WHERE id > $1::uuid ORDER BY id LIMIT $2::int`

/**
 * Finds the workspaces with the most of something, for an operator. Each statement is for some workspaces, reads an index and is bounded.
 *
 * @param options.since epoch ms, for events, failures (of events since then) and refusals (of webhooks, by the hour)
 * @param options.top how many
 */
export async function rankWorkspaces(
  database: Pick<Database, 'run'>,
  { by, since, top, forMs = budgetMs }: { by: WorkspaceFigure; since: number; top: number; forMs?: number },
): Promise<Ranking> {
  const ends = performance.now() + forMs
  let best: RankedWorkspace[] = []
  let [after, counted, isComplete] = [lowestId, 0, false]
  while (!isComplete && (counted === 0 || performance.now() < ends)) {
    const found = await database.run<Pick<RankedWorkspace, 'id' | 'name' | 'plan'>>(
      'next_workspaces',
      nextWorkspacesSql,
      [after, together],
    )
    const figures = await readFigures(
      database,
      by,
      since,
      found.map(({ id }) => id),
    )
    const ranked = found.map((workspace) => {
      const { figure = 0, rows = 0 } = figures.get(workspace.id) ?? {}
      return { ...workspace, figure: Math.round(figure), isAtLeast: rows >= mostCounted }
    })
    best = [...best, ...ranked.filter(({ figure }) => figure > 0)]
      .sort((one, other) => other.figure - one.figure)
      .slice(0, top)
    counted += found.length
    isComplete = found.length < together
    after = found.at(-1)?.id ?? after
  }
  const isOfATime = by !== 'bytes' && by !== 'rules'
  return {
    by,
    since: isOfATime ? new Date(since).toISOString() : null,
    workspaces: best,
    counted,
    isComplete,
  }
}

async function readFigures(
  database: Pick<Database, 'run'>,
  by: WorkspaceFigure,
  since: number,
  ids: string[],
) {
  const values: Record<WorkspaceFigure, unknown[]> = {
    events: [ids, firstIdOf(since), mostCounted],
    failures: [ids, firstIdOf(since), mostCounted],
    refusals: [ids, new Date(since)],
    bytes: [ids, lowestId, mostCounted],
    rules: [ids],
  }
  const rows = await database.run<{ id: string; figure: number; rows: number }>(
    `rank_workspaces_by_${by}`,
    statements[by],
    values[by],
  )
  return new Map(rows.map(({ id, ...figure }) => [id, figure]))
}
