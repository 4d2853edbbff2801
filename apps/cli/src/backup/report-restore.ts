import {
  type Administrator,
  findOpenRestore,
  findUndone,
  type Removals,
  type Undone,
} from '@automation/access'
import { type RestoredWork, readRestoredWork } from '@automation/history'
import { formatTable } from '../format.js'

export interface RestoreReport extends RestoredWork {
  /** null: the workers are not paused. */
  asOf: string | null
  erasuresRunning: number
  /** Left events with unfinished executions, or failed. */
  erasuresIncomplete: number
  undone: Undone | null
  /** What the list does not have, in sentences. */
  unknown: string[]
}

const maxNamed = 20

/** @param list what was taken away, from outside the database; undefined: nothing is left of it */
export async function reportRestore(
  { database }: Pick<Administrator, 'database'>,
  list: Removals | undefined,
): Promise<RestoreReport> {
  const restore = await findOpenRestore(database)
  const asOf = restore?.asOf ?? null
  const count = (status: string[]) => database.system.erasure.count({ where: { status: { in: status } } })
  return {
    asOf,
    ...(await readRestoredWork(database)),
    erasuresRunning: await count(['running']),
    erasuresIncomplete: await count(['incomplete', 'failed']),
    undone: list === undefined ? null : await findUndone(database, list),
    unknown: describeUnknown(asOf, list),
  }
}

function describeUnknown(asOf: string | null, list: Removals | undefined): string[] {
  if (list === undefined)
    return [
      'Without a list nobody can tell which revocations, removals of members, erasures and deletions are undone: give the newest one with --removals, or write one from the old database, if it is there.',
    ]
  return [
    `What was taken away after ${list.takenAt} is not in the list, and is back.`,
    ...(asOf !== null && list.since > asOf
      ? [
          `The entries of the list begin at ${list.since}, after the state of this database: what was taken away before that is not in it.`,
        ]
      : []),
  ]
}

export function formatReport(report: RestoreReport): string {
  const { asOf, events, executions, openCalls, ticks, isComplete, undone, unknown } = report
  const sum = (key: 'inProgress' | 'due' | 'later') => executions.reduce((all, one) => all + one[key], 0)
  const paused =
    asOf === null
      ? 'The workers are not paused: this is what is unfinished now.'
      : `The database is as of ${asOf}. Its workers are paused.`
  return [
    paused,
    '',
    `Events that were accepted and not done: ${events.reduce((all, { count }) => all + count, 0)}. All that they lead to may have been done since.`,
    ...table(events, ['workspaceId', 'workspaceName', 'count']),
    '',
    `Executions: ${sum('inProgress')} in progress, ${sum('due')} due, ${sum('later')} that wait for longer. Their calls since then are made again, under their first Idempotency-Key or Message-ID.`,
    ...table(executions, [
      ...(['workspaceId', 'workspaceName', 'handlerId', 'ruleName'] as const),
      ...(['inProgress', 'due', 'later'] as const),
    ]),
    ...(openCalls.length === 0 ? [] : ['', 'Calls whose result is not known:']),
    ...table(openCalls, ['id', 'workspaceId', 'handlerId', 'attemptAt']),
    '',
    `Schedules with a tick since then: ${ticks.length}. Its event has the same id, and is made again.`,
    ...table(ticks, ['workspaceId', 'ruleId', 'ruleName', 'dueAt']),
    ...(isComplete ? [] : ['', 'There is more than this command counts: the figures are at least so high.']),
    '',
    `Erasures: ${report.erasuresRunning} in progress (paused workers make them, too); ${report.erasuresIncomplete} have left something.`,
    ...(undone === null ? [] : formatUndone(undone)),
    ...unknown,
  ].join('\n')
}

function formatUndone({ erasures, deletions, entries }: Undone): string[] {
  return [
    `Undone: ${erasures.length} erasures, ${deletions.length} deletions of workspaces, ${entries.length} other removals.`,
    ...table(erasures, ['id', 'workspaceId', 'path', 'createdBy', 'createdAt']),
    ...table(deletions, ['id', 'name', 'deletesAt']),
    ...table(entries, ['workspaceId', 'action', 'subject', 'actor', 'at']),
  ]
}

/** The first rows. Programs get all of them. */
function table<Row extends object>(rows: Row[], columns: (keyof Row & string)[]): string[] {
  if (rows.length === 0) return []
  const shown = formatTable(rows.slice(0, maxNamed), columns)
  return rows.length > maxNamed ? [shown, `… and ${rows.length - maxNamed} more: --json has them.`] : [shown]
}
