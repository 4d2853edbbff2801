import type { Administrator } from '@automation/access'
import { describeChanges, formatCount } from '@automation/backtest/words'
import { readClock } from '@automation/database'
import { activeVersionOf, definitionToTest, type ImportPlan, readHistoryFrom } from '@automation/rules'
import { readRetentionDays } from './config.js'
import { maskControls } from './format.js'
import { formatMinute, type StoredReport } from './format-backtest.js'
import { readBacktestRange } from './read-backtest-range.js'
import { runBacktest, type SubjectToTest } from './run-backtest.js'

type Tested = Pick<SubjectToTest, 'ruleId' | 'active' | 'draft'>
type Changed = ImportPlan['rules']['toChange'][number]

/** What a rule of a plan matched before the import, and after it. */
export interface PlannedBacktest {
  name: string
  before: number
  after: number
  report: StoredReport
}

/**
 * Runs a backtest of each rule that an import would create, change in what it does, or delete, one after another. An inactive rule matches
 * nothing.
 *
 * @param last length of the range, in ms
 */
export async function runPlanBacktests(
  administrator: Administrator,
  plan: ImportPlan,
  last: number,
): Promise<PlannedBacktest[]> {
  const { database, workspaceId } = administrator
  const tables = database.forWorkspace(workspaceId)
  const now = await readClock(database)
  const historyFrom = await readHistoryFrom(tables, workspaceId, readRetentionDays(), now)
  const range = readBacktestRange({ last }, historyFrom, now)
  const results: PlannedBacktest[] = []
  for (const [name, tested] of listTested(plan)) {
    const toRun = { subject: { ...tested, ...range }, historyFrom, pace: 'gentle' as const }
    const { report } = await runBacktest(administrator, toRun, name)
    const { active, draft } = report
    results.push({ name, before: active?.matched ?? 0, after: draft?.matched ?? 0, report })
  }
  return results
}

/** One line for each rule: `"Hot leads": 812 → 1,490 matches, +1,402 mails to 1,204 addresses`. */
export function formatPlanBacktests(backtests: PlannedBacktest[]): string {
  const [first] = backtests
  if (first === undefined) return 'Backtest: no active rule changes what it does.'
  const { from, to, scanned } = first.report
  const lines = backtests.map(({ name, before, after, report }) => {
    const matches = `${formatCount(before)} → ${formatCount(after)} matches`
    return maskControls(`  ${JSON.stringify(name)}: ${[matches, ...describeChanges(report)].join(', ')}`)
  })
  const range = `from ${formatMinute(from)} to ${formatMinute(to)}`
  return [`Backtest ${range}, ${formatCount(scanned)} events scanned:`, ...lines].join('\n')
}

function listTested({ rules }: ImportPlan): [name: string, tested: Tested][] {
  return [
    ...rules.toCreate
      .filter(({ isActive }) => isActive)
      .map((fields): [string, Tested] => [fields.name, { draft: definitionToTest(fields) }]),
    ...rules.toChange
      .filter(changesEffect)
      .map((change): [string, Tested] => [change.fields.name, compareActive(change)]),
    ...rules.toDelete
      .filter(({ isActive }) => isActive)
      .map((found): [string, Tested] => [found.name, { ruleId: found.id, active: activeVersionOf(found) }]),
  ]
}

const effects = new Set(['trigger', 'group', 'order', 'schedule', 'conditions', 'actions', 'isActive'])

function changesEffect({ found, fields, changed }: Changed): boolean {
  return (found.isActive || fields.isActive) && changed.some((field) => effects.has(field))
}

function compareActive({ found, fields }: Changed): Tested {
  return {
    ruleId: found.id,
    ...(found.isActive && { active: activeVersionOf(found) }),
    ...(fields.isActive && { draft: definitionToTest(fields) }),
  }
}
