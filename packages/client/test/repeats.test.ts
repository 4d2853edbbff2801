import { readFile } from 'node:fs/promises'
import type { Operations } from '@automation/client'
import t, { type Test } from 'tap'
import { keyedOperations } from '../src/api.js'
import { ApiError } from '../src/api-error.js'
import { createClient } from '../src/create-client.js'
import { calls } from './fixtures/calls.js'
import { openFlakyServer, type Turn } from './fixtures/flaky-server.js'
import { createRandom } from './fixtures/random.js'

// Each has a server of its own, and waits for the pauses of its client.
t.jobs = 8

type Name = keyof Operations

const document = new URL('../../../../docs/openapi.json', import.meta.url)
interface Document {
  paths: Record<string, Record<string, { parameters?: { name?: string }[] }>>
}

/** They change nothing, or contain ids by which the API recognizes a repetition. */
const harmless: Name[] = [
  'POST /api/email-templates/{id}/preview',
  'POST /api/events/search',
  'POST /api/automation-rules/trigger/{eventType}/batch',
  'POST /api/events/batch',
  'POST /api/incoming-webhooks/{provider}/{workspaceId}',
]
const names = Object.keys(calls) as Name[]
const isKeyed = (name: Name) => keyedOperations.has(name)
const unkeyed = names.filter(
  (name) => /^(POST|PATCH|PUT) /.test(name) && !isKeyed(name) && !harmless.includes(name),
)

/** After each of these the request may have been done, or a repetition would not help. All have a Retry-After of 0. */
const statuses = [
  ...[301, 302, 303, 307, 308],
  ...[400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 422, 423, 425, 428, 431],
  ...[500, 501, 502, 503, 504, 505, 507, 508, 510, 511, 520, 524, 529, 599],
]
const failures: Turn[] = [
  'hang',
  'cut',
  'cut in the response',
  ...statuses.map((status) => ({
    status,
    headers: { 'retry-after': '0', location: '/elsewhere' },
    body: { error: 'No' },
  })),
]
/** After each of these the outcome of the request is unknown. */
const doubts: Turn[] = [
  'hang',
  'cut',
  'cut in the response',
  { status: 502 },
  { status: 503 },
  { status: 504 },
]

const random = createRandom()

/** So many failures, drawn by the seed of the run; in `npm run test:long` all of them. */
function draw(all: Turn[], count: number): Turn[] {
  if (process.env.TEST_LONG) return all
  const [...left] = all
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)).flat()
}

/** Makes a call whose first attempt fails in this way. */
async function callOnce(t: Test, name: Name, failure: Turn) {
  const { baseUrl, asked } = await openFlakyServer(t, [failure])
  const client = createClient({ baseUrl, apiKey: 'ark_test', timeoutMs: failure === 'hang' ? 1_000 : 10_000 })
  const error = await Promise.resolve(calls[name](client)).then(
    () => undefined,
    (fault: unknown) => fault,
  )
  return { error, asked }
}

const describe = (failure: Turn) => (typeof failure === 'string' ? failure : `${failure.status}`)

for (const name of unkeyed)
  t.test(`${name} without a key is sent once, however it fails`, async (t) => {
    for (const failure of draw(failures, 6)) {
      const { error, asked } = await callOnce(t, name, failure)
      t.ok(error instanceof ApiError, describe(failure))
      t.equal(asked.length, 1, `sent once after ${describe(failure)}`)
      t.equal(asked[0]?.headers['idempotency-key'], undefined)
    }
  })

for (const name of keyedOperations)
  t.test(`${name} is repeated with its key after an unknown outcome`, async (t) => {
    for (const failure of draw(doubts, 2)) {
      const { error, asked } = await callOnce(t, name, failure)
      t.equal(error, undefined, describe(failure))
      t.equal(asked.length, 2, `sent again after ${describe(failure)}`)
      const [first, second] = asked
      t.match(first?.headers['idempotency-key'], /^[0-9a-f]{32}$/)
      for (const part of ['what', 'body'] as const) t.equal(second?.[part], first?.[part])
      t.equal(second?.headers['idempotency-key'], first?.headers['idempotency-key'])
    }
  })

t.test('these tests cover every operation that changes something', async (t) => {
  const { paths } = JSON.parse(await readFile(document, 'utf8')) as Document
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === 'Idempotency-Key'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
  t.strictSame([...keyedOperations].sort(), documented.sort())
  t.ok(unkeyed.length >= 10, `${unkeyed.length} operations without a key`)
  const others = names.filter((name) => !isKeyed(name) && !unkeyed.includes(name) && !harmless.includes(name))
  t.strictSame(
    others.filter((name) => !/^(GET|DELETE) /.test(name)),
    [],
    'a repetition of any other operation has no further effect',
  )
})

t.test(
  'an update is repeated after an unknown outcome only with ifVersion, or it could undo a later change',
  async (t) => {
    for (const failure of doubts) {
      const { baseUrl, asked } = await openFlakyServer(t, [failure])
      const { rules } = createClient({ baseUrl, timeoutMs: failure === 'hang' ? 1_000 : 10_000 })
      await rules.update('x', { isActive: true }, { ifVersion: 3 })
      t.same(
        asked.map(({ headers }) => headers['if-match']),
        ['"3"', '"3"'],
        describe(failure),
      )
    }
  },
)
