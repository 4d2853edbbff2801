import { openDatabase } from '@automation/database'
import { BacktestCheck } from '../storm/check-backtests.js'
import { checkWhy } from '../storm/check-why.js'
import { readHistory } from '../storm/read-history.js'
import { ExplanationCheck } from './check-explanations.js'
import { checkRanges } from './check-ranges.js'
import { Ranges } from './ranges.js'
import { runSteps, type StepCounts, type StepOptions } from './run-steps.js'
import { openSite } from './site.js'

export interface FidelityOptions extends StepOptions {
  /** How many events are explained over HTTP. */
  asked: number
}

export interface FidelityReport {
  steps: StepCounts
  stored: number
  quarantined: number
  /** Verdicts of the engine's backtest, in all and of those with an execution. */
  verdicts: { compared: number; matched: number }
  /** Backtests by workers; `whole` of them over all events of the trigger. */
  ranges: { compared: number; events: number; whole: number }
  why: { compared: number; events: number }
  whyOverHttp: { compared: number }
  /** One sentence each. */
  violations: string[]
}

/**
 * Events are evaluated by workers, while rules change and workers die. Then each version of each rule is backtested, and each event explained: both must
 * agree with the executions in the ledger.
 */
export async function runFidelity(options: FidelityOptions): Promise<FidelityReport> {
  const { asked, tell } = options
  const site = await openSite()
  const database = openDatabase(site.running.product.databaseUrl, 8)
  try {
    const steps = await runSteps(site, options)
    tell('nothing is left to do')
    const rules = await site.query<{ id: string }>('SELECT id FROM rules')
    const ranges = new Ranges(new Set(rules.map(({ id }) => id)))
    const [verdicts, why] = [new BacktestCheck(), new ExplanationCheck(database)]
    let [stored, quarantined] = [0, 0]
    const ids = site.workspaces.map(({ id }) => id)
    for await (const events of readHistory(site.query, ids)) {
      verdicts.add(events)
      ranges.add(events)
      await why.add(events)
      stored += events.length
      quarantined += events.filter((event) => event.quarantined).length
      if (stored % 100_000 < events.length) tell(`${stored} events compared`)
    }
    tell(`${stored} events compared`)
    const ofVerdicts = verdicts.finish()
    const ofWhy = why.finish()
    const ofRanges = await checkRanges(site, ranges.list())
    tell(`${ofRanges.compared} backtests compared`)
    const overHttp = await checkWhy(site, asked)
    return {
      steps,
      stored,
      quarantined,
      verdicts: ofVerdicts,
      ranges: ofRanges,
      why: ofWhy,
      whyOverHttp: overHttp,
      violations: [
        ...findUndone(steps),
        ...ofVerdicts.violations,
        ...ofRanges.violations,
        ...ofWhy.violations,
        ...overHttp.violations,
      ],
    }
  } finally {
    await database.close()
    await site.stop()
  }
}

/** A run in which one kind of step never happened says nothing of it. */
function findUndone(steps: StepCounts): string[] {
  return [...steps].flatMap(([name, count]) => (count === 0 ? [`no step "${name}" was done`] : []))
}
