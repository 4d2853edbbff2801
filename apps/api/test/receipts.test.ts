import { setTimeout as delay } from 'node:timers/promises'
import { firstIdOf, newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import type { Receipt } from '../src/routes/developer/present-receipt.js'
import { type Answer, startApi, type Workspace } from './fixtures/api.js'
import { makeSender, nowText } from './fixtures/sender.js'

interface Page {
  data: Receipt[]
  nextCursor: string | null
}

const api = await startApi(t)
const receipts = '/api/developer/v1/webhook-receipts'
const notFound = { status: 404, body: { error: 'Receipt not found' } }
const statusAndBody = ({ status, body }: Answer) => ({ status, body })

async function list({ call }: Workspace, query = ''): Promise<Page> {
  const { status, body } = await call<Page>('GET', `${receipts}?${query}`)
  if (status !== 200) throw new Error(`No receipts for ${query}: ${status} ${JSON.stringify(body)}`)
  return body
}
const keysOf = ({ data }: Page) => data.map(({ idempotencyKey }) => idempotencyKey)

interface Stored {
  id?: string
  provider?: string
  receivedAt?: Date
}

/** As it is made when a delivery comes in. */
function idAt(time = new Date()): string {
  return firstIdOf(time.getTime()).slice(0, 13) + newId().slice(13)
}

/** Receipts with the keys `0`, `1` and so on, the oldest first. */
async function storeAccepted({ id: workspaceId, database }: Workspace, rows: Stored[]): Promise<void> {
  await database.webhookReceipt.createMany({
    data: rows.map((row, index) => ({
      id: idAt(row.receivedAt),
      workspaceId,
      provider: 'billing',
      key: String(index),
      bodyHash: Buffer.alloc(32, index),
      secretId: newId(),
      eventTypes: ['WEBHOOK_RECEIVED'],
      eventIds: [newId()],
      ...row,
    })),
  })
}

const finding = {
  code: 'no_match_of_provider',
  message: 'No mistake that we know explains this signature.',
  secretId: newId(),
}

async function storeRejected({ id: workspaceId, database }: Workspace, rows: Stored[]): Promise<void> {
  await database.webhookRejection.createMany({
    data: rows.map((row, index) => ({
      id: idAt(row.receivedAt),
      workspaceId,
      provider: 'billing',
      key: `rejected-${index}`,
      verified: false,
      reason: 'signature',
      findings: [finding],
      ...row,
    })),
  })
}

t.test('an accepted webhook is listed and read as documented', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id: workspaceId, database } = workspace
  const row = {
    id: newId(),
    provider: 'developer-fixture',
    key: 'evt_1:2-3',
    secretId: newId(),
    eventTypes: ['WEBHOOK_RECEIVED', 'LEAD_CREATED'],
    eventIds: [newId(), newId()],
    receivedAt: new Date('2026-01-02T03:04:05.678Z'),
  }
  await database.webhookReceipt.create({ data: { ...row, workspaceId, bodyHash: Buffer.alloc(32, 7) } })
  const receipt = {
    id: row.id,
    provider: 'developer-fixture',
    verified: true,
    receiptState: 'accepted',
    eventTypes: ['webhook_received', 'lead_created'],
    receivedAt: '2026-01-02T03:04:05.678Z',
    idempotencyKey: 'evt_1:2-3',
    signatureId: row.secretId,
    eventIds: row.eventIds,
  }
  t.strictSame(await list(workspace, 'provider=developer-fixture'), { data: [receipt], nextCursor: null })
  for (const id of [row.id, row.id.toUpperCase()])
    t.strictSame(statusAndBody(await workspace.callAs('viewer')('GET', `${receipts}/${id}`)), {
      status: 200,
      body: receipt,
    })
})

t.test('an accepted webhook has a receipt, and a refused one has its own', async (t) => {
  const workspace = await api.makeWorkspace()
  const sender = await makeSender(api, workspace)
  const body = JSON.stringify({ type: 'lead.created', data: { name: 'Ada' } })
  const accepted = await sender.deliver({ id: 'evt_1', body })
  t.equal(accepted.status, 202)
  t.equal((await sender.deliver({ id: 'evt_1', body })).status, 200, 'a replay')
  const refused = await sender.deliver({ id: 'evt_2', timestamp: nowText(-400) })
  t.equal(refused.status, 401)
  const { data } = await list(workspace)
  matchLists(t, data, [
    {
      id: accepted.body.id,
      idempotencyKey: 'evt_1',
      signatureId: sender.secretId,
      eventTypes: ['webhook_received', 'lead_created'],
    },
  ])
  t.equal(data.length, 1)
  // Nobody waits for it to be written down.
  let rejected = await list(workspace, 'state=rejected')
  for (; rejected.data.length === 0; await delay(20)) rejected = await list(workspace, 'state=rejected')
  matchLists(t, rejected.data, [
    { idempotencyKey: 'evt_2', verified: true, reason: 'timestamp', receiptState: 'rejected' },
  ])
})

