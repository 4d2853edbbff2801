import { ActionResult, KeyPreview, Suppression, Trace } from '@automation/engine'
import { executionStatuses, type RuleEvaluation } from '@automation/ledger'
import { Type } from 'typebox'
import { DataWarnings, Id } from '../responses.js'
import type { ExecutionResult } from './execution-result.js'

const statuses =
  'running: a worker executes the actions. waiting: a WAIT or a batch has not ended. retrying: the next attempt of an action is due later. cancelled: the rule was switched off or deleted in the meantime, a person cancelled it, or a newer event of its key replaced it. suppressed: `perKey` of the rule did not grant the execution, which does nothing and is not counted. not_matched: the conditions did not match, so there is no execution.'

export const EvaluationStatus = Type.Enum([...executionStatuses, 'not_matched'], {
  description: statuses,
})

const RuleStatus = Type.Enum([...executionStatuses, 'not_matched', 'outranked', 'left_out', 'simulated'], {
  description: `${statuses} outranked: they matched, but another rule of its group came first and ran instead. left_out: the event is a replay of chosen rules, and this one was not among them. simulated: a dry run, in which the conditions matched.`,
})

/** Of a rule that matched while another one of its group ran. */
export const OutrankedBy = Type.Object(
  { by: Type.String({ format: 'uuid', description: 'Id of the rule of the group that ran instead' }) },
  {
    title: 'OutrankedBy',
    description: 'Present if the rule matched, but another rule of its group came first. It did nothing.',
  },
)

/** One entry for each rule that an event considered, in creation order. */
export const RuleResult = Type.Object(
  {
    ruleId: Type.String({ format: 'uuid' }),
    success: Type.Boolean({
      description:
        'false if any action failed so far or the execution was cancelled. A rule that did not match, and an execution that still runs, waits or retries, is a success: `status` distinguishes them.',
    }),
    status: RuleStatus,
    conditionsPassed: Type.Boolean(),
    executionId: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
      description:
        'null if the conditions did not match or the rule was outranked or left out, because there is then no execution.',
    }),
    error: Type.Optional(Type.String({ description: 'Present when success is false.' })),
    outranked: Type.Optional(OutrankedBy),
    suppressed: Type.Optional(Suppression),
    name: Type.Optional(Type.String({ description: 'In a dry run: the name of the rule' })),
    results: Type.Optional(
      Type.Array(ActionResult, { description: 'In a dry run: what each action would do' }),
    ),
    perKey: Type.Optional(KeyPreview),
    trace: Type.Optional(Trace),
  },
  { title: 'RuleResult' },
)
export type RuleResult = Type.Static<typeof RuleResult>

export const TriggerResult = Type.Object(
  {
    triggered: Type.Integer({
      minimum: 0,
      description:
        'Number of active rules for the event type, which is the number of results. Rules whose conditions did not match are included.',
    }),
    matched: Type.Integer({
      minimum: 0,
      description: 'Number of these rules whose conditions matched',
    }),
    dryRun: Type.Optional(Type.Boolean({ description: 'true for a dry run, otherwise absent' })),
    results: Type.Array(RuleResult),
    warnings: DataWarnings,
  },
  { title: 'TriggerResult' },
)
export type TriggerResult = Type.Static<typeof TriggerResult>

export const EventResult = Type.Object(
  {
    id: Type.Optional({
      ...Id,
      description: 'Id of the event. Absent in a dry run, which stores no event.',
    }),
    ...TriggerResult.properties,
  },
  { title: 'EventResult' },
)

export function triggerResultOf(evaluations: RuleEvaluation[]): TriggerResult {
  return {
    triggered: evaluations.length,
    matched: evaluations.filter(hasMatched).length,
    results: evaluations.map(ruleResultOf),
  }
}

/** For each rule of each event that somebody waits for: plain literals, since a spread takes a microsecond. */
function ruleResultOf(evaluation: RuleEvaluation): TriggerResult['results'][number] {
  const { ruleId, executionId, status, error, outrankedBy, suppression } = evaluation
  const conditionsPassed = hasMatched(evaluation)
  if (error !== null) return { ruleId, success: false, status, conditionsPassed, executionId, error }
  if (suppression)
    return { ruleId, success: true, status, conditionsPassed, executionId, suppressed: suppression }
  return outrankedBy === undefined
    ? { ruleId, success: true, status, conditionsPassed, executionId }
    : { ruleId, success: true, status, conditionsPassed, executionId, outranked: { by: outrankedBy } }
}

function hasMatched({ executionId, status }: RuleEvaluation): boolean {
  return executionId !== null || status === 'outranked'
}

export function executionResultOf(evaluation: RuleEvaluation): ExecutionResult {
  return {
    success: evaluation.error === null,
    conditionsPassed: evaluation.executionId !== null,
    actionsExecuted: evaluation.results.filter((result) => result.status === 'success').length,
    dryRun: false,
    results: evaluation.results,
  }
}
