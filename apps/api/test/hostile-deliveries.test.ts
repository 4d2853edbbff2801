import type { AddressInfo } from 'node:net'
import { retireSigningSecret, revokeSigningSecret } from '@automation/access'
import { newId } from '@automation/database'
import { readSigningKey } from '@automation/webhooks'
import t from 'tap'
import { startApi, type Workspace } from './fixtures/api.js'
import { drawOneIn } from './fixtures/draw-one-in.js'
import { listBodyMutants } from './fixtures/hostile/body-mutants.js'
import { listEquivalents } from './fixtures/hostile/equivalents.js'
import { listFramingMutants } from './fixtures/hostile/framing-mutants.js'
import { listHeaderMutants } from './fixtures/hostile/header-mutants.js'
import { type Mutant, newDelivery, type Place, requestOf } from './fixtures/hostile/mutant.js'
import { listPathMutants } from './fixtures/hostile/path-mutants.js'
import { type RawAnswer, type RawRequest, sendRaw } from './fixtures/hostile/raw-request.js'
import { listSignatureMutants } from './fixtures/hostile/signature-mutants.js'
import { listSignedMutants } from './fixtures/hostile/signed-mutants.js'
import { makeSender, provider } from './fixtures/sender.js'

const api = await startApi(t)
await api.app.listen({ host: '127.0.0.1', port: 0 })
const { port } = api.app.server.address() as AddressInfo
const send = (request: RawRequest) => sendRaw(port, request)

const neighbour = await api.makeWorkspace()
const foreign = await makePlace(neighbour)

t.test('each mutant is refused, and its original is accepted right afterwards', async (t) => {
  const workspace = await api.makeWorkspace()
  const place = await makePlace(workspace)
  const all = await listMutants(workspace, place)
  t.ok(all.length >= 1_000, `${all.length} mutants`)
  t.equal(new Set(all.map(({ title }) => title)).size, all.length, 'no two are the same')
  // One whose signature is right and whose time is not is always there.
  const [stale] = all.filter(
    ({ title, status }) => title.startsWith('a signed timestamp: ') && status === 401,
  )
  const mutants = [...new Set([...drawOneIn(8, all), ...(stale ? [stale] : [])])]

  const surprises: string[] = []
  const originals: string[] = []
  const unauthenticated = new Set<string>()
  await inParallel(mutants, async ({ title, status, mutate }) => {
    const delivery = newDelivery(place)
    const refused = await send(mutate(delivery))
    if (refused.status !== status) surprises.push(`${title}: ${refused.status}, not ${status}`)
    if (refused.status === 401) unauthenticated.add(describeAnswer(refused))
    const accepted = await send(requestOf(delivery))
    if (accepted.status !== 202) surprises.push(`${title}: its original ${accepted.status}`)
    originals.push(delivery.id)
  })
  t.strictSame(surprises, [])
  t.equal(unauthenticated.size, 2, 'a 401 says no more than whether the timestamp was right')

  const receipts = await workspace.database.webhookReceipt.findMany()
  t.strictSame(receipts.map(({ key }) => key).sort(), originals.sort(), 'only the originals are stored')
  const events = await workspace.database.event.findMany({ select: { id: true } })
  t.strictSame(events.map(({ id }) => id).sort(), receipts.flatMap(({ eventIds }) => eventIds).sort())
  t.equal(events.length, 2 * mutants.length, 'each became its two events')
  t.equal(await neighbour.database.webhookReceipt.count(), 0, 'and no neighbour got any')
  t.equal(await neighbour.database.event.count(), 0)
})

t.test('other valid forms of the same delivery are accepted', async (t) => {
  const workspace = await api.makeWorkspace()
  const place = await makePlace(workspace)
  for (const { title, status, mutate } of listEquivalents()) {
    const delivery = newDelivery(place)
    t.equal((await send(mutate(delivery))).status, status, title)
    t.equal((await send(requestOf(delivery))).status, 200, `${title}: the original is its replay`)
  }
})

