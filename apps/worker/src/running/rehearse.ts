import type { Database } from '@automation/database'
import { Evaluation, type WorkLimits } from '@automation/engine'
import { blameRules, type LoadedEvent, noteRule, passRules } from '@automation/ledger'
import { pauseRules } from '@automation/rules'
import type { Logger } from 'pino'
import { advance } from '../executions/advance.js'
import type { Causation } from '../executions/causation.js'
import { EffectBudget } from '../executions/effect-budget.js'
import type { Execution } from '../executions/execution.js'
import { definitionColumns, makeReady } from '../executions/ready-rule.js'
import { untilPostgresIsBack } from '../executions/until-postgres-is-back.js'
import { EventWork } from './event-work.js'
import { makeSetOfOne } from './rule-set.js'

interface Parts {
  database: Database
  causation: Causation
  workLimits: WorkLimits
  log: Logger
}

/**
 * Runs the rules of an isolated event one at a time and stores nothing of it, to find the rule that ends workers. Postgres knows the rule that
 * is under way, and so it is known which one ended this worker. Rules that have ended two workers are paused: the event goes on without them.
 *
 * An event with an addressee has one rule, which runs even if it is paused: such an event is quarantined.
 */
export async function rehearse(event: LoadedEvent, parts: Parts): Promise<void> {
  const { id, workspaceId, type, addressee } = event
  const { database } = parts
  if (addressee !== null) return
  await pauseBlamed(workspaceId, parts)
  const rules = await database.forWorkspace(workspaceId).rule.findMany({
    where: { trigger: type, isActive: true },
    select: definitionColumns,
    orderBy: { id: 'asc' },
  })
  const evaluation = new Evaluation(event.acceptedAt, parts.workLimits)
  try {
    for (const rule of rules) {
      await noteRule(database, rule.id, id)
      rehearseRule(rule, event, evaluation, parts)
    }
  } finally {
    await untilPostgresIsBack(() => passRules(database, id))
  }
}

async function pauseBlamed(workspaceId: string, { database, log }: Parts): Promise<void> {
  const blamed = await blameRules(database, workspaceId)
  if (blamed.length === 0) return
  // The sweeper adds the jobs of its service events.
  const ruleIds = await pauseRules(database, workspaceId, blamed)
  log.warn({ workspaceId, ruleIds }, 'paused rules that crashed workers')
}

/** Compiles and evaluates a rule, and renders its actions up to the first call. */
function rehearseRule(
  rule: Parameters<typeof makeReady>[0],
  event: LoadedEvent,
  evaluation: Evaluation,
  { causation }: Parts,
): void {
  const budget = new EffectBudget(event, causation)
  try {
    const set = makeSetOfOne(makeReady(rule), event.rulesVersion)
    const begin = (execution: Execution) => {
      advance(execution)
      return []
    }
    const work = new EventWork({ event, set, budget, evaluation, span: undefined, begin })
    while (!work.advance());
  } finally {
    budget.refund()
  }
}
