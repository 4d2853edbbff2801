import { checkCounters } from './check-effects.js'
import { groupBy } from './group-by.js'
import type { HostileEvent } from './hostile.js'
import { toggledNames } from './hostile-rules.js'
import { isRun, type StoredRule } from './rule-book.js'
import type { EventRow, ExecutionRow, Tables } from './tables.js'

export type HostileTables = Pick<Tables, 'events' | 'executions' | 'tasks' | 'counters'>

/** What one event may cause, which each of the storm's two workers counts by itself (docs/internals/decisions.md). */
export const mostDescendants = 2 * 1_000
const ended = ['succeeded', 'failed', 'cancelled', 'suppressed']

/**
 * The workspace that attacks hurts itself at most. What it was promised holds for it as well: each accepted event is done or
 * quarantined, no rule runs twice for an event, no action has two effects, and an event causes a limited number of others. Rules
 * that it switches off may or may not have run. One sentence for each violation.
 */
export function checkHostile(sent: HostileEvent[], tables: HostileTables, rules: StoredRule[]): string[] {
  const events = new Map(tables.events.map((event) => [event.id, event]))
  const executions = new Map(tables.executions.map((execution) => [execution.id, execution]))
  const executionsOf = groupBy(tables.executions, ({ eventId }) => eventId)
  const tasks = groupBy(tables.tasks, ({ executionId }) => executionId)
  const emitted = groupBy(tables.events, ({ causedBy }) => causedBy ?? '')
  const rulesById = new Map(rules.map((rule) => [rule.id, rule]))
  return [
    ...checkSent(sent, tables.events),
    ...tables.events.flatMap((event) =>
      checkEvent(event).map((fault) => `hostile ${event.name} ${event.type} ${event.id}: ${fault}`),
    ),
    ...tables.executions.flatMap((execution) =>
      checkExecution(execution).map((fault) => `hostile execution ${execution.id}: ${fault}`),
    ),
    ...[...countDescendants(tables)].flatMap(([id, count]) =>
      count > mostDescendants ? [`hostile event ${id} has caused ${count} others`] : [],
    ),
    ...[...tasks.keys()].flatMap((id) => (executions.has(id) ? [] : [`hostile tasks of no execution ${id}`])),
    ...checkCounters(tables).map((fault) => `hostile ${fault}`),
  ]

  function checkEvent(event: EventRow): string[] {
    const own = executionsOf.get(event.id) ?? []
    const faults = event.isDone ? [] : ['it is not done']
    if (event.causedBy !== null && !executions.has(event.causedBy)) faults.push('no execution has caused it')
    if (event.quarantined) return own.length === 0 ? faults : [...faults, 'it is quarantined, and has run']
    for (const [ruleId, runs] of groupBy(own, (run) => run.ruleId)) {
      if (rulesById.get(ruleId)?.trigger !== event.type) faults.push('a rule ran that is not its')
      if (runs.length > 1) faults.push(`${runs.length} executions of ${rulesById.get(ruleId)?.name}`)
    }
    const missing = rules.filter(
      (rule) =>
        rule.trigger === event.type &&
        isRun(rule, event) &&
        !toggledNames.includes(rule.name) &&
        own.every(({ ruleId }) => ruleId !== rule.id),
    )
    return [...faults, ...missing.map(({ name }) => `no execution of ${name}`)]
  }

  function checkExecution(execution: ExecutionRow): string[] {
    const { id, eventId, ruleId, status, effects } = execution
    const faults = ended.includes(status) ? [] : [`it is ${status}`]
    if (!events.has(eventId)) faults.push('it has no event')
    const ownTasks = tasks.get(id) ?? []
    const actions = rulesById.get(ruleId)?.actions ?? []
    const count = (type: string) => actions.filter((action) => action.type === type).length
    const caused = emitted.get(id)?.length ?? 0
    const places = new Set(ownTasks.map(({ actionIndex }) => actionIndex))
    if (places.size < ownTasks.length) faults.push('an action has created two tasks')
    if ([...places].some((index) => actions[index]?.type !== 'CREATE_TASK'))
      faults.push('a task is of no action that creates one')
    if (caused > count('EMIT_EVENT')) faults.push(`it has emitted ${caused} events`)
    if (status === 'succeeded' && ownTasks.length < count('CREATE_TASK'))
      faults.push(`it has succeeded with ${ownTasks.length} tasks`)
    if (ownTasks.length + caused !== effects)
      faults.push(`${ownTasks.length} tasks and ${caused} events, and its results say ${effects}`)
    return faults
  }
}

/** What the caller was answered, beside what is stored. */
function checkSent(sent: HostileEvent[], events: EventRow[]): string[] {
  const stored = groupBy(
    events.filter(({ causedBy }) => causedBy === null),
    ({ name }) => name,
  )
  const strays = [...stored.keys()].filter((name) => !sent.some((one) => one.name === name))
  return [
    ...strays.map((name) => `hostile ${name}: nobody has sent it`),
    ...sent.flatMap(({ name, type, outcome, id }) => {
      const rows = stored.get(name) ?? []
      const [least, most] = { ok: [1, 1], failed: [0, 0], unknown: [0, 1] }[outcome] as [number, number]
      const isRight = rows.length >= least && rows.length <= most
      const isThere = id === undefined || rows.some((row) => row.id === id && row.type === type)
      return [
        ...(isRight ? [] : [`hostile ${name} (${outcome}): there are ${rows.length} events`]),
        ...(isThere ? [] : [`hostile ${name}: ${id} was acknowledged, and is not there`]),
      ]
    }),
  ]
}

/** By the event from outside: each emitted event leads over its execution to the event before it. */
export function countDescendants({ events, executions }: Pick<Tables, 'events' | 'executions'>) {
  const eventOf = new Map(executions.map(({ id, eventId }) => [id, eventId]))
  const causes = new Map(events.map(({ id, causedBy }) => [id, causedBy]))
  const counts = new Map<string, number>()
  for (const { id, causedBy } of events) {
    if (causedBy === null) continue
    let root = id
    for (let cause: string | null = causedBy; cause !== null; cause = causes.get(root) ?? null) {
      const before = eventOf.get(cause)
      if (before === undefined) break
      root = before
    }
    counts.set(root, (counts.get(root) ?? 0) + 1)
  }
  return counts
}
