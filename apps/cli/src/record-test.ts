import { isDeepStrictEqual } from 'node:util'
import { ApiError, type Client, type Execution, type Rule, type RuleVersion } from '@automation/client'
import {
  type ActionResult,
  compileRule,
  Evaluation,
  type Given,
  isCallType,
  isReady,
  planActions,
  type RuleDefinition,
  scheduleType,
} from '@automation/engine'
import type { RuleTest } from '@automation/rule-tests'

interface Done {
  rule: Rule
  execution: Execution
  /** The version that it ran; null if that is gone. */
  version: RuleVersion | null
}

/** Makes a test of a stored event: the actions that were done, in the version that did them. */
export async function recordTest(client: Client, eventId: string): Promise<RuleTest> {
  const event = await client.events.get(eventId)
  const executions = await client.executions.list({ eventId: event.id }).all()
  const found = await Promise.all(executions.map(({ id }) => readDone(client, id)))
  const given: Required<Given> = { captured: {}, actions: {} }
  const lists = new Map<string, ReturnType<typeof listDone>[]>()
  for (const { rule, execution, version } of await sortAsExported(
    client,
    found.flatMap((one) => one ?? []),
  )) {
    const results = execution.results as unknown as ActionResult[]
    const definition = version as unknown as RuleDefinition | null
    // What a batch rendered is of all its events, and the test has one.
    const byIt = listDone(results, version?.perKey?.collect ? null : definition, event)
    noteRecorded(given, results, definition)
    lists.set(rule.name, [...(lists.get(rule.name) ?? []), byIt])
  }
  const expected = Object.fromEntries([...lists].map(([name, done]) => [name, expect(done)]))
  const isTick = event.type === scheduleType && event.ruleId !== null
  return {
    name: `Recorded ${event.type} ${event.id}`,
    event: {
      type: event.type as NonNullable<RuleTest['event']>['type'],
      at: event.acceptedAt,
      data: event.data as Record<string, unknown>,
      ...(isTick && { for: (await client.rules.get(event.ruleId ?? '')).name }),
    },
    ...Object.fromEntries(Object.entries(given).filter(([, values]) => Object.keys(values).length > 0)),
    // What emitted events caused is not in this event's executions, so other rules are not asserted then.
    ...(hasEmitted(expected) ? { expect: expected } : { expectOnly: expected }),
  }
}

/** Of a rule that was deleted there is nothing to test. */
async function readDone(client: Client, executionId: string): Promise<Done | undefined> {
  const execution = await client.executions.get(executionId)
  const { ruleId, ruleVersion } = execution
  const [rule, version] = await Promise.all([
    orNothing(client.rules.get(ruleId)),
    ruleVersion === null ? null : orNothing(client.rules.versions.get(ruleId, ruleVersion)),
  ])
  return rule === null ? undefined : { rule, execution, version }
}

function orNothing<Value>(read: PromiseLike<Value>): Promise<Value | null> {
  return Promise.resolve(read).catch((error) => {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  })
}

/** Rules of one name are tested together, in the order of their file. */
async function sortAsExported(client: Client, found: Done[]): Promise<Done[]> {
  const { rules } = await client.rules.export()
  const placeOf = ({ rule }: Done) =>
    rules.findIndex((exported) =>
      Object.entries(exported).every(([field, value]) => isDeepStrictEqual(value, rule[field as keyof Rule])),
    )
  return found.sort((one, other) => placeOf(one) - placeOf(other))
}

/** The actions of all executions of a name, or where none did anything, their number. */
function expect(executions: readonly ReturnType<typeof listDone>[]) {
  const actions = executions.flat()
  return actions.length > 0 ? actions : executions.length
}

function listDone(
  results: ActionResult[],
  definition: RuleDefinition | null,
  event: { data: unknown; acceptedAt: string },
) {
  const at = Date.parse(event.acceptedAt)
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
