import type { Ranking, WorkspaceFigure } from '@automation/history'
import { formatTable } from './format.js'

const meanings: Record<WorkspaceFigure, string> = {
  events: 'Events accepted since',
  failures: 'Failed executions of events since',
  refusals: 'Rejected webhooks, by the hour, since',
  bytes: 'Estimated bytes of events, executions and versions of rules',
  rules: 'Rules, also those that are switched off',
}

/** The workspaces with the most of something, and what was counted. A figure with a plus is at least that. */
export function formatRanking({ by, since, workspaces, counted, isComplete }: Ranking): string {
  const rows = workspaces.map(({ figure, isAtLeast, ...workspace }) => {
    return { ...workspace, [by]: `${figure}${isAtLeast ? '+' : ''}` }
  })
  const table =
    workspaces.length === 0 ? 'None has any.' : formatTable(rows, ['id', 'name', 'plan', by] as never[])
  const rest = isComplete ? 'all' : 'the first'
  const hint = isComplete ? '' : ' Use a shorter --since to count more.'
  return `${table}\n\n${meanings[by]}${since === null ? '' : ` ${since}`}. Counted in ${rest} ${counted} workspaces.${hint}`
}
