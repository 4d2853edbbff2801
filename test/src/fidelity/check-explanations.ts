import { createBatcher, type Database, Prisma, type WorkspaceDatabase } from '@automation/database'
import { type CompiledRule, compileRule, evaluateWhy, type RuleDefinition } from '@automation/engine'
import { type ConsideredRule, listConsidered } from '@automation/history'
import { addresseeOf } from '@automation/ledger'
import type { Comparison } from '../storm/check-backtests.js'
import type { PastEvent } from '../storm/read-history.js'

const atOnce = 500

/**
 * Whether `why` explains each event as it happened, below its HTTP route: `listConsidered` of the history, and `evaluateWhy` of the engine. A million events one by
 * one over HTTP would take hours.
 */
export class ExplanationCheck {
  readonly #database: Database
  readonly #remembered = new Map<string, WorkspaceDatabase>()
  readonly #violations: string[] = []
  #events = 0
  #compared = 0

  constructor(database: Database) {
    this.#database = database
  }

  async add(events: PastEvent[]): Promise<void> {
    const done = events.filter(({ doneAt, quarantined }) => doneAt !== null && !quarantined)
    for (let start = 0; start < done.length; start += atOnce)
      await Promise.all(done.slice(start, start + atOnce).map((event) => this.#check(event)))
  }

  finish(): Comparison & { events: number } {
    const nothing = this.#compared === 0 ? ['why: nothing was compared'] : []
    return {
      compared: this.#compared,
      events: this.#events,
      violations: [...this.#violations, ...nothing],
    }
  }

  async #check(event: PastEvent): Promise<void> {
    const { id, workspaceId, json, considered } = event
    const addressee = addresseeOf(event)
    const listed = await listConsidered(this.#databaseOf(workspaceId), {
      ...event,
      addressee,
      data: json,
      quarantineReason: null,
      erasedAt: null,
      chosenRuleIds: null,
    })
    this.#events++
    this.#compared += considered.length
    const known = new Map(listed.map((rule) => [rule.ruleId, rule]))
    if (known.size !== considered.length)
      this.#violations.push(`why of ${id} lists ${known.size} of ${considered.length} rules`)
    for (const { ruleId, version, hasRun, isOutranked, isUnevaluated } of considered) {
      const rule = known.get(ruleId)
      const difference = isUnevaluated
        ? rule?.verdict === 'not_judged'
          ? undefined
          : rule?.verdict
        : isOutranked !== (rule?.verdict === 'outranked')
          ? `${rule?.verdict}, and ${isOutranked ? 'was' : 'was not'} outranked`
          : findDifference(rule, version, { hasRun, hasMatched: hasRun || isOutranked }, event)
      if (difference !== undefined) this.#violations.push(`why of ${id}: rule ${ruleId} is ${difference}`)
    }
  }

  /** Statements about rules and their states are the same for many events, and nothing changes any more: each is asked once. */
  #databaseOf(workspaceId: string): WorkspaceDatabase {
    const known = this.#remembered.get(workspaceId)
    if (known) return known
    const database = this.#database.forWorkspace(workspaceId)
    const remembering = rememberReads(database)
    this.#remembered.set(workspaceId, remembering)
    return remembering
  }
}

function findDifference(
  rule: ConsideredRule | undefined,
  version: number | undefined,
  { hasRun, hasMatched }: { hasRun: boolean; hasMatched: boolean },
  { json, acceptedAt }: PastEvent,
): string | undefined {
  if (rule === undefined) return 'missing'
  if ((rule.verdict === 'matched') !== hasRun) return `${rule.verdict}, and ${hasRun ? 'ran' : 'did not run'}`
  if (rule.version !== version) return `explained in version ${rule.version} and met it in ${version}`
  if (rule.conditions === null) return 'not explained'
  const { definition, compiled } = compileOnce(rule.conditions)
  const { trace } = evaluateWhy(definition, compiled, JSON.parse(json), acceptedAt.getTime())
  return trace.conditionsPassed === hasMatched
    ? undefined
    : `evaluated otherwise by the engine: ${trace.conditionsPassed}`
}

const known = new Map<string, { definition: RuleDefinition; compiled: CompiledRule }>()

function compileOnce(conditions: string) {
  const found = known.get(conditions)
  if (found) return found
  const definition: RuleDefinition = { conditions: JSON.parse(conditions), actions: [] }
  const made = { definition, compiled: compileRule(definition) }
  known.set(conditions, made)
  return made
}

/** The statement on executions is about one event: those of many are made as one, with the ids of all. */
function rememberReads(database: WorkspaceDatabase): WorkspaceDatabase {
  const rows = new Map<string, Promise<unknown>>()
  const remember = (key: string, read: () => Promise<unknown>) => {
    const known = rows.get(key) ?? read()
    rows.set(key, known)
    return known
  }
  const readExecutions = createBatcher(async (asked: Prisma.Sql[]) => {
    const [first] = asked as [Prisma.Sql]
    const ids = asked.flatMap(({ values }) => values[1] as string[])
    const all = new Prisma.Sql(first.strings, [first.values[0], ids])
    const [row] = await database.$queryRaw<{ executions: string }[]>(all)
    const executions = JSON.parse(row?.executions ?? '[]') as { id: string }[]
    const found = new Map(executions.map((execution) => [execution.id, execution]))
    return asked.map(({ values }) => {
      const own = (values[1] as string[]).flatMap((id) => found.get(id) ?? [])
      return [{ executions: JSON.stringify(own) }]
    })
  })
  return {
    $queryRaw(sql: Prisma.Sql) {
      if (sql.text.includes('FROM executions')) return readExecutions(sql)
      return remember(JSON.stringify(sql.values), () => database.$queryRaw(sql))
    },
    ruleSet: {
      findFirst: (query: object) =>
        remember(JSON.stringify(query), () => database.ruleSet.findFirst(query as never) as never),
    },
  } as unknown as WorkspaceDatabase
}
