import { executionIdOf, newId, openPatiently } from '@automation/database'
import { findLost, findMismatch } from '@automation/history'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { copyDatabase } from './fixtures/copy-database.js'
import { run, runJson } from './fixtures/run.js'

// Two databases stand for two servers: the new primary is a copy of the old one from before the last commits.
const oldUrl = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const old = openPatiently(oldUrl, 2)
t.teardown(() => old.close())
const directory = t.testdir()
const workspaceId = newId()
const own = old.forWorkspace(workspaceId)
await old.system.workspace.create({ data: { id: workspaceId, name: 'Lost' } })
const [kept, gone, receiptId, ruleId] = [newId(), newId(), newId(), newId()]
await createEvent(kept)
await createExecution(kept, [{ startedAt: '2026-11-30T01:00:00.000Z' }])
// As a standby has it.
const url = await copyDatabase(oldUrl)
await createEvent(gone)
await createExecution(gone, [{ startedAt: '2026-11-30T01:00:01.000Z' }])
const repeated = [{ startedAt: '2026-11-30T01:00:00.000Z' }, { startedAt: '2026-11-30T01:00:02.000Z' }]
await own.execution.update({
  where: { id: idOf(kept) },
  data: { results: [resultWith(repeated)] },
})
await own.webhookReceipt.create({
  data: {
    ...{ id: receiptId, workspaceId, provider: 'billing', key: 'evt_1', bodyHash: Buffer.from('h') },
    ...{ secretId: newId(), eventTypes: ['WEBHOOK_RECEIVED'], eventIds: [gone] },
  },
})
await own.auditEntry.create({
  data: {
    ...{ id: newId(), workspaceId, actor: 'user:ada', action: 'api_key.revoked', subject: 'key-1' },
    details: {},
  },
})
const env = { DATABASE_URL: url, OLD_DATABASE_URL: oldUrl }

t.test('events, webhooks, calls and changes that only the old primary has are listed', async (t) => {
  const lost = await runJson<Record<string, object[]>>('admin', 'lost', directory, env)
  t.match(lost.events, [{ id: gone, workspaceId, what: 'LEAD_CREATED' }])
  t.match(lost.receipts, [{ id: receiptId, what: 'billing evt_1' }])
  t.match(lost.changes, [{ workspaceId, what: 'user:ada api_key.revoked key-1' }])
  // Their ids have the same millisecond, and then a digest.
  const repeats = (call: object) => Number('isRepeated' in call && call.isRepeated)
  const calls = lost.calls?.toSorted((one, other) => repeats(other) - repeats(one))
  t.match(calls, [
    { idempotencyKey: `${idOf(kept)}:0`, what: 'SEND_WEBHOOK', isRepeated: true },
    { idempotencyKey: `${idOf(gone)}:0`, what: 'SEND_WEBHOOK', isRepeated: false },
  ])
  for (const rows of Object.values(lost)) if (Array.isArray(rows)) t.ok(rows.length <= 2)
  const told = await run('admin', 'lost --since 1d', directory, env)
  t.match(
    told.output,
    /^Events that are gone: 1\n.*Receipts of webhooks that are gone: 1\n.*not known here: 2\n.*Changes that are undone: 1\n/s,
  )
  t.match(
    told.output,
    new RegExp(
      `^at  .*\\n\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\dZ  ${workspaceId}  ${gone}  LEAD_CREATED$`,
      'm',
    ),
    'one line for each',
  )
})

t.test('no more is listed than a process can hold, and it says that there is more', async (t) => {
  const present = openPatiently(url, 1)
  t.teardown(() => present.close())
  const lost = await findLost(old, present, Date.now() - 3_600_000, 1)
  t.match(lost, { events: [{ id: gone }], isComplete: false })
  t.equal(lost.calls.length, 1)
  t.match(await findLost(old, present, Date.now() - 3_600_000, 2), { isComplete: true })
})

t.test('nothing is listed where both have the same', async (t) => {
  const same = { ...env, OLD_DATABASE_URL: url }
  t.match((await run('admin', 'lost', directory, same)).output, /^Nothing is missing since /)
})

t.test('servers of two clusters are not compared, and not a new primary as the old one', async (t) => {
  const old = { system: '7', timeline: 1 }
  const promoted = { ...old, timeline: 2 }
  t.equal(findMismatch(old, promoted), undefined)
  t.equal(findMismatch(promoted, old), 'exchanged')
  t.equal(findMismatch(old, { ...promoted, system: '8' }), 'unrelated')
  t.equal(findMismatch({ ...promoted, timeline: null }, old), undefined, 'a standby has none of its own')
  t.equal(findMismatch(undefined, promoted), undefined, 'a server may keep it to itself')
})

t.test('without the old primary it says what is missing, and which server does not respond', async (t) => {
  const none = await run('admin', 'lost', directory, { ...env, OLD_DATABASE_URL: '' })
  t.match(none, { code: 1, errors: /Set OLD_DATABASE_URL to the URL of the old primary/ })
  const away = await run('admin', 'lost', directory, {
    ...env,
    OLD_DATABASE_URL: 'postgresql://postgres@127.0.0.1:1/old',
  })
  t.match(away, { code: 1, errors: /Cannot connect to Postgres at 127\.0\.0\.1:1/ })
})

function idOf(eventId: string): string {
  return executionIdOf({ id: eventId, addressee: null }, ruleId)
}

function createEvent(id: string) {
  return own.event.create({ data: { id, workspaceId, type: 'LEAD_CREATED', data: { name: 'Ada' } } })
}

function resultWith(attempts: object[]) {
  return { action: 'SEND_WEBHOOK', status: 'running', attempts } as object
}

function createExecution(eventId: string, attempts: object[]) {
  return own.execution.create({
    data: {
      ...{ id: idOf(eventId), workspaceId, eventId, eventType: 'LEAD_CREATED' },
      ...{ handlerId: ruleId, ruleVersion: 1, status: 'running', startedAt: new Date(), dueAt: new Date() },
      results: [resultWith(attempts)],
    },
  })
}
