import type { RuleTest } from '@automation/check'
import { executionIdOf, isTick } from '@automation/database'
import {
  type ActionResult,
  compileRule,
  Evaluation,
  type Given,
  isCallType,
  isReady,
  type PerKey,
  planActions,
  type RuleDefinition,
} from '@automation/engine'
import { addresseeOf } from '@automation/ledger'
import { arrangeRule, type RuleFields } from '@automation/rules'
import { CommandError } from './command-error.js'
import { useDatabase } from './use-database.js'

/** Makes a test of a stored event: the actions that were done, in the version that did them. @throws CommandError if there is no such event */
export function recordTest(eventId: string, workspace: string | undefined): Promise<RuleTest> {
  return useDatabase('read', async ({ database }) => {
    const event = await database.system.event.findUnique({ where: { id: eventId } })
    if (event === null || (workspace ?? event.workspaceId) !== event.workspaceId)
      throw new CommandError(`There is no event ${eventId}${workspace ? ` in workspace ${workspace}` : ''}.`)
    const tables = database.forWorkspace(event.workspaceId)
    const rules = await tables.rule.findMany({ where: { trigger: event.type } })
    const addressee = addresseeOf(event)
    const addressed = { id: event.id, addressee }
    const idOf = (rule: { id: string }) => executionIdOf(addressed, rule.id)
    const found = await tables.execution.findMany({ where: { id: { in: rules.map(idOf) } } })
    const executions = new Map(found.map((execution) => [execution.id, execution]))
    const done = new Map<string, ReturnType<typeof listDone>[]>()
    const given: Required<Given> = { captured: {}, actions: {} }
    for (const rule of sortAsExported(rules)) {
      const execution = executions.get(idOf(rule))
      if (execution === undefined) continue
      const { ruleId, ruleVersion: version } = execution
      const made = await tables.ruleVersion.findUnique({ where: { ruleId_version: { ruleId, version } } })
      const results = execution.results as unknown as ActionResult[]
      const definition = made as unknown as RuleDefinition | null
      // What a batch rendered is of all its events, and the test has one.
      const byIt = listDone(results, collects(made?.perKey) ? null : definition, event)
      noteRecorded(given, results, definition)
      done.set(rule.name, [...(done.get(rule.name) ?? []), byIt])
    }
    const ticking = isTick(addressed) ? rules.find(({ id }) => id === event.ruleId) : undefined
    const expected = Object.fromEntries([...done].map(([name, lists]) => [name, expect(lists)]))
    return {
      name: `Recorded ${event.type} ${event.id}`,
      event: {
        type: event.type as NonNullable<RuleTest['event']>['type'],
        at: event.acceptedAt.toISOString(),
        data: event.data as Record<string, unknown>,
        ...(ticking !== undefined && { for: ticking.name }),
      },
      ...Object.fromEntries(Object.entries(given).filter(([, values]) => Object.keys(values).length > 0)),
      // What emitted events caused is not in this event's executions, so other rules are not asserted then.
      ...(hasEmitted(expected) ? { expect: expected } : { expectOnly: expected }),
    }
  })
}

function collects(perKey: unknown): boolean {
  return (perKey as PerKey | null)?.collect !== undefined
}

/** Rules of one name are tested together, in the order of their file. */
function sortAsExported<Row extends RuleFields>(rules: Row[]): Row[] {
  const texts = new Map(rules.map((rule) => [rule, JSON.stringify(arrangeRule(rule))]))
  const textOf = (rule: Row) => texts.get(rule) ?? ''
  return rules.sort((one, other) => Number(textOf(one) > textOf(other)) - Number(textOf(one) < textOf(other)))
}

/** The actions of all executions of a name, or where none did anything, their number. */
function expect(executions: readonly ReturnType<typeof listDone>[]) {
  const actions = executions.flat()
  return actions.length > 0 ? actions : executions.length
}

function listDone(
  results: ActionResult[],
  definition: RuleDefinition | null,
  event: { data: unknown; acceptedAt: Date },
) {
  const at = event.acceptedAt.getTime()
  const plan = definition && planActions(compileRule(definition), event.data, at, new Evaluation(at), results)
  return results.flatMap(({ action: type, status }, index) => {
    if (status !== 'success' || type === 'WAIT') return []
    const planned = plan?.actions[index]
    return planned !== undefined && isReady(planned)
      ? [{ type, config: planned.config as Record<string, unknown> }]
      : [{ type }]
  })
}

/** Notes what calls recorded, by the names in their rule. */
function noteRecorded(
  { captured, actions }: Required<Given>,
  results: ActionResult[],
  definition: RuleDefinition | null,
): void {
  for (const [index, result] of results.entries()) {
    Object.assign(captured, result.captured)
    const { name, type } = definition?.actions[index] ?? {}
    const { status: outcome, output } = result
    const isEnd = outcome === 'success' || outcome === 'failed' || outcome === 'unknown'
    if (name === undefined || type === undefined || !isCallType(type) || !isEnd) continue
    const { statusCode: status } = (output ?? {}) as { statusCode?: number }
    actions[name] = { outcome, ...(status !== undefined && { status }) }
  }
}

function hasEmitted(expected: NonNullable<RuleTest['expect']>): boolean {
  return Object.values(expected).some(
    (actions) => Array.isArray(actions) && actions.some(({ type }) => type === 'EMIT_EVENT'),
  )
}
