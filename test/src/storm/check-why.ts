import type { Comparison } from './check-backtests.js'
import type { Site } from './site.js'

interface Row {
  id: string
  workspaceId: string
  ruleIds: string[]
  executed: string[]
  /** Rules that matched while another one of their group ran. */
  outranked: string[]
  isKnown: boolean
}

interface RuleWhy {
  ruleId: string
  version: number | null
  verdict: string
  outranked: { by: string } | null
  trace: { conditionsPassed: boolean } | null
}

export type WhySite = Pick<Site, 'query' | 'token'> & {
  running: Pick<Site['running'], 'product'>
  workspaces: { id: string }[]
}

/** In the order of their ids, which say nothing of what happened to them. */
const atOnce = 20
const mostRefusals = 10

/**
 * Whether the API explains each stored event as it happened: the rules that were considered, and of these the ones that have an execution, by the
 * rows; and the engine, which evaluates again, comes to the same.
 *
 * @param maxEvents as many of them, evenly spread; undefined for all
 */
export async function checkWhy(
  { running, query, token, workspaces }: WhySite,
  maxEvents: number | undefined,
): Promise<Comparison> {
  const rows = await query<Row>(`
    SELECT events.id, events.workspace_id AS "workspaceId", rules_version IS NOT NULL AS "isKnown",
           CASE WHEN rule_set_id IS NULL THEN '{}'
                WHEN events.addressee_id IS NOT NULL THEN ARRAY[events.addressee_id]
                ELSE (SELECT rule_ids FROM rule_sets WHERE rule_sets.workspace_id = events.workspace_id
                      AND rule_sets.id = rule_set_id) END::text[] AS "ruleIds",
           ARRAY(SELECT executions.handler_id FROM executions WHERE executions.workspace_id = events.workspace_id
                 AND executions.event_id = events.id
                 AND executions.id BETWEEN (left(events.id::text, 13) || '-0000-0000-000000000000')::uuid
                                       AND (left(events.id::text, 13) || '-ffff-ffff-ffffffffffff')::uuid)::text[] AS executed,
           CASE WHEN outranked IS NULL THEN '{}' ELSE (
             SELECT array_agg(rule_ids[(pair->>0)::int + 1])
             FROM rule_sets CROSS JOIN json_array_elements(outranked) AS pair
             WHERE rule_sets.workspace_id = events.workspace_id AND rule_sets.id = rule_set_id) END::text[] AS outranked
    FROM events
    WHERE done_at IS NOT NULL AND NOT quarantined AND addressee_kind IS DISTINCT FROM 'subscription'
      AND workspace_id IN (${workspaces.map(({ id }) => `'${id}'`).join(', ')})
    ORDER BY events.id`)
  const every = maxEvents === undefined ? 1 : Math.max(1, Math.ceil(rows.length / maxEvents))
  const sample = rows.filter((_, index) => index % every === 0)
  const api = await running.product.startApi()
  const violations: string[] = []
  let compared = 0
  for (let start = 0; start < sample.length; start += atOnce) {
    const checks = sample.slice(start, start + atOnce).map((row) => checkEvent(api.baseUrl, token, row))
    for (const check of await Promise.all(checks)) {
      violations.push(...check.violations)
      compared += check.compared
    }
  }
  await api.stop()
  return { compared, violations: compared === 0 ? [...violations, 'why: nothing was compared'] : violations }
}

async function checkEvent(baseUrl: string, token: string, row: Row): Promise<Comparison> {
  const rules: RuleWhy[] = []
  // On a busy machine a page may end before its limit.
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `${baseUrl}/api/events/${row.id}/why?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
    const response = await ask(path, { authorization: `Bearer ${token}`, 'x-workspace-id': row.workspaceId })
    if (!response.ok) return { compared: 0, violations: [`why of ${row.id} is ${response.status}`] }
    const page = (await response.json()) as { rules: RuleWhy[]; nextCursor: string | null }
    rules.push(...page.rules)
    cursor = page.nextCursor
  }
  const named = new Set(rules.map(({ ruleId }) => ruleId))
  const missing = row.ruleIds.filter((id) => !named.has(id))
  const violations = [
    ...(missing.length + rules.length === row.ruleIds.length && missing.length === 0
      ? []
      : [`why of ${row.id} lists ${rules.length} of ${row.ruleIds.length} rules`]),
    ...rules.flatMap((rule) => findDisagreement(row, rule)),
  ]
  return { compared: rules.length, violations }
}

/** The rate limit of a caller holds here, too, and on a busy machine a read may be refused for now. */
async function ask(path: string, headers: Record<string, string>): Promise<Response> {
  for (let refusals = 0; ; ) {
    const response = await fetch(path, { headers })
    if (response.status === 503) refusals++
    else if (response.status !== 429) return response
    if (refusals === mostRefusals) return response
    const seconds = Number(response.headers.get('retry-after') ?? 1)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  }
}

function findDisagreement(
  { id, executed, outranked, isKnown }: Row,
  { ruleId, verdict, version, trace, ...why }: RuleWhy,
): string[] {
  const hasRun = executed.includes(ruleId)
  const isOutranked = outranked.includes(ruleId)
  const isBySomeone = why.outranked !== null && executed.includes(why.outranked.by)
  if ((verdict === 'outranked') !== isOutranked || isBySomeone !== isOutranked)
    return [`why of ${id}: rule ${ruleId} is ${verdict} by ${why.outranked?.by}`]
  // Its conditions were not evaluated: there is nothing to agree with.
  if (verdict === 'not_judged') return hasRun ? [] : [`why of ${id}: rule ${ruleId} has no execution`]
  if ((verdict === 'matched') !== hasRun) return [`why of ${id}: rule ${ruleId} is ${verdict}`]
  if (!isKnown) return []
  if (trace === null || version === null) return [`why of ${id}: rule ${ruleId} is not explained`]
  return trace.conditionsPassed === (hasRun || isOutranked)
    ? []
    : [`why of ${id}: the engine disagrees about rule ${ruleId}`]
}
