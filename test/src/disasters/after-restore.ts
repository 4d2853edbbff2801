import { until } from '../fixtures/product.js'
import type { Site } from '../storm/site.js'
import type { Stage } from './disaster.js'
import type { Removed } from './removed.js'
import { runAdmin } from './run-admin.js'

interface Report {
  asOf: string | null
  events: { count: number }[]
  executions: Record<'inProgress' | 'due' | 'later', number>[]
  openCalls: object[]
  undone: { erasures: object[]; deletions: object[]; entries: { action: string }[] }
}

export interface Restored {
  figures: Record<string, string | number>
  violations: string[]
}

/** Kills all that runs, as one machine that is gone. */
export async function killAll({ apis, workers }: Site): Promise<void> {
  const slots = [...apis, ...workers]
  for (const { process } of slots) process.kill('SIGKILL')
  await Promise.all(slots.map(({ process }) => process.exited))
}

/**
 * What the runbook does after a restore, word by word: all processes are started, the report is read, what was taken away is taken away again, and the workers are
 * started.
 *
 * @param removals the list from before the loss
 */
export async function startRestored(
  { tell }: Stage,
  site: Site,
  removed: Removed,
  removals: string,
): Promise<Restored> {
  const violations: string[] = []
  const { env } = site.running.product
  const progress = `SELECT (SELECT count(*)::int FROM events WHERE done_at IS NOT NULL) AS events,
    (SELECT coalesce(sum(json_array_length(results)), 0)::int FROM executions) AS results`
  const before = await site.query(progress)
  await Promise.all(site.workers.map((slot) => slot.replace()))
  for (const { process } of site.workers) {
    const response = await fetch(`http://127.0.0.1:${process.port}/readyz`)
    const { status } = (await response.json()) as { status: string }
    if (status !== 'paused') violations.push(`a worker of the restored database is ${status}`)
  }
  if (JSON.stringify(await site.query(progress)) !== JSON.stringify(before))
    violations.push('something ran before the operator started the workers')
  const back = await removed.findBack()
  if (back.length !== 4) violations.push(`the restore brought back only: ${back.join(', ')}`)
  const report = JSON.parse(
    await runAdmin(env, 'restored', 'report', '--removals', removals, '--json'),
  ) as Report
  tell(await runAdmin(env, 'restored', 'report', '--removals', removals))
  const { erasures, deletions, entries } = report.undone
  // Editors of the load have changed roles, too.
  const others = entries.filter(({ action }) => action !== 'member.changed')
  if (erasures.length !== 1 || deletions.length !== 1 || others.length !== 2)
    violations.push(
      `the report names ${erasures.length} erasures, ${deletions.length} deletions and ${others.length} others`,
    )
  tell(await runAdmin(env, 'removals', 'repeat', removals))
  // Paused workers make the erasure.
  await until(async () => (await removed.findBack()).length === 0)
  if (JSON.stringify(await site.query(progress)) !== JSON.stringify(before))
    violations.push('something ran before the operator started the workers')
  await Promise.all(site.apis.map((slot) => slot.replace()))
  tell(await runAdmin(env, 'restored', 'start'))
  const sum = (key: 'inProgress' | 'due' | 'later') =>
    report.executions.reduce((all, one) => all + one[key], 0)
  return {
    figures: {
      'events that were not done': report.events.reduce((all, { count }) => all + count, 0),
      'executions in progress / due / later': `${sum('inProgress')} / ${sum('due')} / ${sum('later')}`,
      'calls whose result was not known': report.openCalls.length,
      'undone erasures / deletions / other removals': `${erasures.length} / ${deletions.length} / ${entries.length}`,
    },
    violations,
  }
}
