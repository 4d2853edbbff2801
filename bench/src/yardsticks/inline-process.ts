import { createBatcher, executionIdOf, newId, openDatabase } from '@automation/database'
import {
  type ActionResult,
  type CompiledRule,
  compileRule,
  Evaluation,
  findError,
  findNextAction,
  type RuleDefinition,
  ruleHolds,
  settleAction,
} from '@automation/engine'
import Fastify from 'fastify'
import { cacheTokens } from './cache-tokens.js'
import { serve } from './serve.js'

// A yardstick for synchronous triggers: the same engine and the same rows in one process, without queue, Redis or worker.
// It commits the event, runs the rules, commits their outcomes, and responds. Requests of the same moment share both
// commits, as in the product. It promises less: an event is never run if its process dies in between, slow targets would
// delay all callers, and it is a single process.
const { DATABASE_URL = '' } = process.env
const ttlMs = 1_000

interface Rule {
  id: string
  version: number
  compiled: CompiledRule
}
interface Event {
  id: string
  workspaceId: string
  type: string
  data: object
}
interface Run {
  rule: Rule
  executionId: string | null
  startedAt: number
  results: ActionResult[]
  tasks: { index: number; title: string }[]
  error: string | null
}

const database = openDatabase(DATABASE_URL, 10)
const remembered = new Map<string, { at: number; value: Promise<unknown> }>()

const app = Fastify({ logger: false })
const verifyToken = await cacheTokens(app, process.env)

app.post<{ Params: { eventType: string }; Body: { data: object } }>(
  '/api/automation-rules/trigger/:eventType',
  {
    schema: { body: { type: 'object', required: ['data'], properties: { data: { type: 'object' } } } },
  },
  async ({ params: { eventType: type }, headers, body: { data } }, reply) => {
    const workspaceId = `${headers['x-workspace-id']}`
    const userId = verifyToken(headers.authorization)
    const isMember = await remember(`${workspaceId} ${userId}`, () => findMember(workspaceId, userId))
    if (!isMember) return reply.code(403).send({ error: 'Access denied' })
    const event = { id: newId(), workspaceId, type, data }
    await insertEvent(event)
    const rules = await remember(`${workspaceId} ${type}`, () => readRules(workspaceId, type))
    const runs = rules.map((rule) => runRule(rule, event))
    await recordOutcome({ event, runs })
    const results = runs.map(({ rule, executionId, error }) => ({
      ruleId: rule.id,
      success: error === null,
      status: executionId === null ? 'not_matched' : error === null ? 'succeeded' : 'failed',
      conditionsPassed: executionId !== null,
      executionId,
    }))
    return { triggered: runs.length, results }
  },
)

function remember<Value>(key: string, load: () => Promise<Value>): Promise<Value> {
  const known = remembered.get(key)
  if (known && Date.now() - known.at < ttlMs) return known.value as Promise<Value>
  const value = load()
  remembered.set(key, { at: Date.now(), value })
  return value
}

async function findMember(workspaceId: string, userId: string): Promise<boolean> {
  const found = await database.system.member.findUnique({
    where: { workspaceId_userId: { workspaceId, userId } },
  })
  return found !== null
}

async function readRules(workspaceId: string, trigger: string): Promise<Rule[]> {
  const rules = await database.system.rule.findMany({
    where: { workspaceId, trigger, isActive: true },
    orderBy: { id: 'asc' },
  })
  return rules.map((rule) => ({
    id: rule.id,
    version: rule.version,
    compiled: compileRule(rule as unknown as RuleDefinition),
  }))
}

function runRule(rule: Rule, event: Event): Run {
  const startedAt = Date.now()
  const run: Run = { rule, executionId: null, startedAt, results: [], tasks: [], error: null }
  if (!ruleHolds(rule.compiled, event.data, new Evaluation(startedAt))) return run
  run.executionId = executionIdOf({ id: event.id, addressee: null }, rule.id)
  for (;;) {
    const action = findNextAction(rule.compiled, event.data, startedAt, run.results)
    if (action === undefined) break
    if (action.type !== 'CREATE_TASK') throw new Error(`${action.type} is not measured here`)
    run.tasks.push({ index: action.of.index, title: action.config.title })
    run.results[action.of.index] = settleAction(action, { status: 'success' })
  }
  run.error = findError(run.results)
  return run
}

