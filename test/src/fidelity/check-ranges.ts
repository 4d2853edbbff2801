import { setTimeout as delay } from 'node:timers/promises'
import { inParallel, type Tenant } from '../fixtures/product.js'
import type { Comparison } from '../storm/check-backtests.js'
import { type Range, sum } from './ranges.js'
import type { Site } from './site.js'

interface Report {
  scanned: number
  considered: number
  isComplete: boolean
  active: { version: number; matched: number } | null
  draft: { matched: number; notJudged: number }
  bucketMs: number
  overTime: { at: string; draft: number }[]
}

const path = '/api/automation-rules'
/** A workspace may have five that are not finished. */
const atOnce = 8

/**
 * Backtests each version over the time in which it was the one that each event met, by the workers of the product. What they count, in all and in each bucket,
 * is compared with the executions of that time.
 */
export async function checkRanges(
  { tenants }: Pick<Site, 'tenants'>,
  ranges: Range[],
): Promise<Comparison & { events: number; whole: number }> {
  const violations: string[] = []
  await inParallel(ranges.length, atOnce, async (index) => {
    const range = ranges[index] as Range
    const tenant = tenants.find(({ workspaceId }) => workspaceId === range.workspaceId) as Tenant
    const name = `backtest of ${range.ruleId} ${range.version} over ${range.from} to ${range.to}`
    const isNamed = (await tenant.call('GET', `${path}/${range.ruleId}`)).status === 200
    const report = await backtest(tenant, range, isNamed)
    violations.push(...findDifferences(range, report, isNamed).map((difference) => `${name}: ${difference}`))
  })
  const whole = ranges.filter(({ isWhole }) => isWhole).length
  const events = ranges.reduce((total, { considered }) => total + considered, 0)
  const nothing = events === 0 ? ['backtests of ranges: nothing was compared'] : []
  return { compared: ranges.length, events, whole, violations: [...violations, ...nothing] }
}

/** A deleted rule cannot be named: what was addressed to it does not count then, and it is tested outside of its group. */
async function backtest(tenant: Tenant, range: Range, isNamed: boolean): Promise<Report> {
  const { group, order, ...definition } = range.definition
  const body = {
    ...(isNamed && { ruleId: range.ruleId }),
    definition: isNamed ? { ...definition, group, order } : definition,
    from: new Date(range.from).toISOString(),
    to: new Date(range.to).toISOString(),
    pace: 'full',
  }
  for (;;) {
    const created = await tenant.call('POST', `${path}/backtests`, body, { prefer: 'wait=10' })
    // Too many of its workspace are not finished.
    if (created.status === 409) {
      await delay(200)
      continue
    }
    let { status, body: found } = created
    while (status === 202 || found?.status === 'running' || found?.status === 'waiting')
      ({ status, body: found } = await tenant.call('GET', `${path}/backtests/${found.id}`))
    if (found?.status !== 'done') throw new Error(`A backtest got ${status} ${JSON.stringify(found)}`)
    return found.report
  }
}

function findDifferences(range: Range, report: Report, isNamed: boolean): string[] {
  const { scanned, considered, runs, version } = range
  const drafted = isNamed ? runs : range.matched
  const { active, draft, isComplete } = report
  const found: [string, number | boolean, number | boolean][] = [
    ['complete', isComplete, true],
    ['scanned', report.scanned, scanned],
    ['matched', draft.matched, sum(drafted)],
    ['not evaluated', draft.notJudged, 0],
  ]
  // The present version may have another trigger, whose events count, too.
  if (active === null || active.version === version) found.push(['considered', report.considered, considered])
  if (active?.version === version) found.push(['matched, active', active.matched, sum(runs)])
  for (const { at, draft } of report.overTime)
    found.push([`matched at ${at}`, draft, countBucket(drafted, Date.parse(at), report.bucketMs)])
  return found.flatMap(([what, reported, held]) =>
    reported === held ? [] : [`${what} ${reported}, the ledger holds ${held}`],
  )
}

function countBucket(matched: Range['matched'], start: number, widthMs: number): number {
  return sum(new Map([...matched].filter(([at]) => at >= start && at < start + widthMs)))
}
