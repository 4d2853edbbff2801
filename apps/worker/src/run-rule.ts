import { executionIdOf } from '@automation/database'
import { type ActionResult, planRule, settlePlan } from '@automation/engine'
import type { ReadyRule } from './compiled-rules.js'
import type { Perform, TaskToMake } from './effects/effect.js'
import type { LoadedEvent } from './load-events.js'

/** One rule's run for one event, as the ledger writes it and the caller hears of it. */
export interface RuleRun {
  ruleId: string
  ruleVersion: number
  /** null where the conditions did not pass: such a run is no execution. */
  executionId: string | null
  success: boolean
  error: string | null
  results: ActionResult[]
  tasks: TaskToMake[]
  startedAt: Date
  finishedAt: Date
}

/** Runs one rule: conditions, then actions, one after another. Throws only surprises, for which the job is run again. */
export async function runRule(rule: ReadyRule, event: LoadedEvent, perform: Perform): Promise<RuleRun> {
  const run: RuleRun = {
    ruleId: rule.id,
    ruleVersion: rule.version,
    executionId: null,
    success: true,
    error: null,
    results: [],
    tasks: [],
    startedAt: new Date(),
    finishedAt: new Date(),
  }
  if ('fault' in rule.compiled) {
    run.executionId = executionIdOf(event, rule.id)
    run.success = false
    run.error = rule.compiled.fault
    return run
  }
  const plan = planRule(rule.compiled, event.data, run.startedAt.getTime())
  if (!plan.conditionsPassed) return run

  run.executionId = executionIdOf(event, rule.id)
  const context = { executionId: run.executionId, rule, event, startedAt: run.startedAt, tasks: run.tasks }
  const { success, results } = await settlePlan(plan, (action) => perform(action, context))
  run.success = success
  run.results = results
  run.error = errorOf(results)
  run.finishedAt = new Date()
  return run
}

function errorOf(results: ActionResult[]): string | null {
  const failed = results.find((result) => result.status === 'failed')
  return failed ? (failed.error ?? 'The action failed') : null
}
