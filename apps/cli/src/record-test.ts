import type { RuleTest } from '@automation/check'
import { executionIdOf } from '@automation/database'
import { type ActionResult, compileRule, isReady, planRule, type RuleDefinition } from '@automation/engine'
import { addresseeOf } from '@automation/ledger'
import { CommandError } from './command-error.js'
import { useDatabase } from './use-database.js'

/** Makes a test of a stored event: the actions that were done, in the version that did them. @throws CommandError if there is no such event */
export function recordTest(eventId: string, workspace: string | undefined): Promise<RuleTest> {
  return useDatabase('read', async ({ database }) => {
    const event = await database.system.event.findUnique({ where: { id: eventId } })
    if (event === null || (workspace ?? event.workspaceId) !== event.workspaceId)
      throw new CommandError(`There is no event ${eventId}${workspace ? ` in workspace ${workspace}` : ''}.`)
    const tables = database.forWorkspace(event.workspaceId)
    const rules = await tables.rule.findMany({
      where: { trigger: event.type },
      orderBy: { id: 'asc' },
      select: { id: true, name: true },
    })
    const addressee = addresseeOf(event)
    const ids = new Map(rules.map(({ id, name }) => [executionIdOf({ id: event.id, addressee }, id), name]))
    const executions = await tables.execution.findMany({ where: { id: { in: [...ids.keys()] } } })
    const expected: NonNullable<RuleTest['expect']> = {}
    for (const execution of executions) {
      const { ruleId, ruleVersion: version } = execution
      const made = await tables.ruleVersion.findUnique({ where: { ruleId_version: { ruleId, version } } })
      const done = listDone(
        execution.results as unknown as ActionResult[],
        made as unknown as RuleDefinition | null,
        event,
      )
      expected[ids.get(execution.id) ?? ''] = done.length > 0 ? done : 1
    }
    return {
      name: `Recorded ${event.type} ${event.id}`,
      event: {
        type: event.type as NonNullable<RuleTest['event']>['type'],
        at: event.acceptedAt.toISOString(),
        data: event.data as Record<string, unknown>,
      },
      // What emitted events caused is not in this event's executions, so other rules are not asserted then.
      ...(hasEmitted(expected) ? { expect: expected } : { expectOnly: expected }),
    }
  })
}

function listDone(
  results: ActionResult[],
  definition: RuleDefinition | null,
  event: { data: unknown; acceptedAt: Date },
) {
  const plan = definition && planRule(compileRule(definition), event.data, event.acceptedAt.getTime())
  return results.flatMap(({ action: type, status }, index) => {
    if (status !== 'success' || type === 'WAIT') return []
    const planned = plan?.actions[index]
    return planned !== undefined && isReady(planned)
      ? [{ type, config: planned.config as Record<string, unknown> }]
      : [{ type }]
  })
}

function hasEmitted(expected: NonNullable<RuleTest['expect']>): boolean {
  return Object.values(expected).some(
    (actions) => Array.isArray(actions) && actions.some(({ type }) => type === 'EMIT_EVENT'),
  )
}