t.test(
  'a rejected delivery is listed with state=rejected only, and its findings for admins only',
  async (t) => {
    const workspace = await api.makeWorkspace()
    await storeAccepted(workspace, [{}])
    const { id: workspaceId, database } = workspace
    const row = { id: newId(), provider: 'billing', key: null, verified: false, reason: 'header' }
    const receivedAt = new Date('2026-01-02T03:04:05.678Z')
    await database.webhookRejection.create({ data: { ...row, workspaceId, receivedAt, findings: [finding] } })
    const receipt = {
      id: row.id,
      provider: 'billing',
      verified: false,
      receiptState: 'rejected',
      eventTypes: [],
      receivedAt: receivedAt.toISOString(),
      idempotencyKey: null,
      reason: 'header',
    }
    t.strictSame(keysOf(await list(workspace)), ['0'])
    t.strictSame(keysOf(await list(workspace, 'state=accepted')), ['0'])
    t.strictSame((await list(workspace, 'state=rejected')).data, [{ ...receipt, findings: [finding] }])

    const makeKey = async (scopes: string[]) => {
      const body = { name: 'x', scopes }
      return (await workspace.call<{ key: string }>('POST', '/api/developer/v1/api-keys', { body })).body.key
    }
    const admins = [
      workspace.tokens.admin,
      await makeKey(['admin']),
      await makeKey(['receipts:read', 'admin']),
    ]
    const others = [
      ...(['viewer', 'operator', 'editor'] as const).map((role) => workspace.tokens[role]),
      await makeKey(['receipts:read']),
      await makeKey(['rules:write', 'receipts:read']),
    ]
    for (const token of [...admins, ...others]) {
      const expected = admins.includes(token) ? { ...receipt, findings: [finding] } : receipt
      const ask = (path: string) => api.call('GET', receipts + path, { token, workspace: workspace.id })
      t.strictSame((await ask('?state=rejected')).body, { data: [expected], nextCursor: null })
      t.strictSame((await ask(`/${row.id}`)).body, expected)
    }
  },
)

t.test('pages of either state have neither gaps nor duplicates, even with new receipts', async (t) => {
  const workspace = await api.makeWorkspace()
  const stores = { accepted: storeAccepted, rejected: storeRejected }
  for (const [state, store] of Object.entries(stores)) {
    await store(workspace, Array(120).fill({}))
    const all = await list(workspace, `state=${state}&limit=250`)
    t.equal(all.data.length, 120)
    t.equal(all.nextCursor, null)
    const ids = all.data.map(({ id }) => id)
    t.strictSame(ids, ids.toSorted().reverse(), 'newest first')
    for (const limit of [1, 7, 60, 119, 120, 121]) {
      const seen: Receipt[] = []
      let pages = 0
      for (let cursor: string | null = ''; cursor !== null && pages <= 120; pages++) {
        const page: Page = await list(
          workspace,
          `state=${state}&limit=${limit}${cursor && `&cursor=${cursor}`}`,
        )
        seen.push(...page.data)
        cursor = page.nextCursor
      }
      t.strictSame(seen, all.data, `pages of ${limit} are the whole`)
      t.equal(pages, Math.ceil(120 / limit))
    }
    const first = await list(workspace, `state=${state}`)
    t.strictSame(first.data, all.data.slice(0, 50), '50 without a limit')
    await store(workspace, [{ provider: 'newcomer' }])
    t.strictSame(
      (await list(workspace, `state=${state}&cursor=${first.nextCursor}`)).data,
      all.data.slice(50, 100),
    )
  }
})

