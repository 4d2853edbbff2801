import {
  type ActionResult,
  aloneIn,
  compileMailTemplate,
  compileRule,
  type DefinitionToCheck,
  Evaluation,
  explainRule,
  type Fault,
  findRuleFaults,
  parseCollection,
  planActions,
  type RenderedMail,
  type RuleDefinition,
  type RulePlan,
  type StoredCollection,
  type Trace,
  type WorkLimits,
} from '@automation/engine'
import { type Bounds, findOverrun, type Overrun, openBudget } from './bounds.js'
import { checkSet } from './check-set.js'
import { dryRun, dryRunEvent, type ToEvaluate } from './dry-run.js'
import { matchEvents } from './match-events.js'
import { surveyEvents } from './survey-events.js'
import { whyOfEvent } from './why-of-event.js'

/** What the child process does. */
export const evaluationTasks = {
  dryRun,
  dryRunEvent,
  explain,
  renderMail,
  findFaults,
  findFaultsOfAll,
  checkSet,
  matchEvents,
  surveyEvents,
  whyOfEvent,
}
export type EvaluationTasks = typeof evaluationTasks
export type EvaluationTask = keyof EvaluationTasks

interface ToExplain extends ToEvaluate, Bounds {
  /** JSON of the event's data. */
  data: string
  /** Of an execution that is a batch. */
  collected?: StoredCollection | undefined
  results: ActionResult[]
}

/** @returns null for a definition that does not compile */
function explain({
  definition,
  data,
  collected,
  now,
  limits,
  results,
  bounds,
}: ToExplain): Trace | Overrun | null {
  const budget = openBudget({ bounds })
  const rule = compileOrNull(definition)
  if (rule === null) return findOverrun(budget) ?? null
  const parsed = collected ? parseCollection(collected) : aloneIn(rule, JSON.parse(data))
  const trace = explainRule(rule, parsed, now, limits, budget, results)
  const plan = planActions(rule, parsed, now, new Evaluation(now, limits, budget), results)
  return findOverrun(budget) ?? { ...trace, actions: trace.actions.map(addConfig(plan)) }
}

/** A config may have a megabyte, and a rule many actions: a reader gets so much of it. */
const longestConfig = 65_536

function addConfig({ actions }: RulePlan) {
  return (action: Trace['actions'][number], index: number): Trace['actions'][number] => {
    const planned = actions[index]
    if (planned === undefined || !('config' in planned) || planned.config === undefined) return action
    const isShort = JSON.stringify(planned.config).length <= longestConfig
    return isShort ? { ...action, config: planned.config } : action
  }
}

function renderMail({
  texts,
  data,
  variables,
  limits,
  bounds,
}: MailToRender & Bounds): RenderedMail | { fault: string } {
  return compileMailTemplate(texts).render(data, variables, new Evaluation(0, limits, openBudget({ bounds })))
}

interface MailToRender {
  texts: Parameters<typeof compileMailTemplate>[0]
  data: object
  variables: object
  limits: WorkLimits
}

/** @returns the faults of a rule, which compiles its patterns */
function findFaults(definition: DefinitionToCheck): Fault[] {
  return findRuleFaults(definition)
}

interface Definitions {
  definitions: DefinitionToCheck[]
}

/** @returns the faults of each of many rules */
function findFaultsOfAll({ definitions, bounds }: Definitions & Bounds): Fault[][] | Overrun {
  const budget = openBudget({ bounds })
  const faults: Fault[][] = []
  for (const definition of definitions) {
    const overrun = findOverrun(budget)
    if (overrun) return overrun
    faults.push(findRuleFaults(definition))
  }
  return faults
}

function compileOrNull(definition: RuleDefinition) {
  try {
    return compileRule(definition)
  } catch {
    return null
  }
}