t.test('every 401 has the same bytes', async (t) => {
  const workspace = await api.makeWorkspace()
  const place = await makePlace(workspace)
  const delivery = newDelivery(place)
  const right = requestOf(delivery)
  const strangers: Record<string, RawRequest> = {
    'wrong signature': requestOf(delivery, `v1=${'0'.repeat(64)}`),
    'no signature at all': requestOf(delivery, '-'),
    'wrong secret': requestOf({ ...delivery, key: foreign.key }),
    'unknown secret': requestOf({ ...delivery, secretId: newId() }),
    'secret of another workspace': requestOf({ ...delivery, secretId: foreign.secretId, key: foreign.key }),
    'revoked secret': requestOf({ ...delivery, ...(await makeRevoked(workspace)) }),
    'retired secret': requestOf({ ...delivery, ...(await makeRetired(workspace)) }),
    'no secret’s id': requestOf({ ...delivery, secretId: 'main' }),
    'unknown workspace': requestOf({ ...delivery, workspaceId: newId() }),
    'another workspace': requestOf({ ...delivery, workspaceId: neighbour.id }),
    'no workspace’s id': requestOf({ ...delivery, workspaceId: 'ours' }),
    'unknown provider': requestOf({ ...delivery, provider: 'nobody' }),
    'no provider’s name': requestOf({ ...delivery, provider: '%00' }),
    'wrong id': {
      ...right,
      headers: requestOf({ ...delivery, id: 'another' }, right.headers[5]?.[1]).headers,
    },
  }
  const answers = new Map<string, string[]>()
  for (const [title, request] of Object.entries(strangers)) {
    const answer = await send(request)
    t.equal(answer.status, 401, title)
    const description = describeAnswer(answer)
    answers.set(description, [...(answers.get(description) ?? []), title])
  }
  t.strictSame([...answers.values()], [Object.keys(strangers)])
  t.equal((await send(right)).status, 202, 'what they all were made of')
})

async function listMutants(workspace: Workspace, place: Place): Promise<Mutant[]> {
  const another = await makeSender(api, workspace, 'another')
  return [
    ...listHeaderMutants(place),
    ...listSignatureMutants({
      'another workspace': foreign.key,
      'another provider': another.key,
      'the same provider': (await makePlace(workspace)).key,
      'a revoked one': (await makeRevoked(workspace)).key,
    }),
    ...listSignedMutants(),
    ...listPathMutants(place, { provider: 'another', workspaceId: neighbour.id }),
    ...listBodyMutants(),
    ...listFramingMutants(),
  ]
}

async function makePlace(workspace: Workspace): Promise<Place> {
  const { secretId, secret } = await makeSender(api, workspace)
  return { provider, workspaceId: workspace.id, secretId, key: readSigningKey(secret) }
}

async function makeRevoked(workspace: Workspace): Promise<Place> {
  const place = await makePlace(workspace)
  await revokeSigningSecret(administrator(workspace), place.secretId)
  return place
}

async function makeRetired(workspace: Workspace): Promise<Place> {
  const place = await makePlace(workspace)
  await retireSigningSecret(administrator(workspace), place.secretId, -1)
  return place
}

function administrator({ id }: Workspace) {
  return { database: api.app.database, workspaceId: id, actor: 'cli:tests' }
}

/** The parts of a response that could reveal something, without the fields that differ in every response. */
function describeAnswer({ status, headers, body }: RawAnswer): string {
  const own = /^(date|x-request-id|x-ratelimit-remaining|x-ratelimit-reset)$/
  const lines = headers.map(([name, value]) => `${name}: ${own.test(name.toLowerCase()) ? '*' : value}`)
  return [status, ...lines, '', body].join('\n')
}

async function inParallel<Item>(items: Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const item of waiting) await work(item)
    }),
  )
}