t.test('receipts are filtered by provider and time: from is inclusive, to is exclusive', async (t) => {
  const workspace = await api.makeWorkspace()
  const at = (text: string) => new Date(text)
  const rows = [
    { receivedAt: at('2026-01-01T00:00:00Z') },
    { receivedAt: at('2026-01-01T23:59:59.999Z') },
    { receivedAt: at('2026-01-02T00:00:00Z'), provider: 'shop' },
    { receivedAt: at('2026-01-02T12:00:00Z') },
    { receivedAt: at('2026-01-03T00:00:00Z'), provider: 'shop' },
  ]
  await storeAccepted(workspace, rows)
  await storeRejected(workspace, rows)
  const cases: [query: string, found: number[]][] = [
    ['provider=shop', [4, 2]],
    ['provider=billing', [3, 1, 0]],
    ['provider=nobody', []],
    ['from=2026-01-02', [4, 3, 2]],
    ['to=2026-01-02', [1, 0]],
    ['from=2026-01-01T23:59:59.999Z&to=2026-01-02T12:00:00Z', [2, 1]],
    ['from=2026-01-02T02:00:00%2B02:00&to=2026-01-02T12:00:00.001Z', [3, 2]],
    ['from=2026-01-02&to=2026-01-02', []],
    ['provider=shop&from=2026-01-02&to=2026-01-03', [2]],
    ['provider=shop&from=2026-01-01&limit=1', [4]],
    ['from=0000-01-01', [4, 3, 2, 1, 0]],
    ['from=0001-01-01T00:00:00%2B23:59&to=9999-12-31T23:59:59-23:59', [4, 3, 2, 1, 0]],
    ['from=9999-12-31T23:59:59-23:59', []],
    ['to=0000-01-01', []],
  ]
  t.equal((await workspace.call('GET', `${receipts}?from=2026-01-03&to=2026-01-01`)).status, 400)
  for (const [query, found] of cases) {
    t.strictSame(keysOf(await list(workspace, query)), found.map(String), query)
    t.strictSame(
      keysOf(await list(workspace, `state=rejected&${query}`)),
      found.map((index) => `rejected-${index}`),
      `${query}, rejected`,
    )
  }
})

t.test('the time is that of Postgres, though the clock of an API differs', async (t) => {
  const workspace = await api.makeWorkspace()
  const receivedAt = new Date('2026-01-02T00:00:00Z')
  const halfAnHour = 30 * 60_000
  await storeAccepted(workspace, [
    { receivedAt, id: idAt(new Date(Number(receivedAt) - halfAnHour)) },
    { receivedAt, id: idAt(new Date(Number(receivedAt) + halfAnHour)) },
  ])
  const query = 'from=2026-01-02&to=2026-01-02T00:00:00.001Z'
  t.strictSame(keysOf(await list(workspace, query)), ['1', '0'])
  for (const other of ['to=2026-01-02', 'from=2026-01-02T00:00:00.001Z'])
    t.strictSame(keysOf(await list(workspace, other)), [], other)
})

t.test('an invalid query value is a 400', async (t) => {
  const { call } = await api.makeWorkspace()
  const bad = [
    'state=Accepted',
    'state=',
    'state=all',
    'state=accepted&state=rejected',
    'limit=0',
    'limit=251',
    'limit=-1',
    'limit=1.5',
    'limit=1e400',
    'limit=x',
    'cursor=x',
    'cursor=',
    `cursor=${Buffer.from('x').toString('base64url')}`,
    'cursor=%00',
    'from=yesterday',
    'from=',
    'from=2026-02-30',
    'from=2026-01-01T00:00:00',
    'from=1767225600000',
    'from=2026-01-01T00:00:00+02:00',
    'from=2026-01-01&from=2026-01-02',
    'to=%00',
    'to=2026-01-01T24:00:00Z',
    'provider=%00',
    'provider=a%00b',
    'provider=',
    'provider=A',
    'provider=a&provider=b',
    `provider=${'x'.repeat(65)}`,
  ]
  for (const query of bad) {
    const { status, body } = await call<{ error: string }>('GET', `${receipts}?${query}`)
    t.equal(status, 400, query)
    t.match(body, { error: String })
  }
  for (const query of ['provider=%ED%A0%80', 'from=\ud800', 'provider=\udfff'])
    t.equal((await call('GET', `${receipts}?${query}`)).status, 400, JSON.stringify(query))
  for (const query of ['x=1', 'workspaceId=x', 'OR=x'])
    t.match(await call('GET', `${receipts}?${query}`), { status: 400, body: { error: / is unknown\. / } })
})

t.test('a workspace sees its own receipts only', async (t) => {
  const [workspace, other] = [await api.makeWorkspace(), await api.makeWorkspace()]
  await storeAccepted(workspace, [{}, {}])
  await storeRejected(workspace, [{}, {}])
  for (const state of ['accepted', 'rejected']) {
    const { data, nextCursor } = await list(workspace, `state=${state}&limit=1`)
    t.strictSame(await list(other, `state=${state}`), { data: [], nextCursor: null })
    t.strictSame((await list(other, `state=${state}&cursor=${nextCursor}`)).data, [])
    for (const id of [data[0]?.id, newId(), 'x', '%00'])
      t.strictSame(statusAndBody(await other.call('GET', `${receipts}/${id}`)), notFound)
  }
})
