import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { SentEvent } from '../storm/load.js'
import type { OnceEvent } from '../storm/once.js'
import type { Evidence } from '../storm/storm.js'
import type { Outcome } from './disaster.js'
import { query } from './servers/postgres-pair.js'

interface Row {
  id: string
  workspaceId: string
  what: string
}

/** As the command writes it. */
export interface Lost {
  events: Row[]
  receipts: Row[]
  calls: (Row & { idempotencyKey: string; isRepeated: boolean })[]
  changes: Row[]
}

/** What clients have sent. */
interface Sent {
  load: { sent: SentEvent[] }
  once: { sent: OnceEvent[] }
}

const program = fileURLToPath(new URL('../../../../apps/cli/run.mjs', import.meta.url))

/** What `npm run admin -- lost` finds, as an operator runs it. */
export async function findLostByCommand(databaseUrl: string, oldUrl: string): Promise<Lost> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, 'admin', 'lost', '--since', '1h', '--output', 'json'],
    {
      env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, OLD_DATABASE_URL: oldUrl },
      maxBuffer: 256 * 1_048_576,
    },
  )
  return JSON.parse(stdout) as Lost
}

/**
 * Takes from the evidence what the command has named, and nothing else: whatever is lost beside that stays a violation.
 *
 * @returns how much it was
 */
export async function excuseLost(
  lost: Lost,
  evidence: Evidence,
  oldUrl: string,
): Promise<Outcome['figures']> {
  const ids = new Set([...lost.events, ...lost.receipts].map(({ id }) => id))
  const names = await readNames(lost, oldUrl)
  const acknowledged = excuseEvents(evidence, ids, names)
  await excuseEdits(lost, evidence, ids, oldUrl)
  const calls = new Set(lost.calls.map(({ idempotencyKey }) => idempotencyKey))
  const stored = new Set(
    (await evidence.site.query<{ id: string }>('SELECT id FROM executions')).map(({ id }) => id),
  )
  for (const key of calls) {
    if (!stored.has(key.slice(0, key.indexOf(':')))) evidence.target.calls.delete(key)
    // Made, and noted in what is gone.
    const made = evidence.target.calls.get(key)
    if (made !== undefined) made.count -= lost.calls.filter((call) => call.idempotencyKey === key).length
    const once = evidence.onceTarget.calls.get(key)
    if (once !== undefined) once.count = 1
  }
  return {
    'events of clients that were acknowledged and are gone': acknowledged,
    'events that the command names': lost.events.length,
    'receipts of webhooks': lost.receipts.length,
    'calls that were begun, and are made again under their first key': lost.calls.filter(
      ({ isRepeated }) => isRepeated,
    ).length,
    'calls whose event is gone': lost.calls.filter(({ isRepeated }) => !isRepeated).length,
    'changes in audit logs': lost.changes.length,
  }
}

/** Of the clients' events among them, as the old primary has them. */
async function readNames({ events }: Lost, oldUrl: string): Promise<Set<string>> {
  const list = events.map(({ id }) => `'${id}'`).join(', ')
  const rows = await query<{ name: string }>(
    oldUrl,
    `SELECT coalesce(data->>'name', data#>>'{payload,data,name}', '') AS name FROM events
     WHERE id IN (${list || 'NULL'}) AND caused_by IS NULL AND replay_of IS NULL`,
  )
  return new Set(rows.map(({ name }) => name))
}

/**
 * An acknowledgement of the old primary's says nothing any more; one of the new one's stays.
 *
 * @param ids of events and receipts that are gone
 * @param names of clients' events that are gone
 * @returns how many acknowledged events are not there
 */
export function excuseEvents({ load, once }: Sent, ids: Set<string>, names: Set<string>): number {
  let excused = 0
  for (const { event, outcomes } of load.sent) {
    if (!names.has(event.name)) continue
    const accepted = outcomes.filter(({ id }) => id !== undefined && !ids.has(id))
    const first = Math.min(...accepted.map(({ at }) => at))
    let isExcused = false
    for (const outcome of outcomes)
      if (
        outcome.kind === 'ok' &&
        (ids.has(outcome.id ?? '') || (outcome.id === undefined && outcome.at < first))
      ) {
        outcome.kind = 'unknown'
        outcome.id = undefined
        isExcused = true
      }
    if (isExcused && accepted.length === 0) excused++
  }
  for (const event of once.sent)
    if (event.isAcknowledged && names.has(event.name)) {
      event.isAcknowledged = false
      excused++
    }
  return excused
}

async function excuseEdits({ changes }: Lost, { edits, site }: Evidence, ids: Set<string>, oldUrl: string) {
  const versions = 'SELECT rule_id AS "ruleId", version, description FROM rule_versions'
  type Version = { ruleId: string; version: number; description: string }
  const stampOf = ({ ruleId, version, description }: Version) => `${ruleId} ${version} ${description}`
  const here = new Set((await site.query<Version>(versions)).map(stampOf))
  const gone = new Set((await query<Version>(oldUrl, versions)).map(stampOf).filter((one) => !here.has(one)))
  const subjects = new Set(changes.map(({ what }) => what.split(' ').at(-1) ?? ''))
  const isLost = (edit: (typeof edits.acknowledged)[0]) => {
    if (!subjects.has(edit.id) && edit.kind !== 'replay') return false
    return edit.kind === 'rule'
      ? gone.has(stampOf({ ruleId: edit.id, ...edit }))
      : edit.kind === 'key' || ids.has(edit.id)
  }
  edits.acknowledged = edits.acknowledged.filter((edit) => !isLost(edit))
  for (const { workspaceId, what } of changes)
    for (const [key, roles] of edits.roles)
      if (what.includes('member.') && key.startsWith(workspaceId) && subjects.has(key.split(' ')[1] ?? ''))
        for (const role of roles) role.isAccepted = false
}