const insertEvent = createBatcher(async (events: Event[]) => {
  const rows = events.map(({ id, workspaceId, type, data }) => ({
    id,
    workspace_id: workspaceId,
    type,
    data,
  }))
  await database.run('inline_event', eventStatement, [JSON.stringify(rows)])
  return events.map(() => true)
})

const eventStatement = `
  INSERT INTO events (id, workspace_id, type, data)
  SELECT * FROM json_to_recordset($1::json) AS new (id uuid, workspace_id uuid, type text, data json)`

const recordOutcome = createBatcher(
  async (outcomes: { event: Event; runs: Run[] }[]) => {
    const executions: object[] = []
    const tasks: object[] = []
    for (const { event, runs } of outcomes) {
      for (const { rule, executionId, startedAt, results, error, tasks: ofRun } of runs) {
        if (executionId === null) continue
        executions.push({
          id: executionId,
          workspace_id: event.workspaceId,
          event_id: event.id,
          event_type: event.type,
          handler_id: rule.id,
          rule_version: rule.version,
          status: error === null ? 'succeeded' : 'failed',
          results,
          error,
          started_ms: startedAt,
          finished_ms: Date.now(),
        })
        for (const { index, title } of ofRun)
          tasks.push({
            id: newId(),
            workspace_id: event.workspaceId,
            execution_id: executionId,
            action_index: index,
            rule_id: rule.id,
            title,
          })
      }
    }
    // The product stores with each event which rules were considered, as the id of a set. This id has the same length.
    const events = outcomes.map(({ event, runs }) => ({ id: event.id, rule_set_id: runs[0]?.rule.id }))
    await database.run('inline_outcome', outcomeStatement, [
      JSON.stringify(events),
      JSON.stringify(executions),
      JSON.stringify(tasks),
    ])
    return outcomes.map(() => true)
  },
  { maxItems: 200 },
)

const outcomeStatement = `
  WITH done AS (
    UPDATE events SET done_at = now(), rule_set_id = new.rule_set_id
    FROM json_to_recordset($1::json) AS new (id uuid, rule_set_id uuid)
    WHERE events.id = new.id
  ),
  ran AS (
    INSERT INTO executions
      (id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, error, started_at, finished_at)
    SELECT id, workspace_id, event_id, event_type, handler_id, rule_version, status, results, error,
           to_timestamp(started_ms / 1000), to_timestamp(finished_ms / 1000)
    FROM json_to_recordset($2::json) AS new (
      id uuid, workspace_id uuid, event_id uuid, event_type text, handler_id uuid, rule_version int,
      status execution_status, results json, error text, started_ms float8, finished_ms float8)
    RETURNING handler_id, status, finished_at
  ),
  made AS (
    INSERT INTO tasks (id, workspace_id, execution_id, action_index, rule_id, title, priority, created_at)
    SELECT id, workspace_id, execution_id, action_index, rule_id, title, 'normal', now()
    FROM json_to_recordset($3::json) AS new (
      id uuid, workspace_id uuid, execution_id uuid, action_index int, rule_id uuid, title text)
  )
  UPDATE rule_counters SET
    success_count = success_count + tally.successes,
    failure_count = failure_count + tally.failures,
    consecutive_failures = CASE WHEN successes > 0 THEN 0 ELSE consecutive_failures + failures END,
    last_success_at = CASE WHEN successes > 0 THEN tally.at ELSE last_success_at END
  FROM (
    SELECT handler_id, count(*) FILTER (WHERE status = 'succeeded') AS successes,
           count(*) FILTER (WHERE status = 'failed') AS failures, max(finished_at) AS at
    FROM ran GROUP BY handler_id
  ) AS tally
  WHERE rule_counters.rule_id = tally.handler_id`

await serve(app)
