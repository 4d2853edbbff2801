import { availableParallelism } from 'node:os'
import t from 'tap'
import { type Client, createClient } from '../src/create-client.js'
import { type Fault, networkFaults, openFaultServer } from './fixtures/fault-server.js'
import { judge, type Verdict } from './fixtures/oracle.js'

// Every kind of call meets every fault, once and again and again; an oracle that knows nothing of the client judges what came of it.

const events = [0, 1, 2].map((number) => ({ data: { number } }))
const webhook = { provider: 'p', id: 'evt_1', body: {}, secretId: 's1', secret: 'whsec_c2VjcmV0' }

/** `isRepeatable`: the client's README promises that it repeats the call. */
const calls: Record<string, { call: (client: Client) => PromiseLike<unknown>; isRepeatable: boolean }> = {
  get: { call: ({ rules }) => rules.get('x'), isRepeatable: true },
  list: { call: ({ tasks }) => tasks.list().all(), isRepeatable: true },
  create: {
    call: ({ rules }) => rules.create({ name: 'x', trigger: 'LEAD_CREATED', actions: [] as never }),
    isRepeatable: true,
  },
  trigger: { call: (client) => client.trigger('LEAD_CREATED', {}, { async: true }), isRepeatable: true },
  triggerBatch: { call: (client) => client.triggerBatch('LEAD_CREATED', events), isRepeatable: true },
  deliver: { call: ({ webhooks }) => webhooks.deliver(webhook), isRepeatable: true },
  delete: { call: ({ rules }) => rules.delete('x'), isRepeatable: true },
  updateIfVersion: {
    call: ({ rules }) => rules.update('x', { name: 'y' }, { ifVersion: 3 }),
    isRepeatable: true,
  },
  update: { call: ({ rules }) => rules.update('x', { name: 'y' }), isRepeatable: false },
  toggle: { call: ({ rules }) => rules.toggle('x'), isRepeatable: false },
  createKey: {
    call: ({ developer }) => developer.apiKeys.create({ name: 'x', scopes: ['admin'] }),
    isRepeatable: false,
  },
  waitUntilDone: {
    call: ({ events }) => events.waitUntilDone('x', { timeoutMs: 3_000 }),
    isRepeatable: true,
  },
}

const statuses = [
  ...[200, 201, 202, 203, 204, 206],
  ...[301, 302, 303, 307, 308],
  ...[400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 415, 422, 425, 429, 431],
  ...[500, 501, 502, 503, 504, 507, 511, 520, 524, 599],
]
const headers: Record<string, string>[] = [
  {},
  { 'retry-after': '0' },
  { 'retry-after': '1' },
  { 'retry-after': '3600' },
  { 'retry-after': 'soon' },
  { 'retry-after': '-1' },
  { 'retry-after': 'Mon, 01 Jan 2001 00:00:00 GMT' },
]
const bodies = [
  '',
  '{"error":"Service temporarily unavailable"}',
  '{"errors":[{"field":"name","message":"Required"}]}',
  '<html><h1>Bad gateway</h1></html>',
  'null',
  '"ok"',
  '[]',
  '{}',
  '{"errors":{}}',
  '{"errors":"x"}',
  '{"errors":[null]}',
  '{"error":{"code":503,"message":"Backend"}}',
  '{"results":[{"status":"accepted"}],"tasks":7}',
  '{"id":"x1","sta',
]
const passing = new Set([429, 502, 503, 504])
const browsersHide = new Set([301, 302, 303, 307, 308])

/** What browsers make of a redirect that is not to be followed. */
const browserFetch: typeof fetch = async (url, init) => {
  const response = await fetch(url, init)
  if (!browsersHide.has(response.status)) return response
  await response.text()
  return { type: 'opaqueredirect', status: 0, headers: new Headers(), text: async () => '' } as Response
}

/** Each call with each status and body; headers, the number of faults, runtime and pace take turns. */
function* listCases() {
  const seed = Number(process.env.TEST_SEED ?? 1)
  let turn = seed
  for (const [name, { call, isRepeatable }] of Object.entries(calls)) {
    for (const status of statuses)
      for (const body of bodies) {
        turn += 1
        const fault: Fault = { status, headers: headers[turn % headers.length] ?? {}, body }
        yield { name, call, isRepeatable, fault, turn }
      }
    for (const fault of networkFaults)
      for (let copy = 0; copy < 4; copy++) yield { name, call, isRepeatable, fault, turn: ++turn }
  }
}

t.test(
  'whatever fault a call meets, no write is done twice without a common key, and the call ends',
  async (t) => {
    t.setTimeout(600_000)
    const server = await openFaultServer(t)
    const open = [...listCases()]
    const count = open.length
    const wrong = new Map<string, string[]>()
    let requests = 0
    t.ok(count >= 500, `${count} cases`)
    await Promise.all(
      Array.from({ length: 100 * availableParallelism() }, async () => {
        for (let one = open.pop(); one !== undefined; one = open.pop()) {
          const verdict = await run(server, one)
          requests += verdict.seen.length
          const { name, fault } = one
          for (const what of judge(verdict)) {
            const where = `${name}: ${what}`
            const seen = verdict.seen.map((request) => `${Math.round(request.at - verdict.startedAt)} ms`)
          wrong.set(where, [...(wrong.get(where) ?? []), `${JSON.stringify(fault)} ${one.turn} ${seen}`])
          }
        }
      }),
    )
    t.comment(`${count} cases, ${requests} requests`)
    t.ok(requests > count, 'faults were followed by repetitions')
    for (const [what, faults] of wrong)
      t.fail(`${what} (${faults.length} cases)`, { faults: faults.slice(0, 3) })
  },
)

type Scenario = ReturnType<typeof listCases> extends Generator<infer One> ? One : never
type Server = Awaited<ReturnType<typeof openFaultServer>>

async function run(server: Server, { name, call, isRepeatable, fault, turn }: Scenario): Promise<Verdict> {
  const retries = 2
  const isSilent = fault === 'no response' || fault === 'a body without end'
  // While the first request with its key seems to run, a call is repeated until its timeout.
  const isQuick = !isSilent && (typeof fault === 'string' || fault.status !== 409)
  const timeoutMs = isQuick ? 20_000 : 2_500
  // One fault, or more than the client has attempts.
  const times = turn % 2 === 0 ? 1 : 100
  const hidesRedirects = turn % 7 === 0
  const { baseUrl, seen } = server.open(fault, times)
  const client = createClient({
    baseUrl,
    apiKey: 'ark_test',
    workspaceId: 'w',
    // Infinity is the usual word for "no timeout".
    timeoutMs: isQuick && turn % 5 === 0 ? Number.POSITIVE_INFINITY : timeoutMs,
    retries,
    keepsPace: turn % 3 === 0,
    ...(hidesRedirects ? { fetch: browserFetch } : {}),
  })
  const startedAt = performance.now()
  const ending = new AbortController()
  const outcome = await Promise.race([
    Promise.resolve()
      .then(() => call(client))
      .then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      ),
    new Promise<'did not end'>((resolve) => {
      const timer = setTimeout(() => resolve('did not end'), 120_000)
      ending.signal.addEventListener('abort', () => clearTimeout(timer))
    }),
  ])
  const endedAt = performance.now()
  ending.abort()
  return {
    call: name,
    seen,
    startedAt,
    endedAt,
    outcome,
    timeoutMs,
    retries,
    hidesRedirects,
    repeatsSafely: times === 1 && mustSucceed(name, fault, isRepeatable),
  }
}

function mustSucceed(name: string, fault: Fault, isRepeatable: boolean): boolean {
  // It has less time than the longest pause.
  if (name === 'waitUntilDone') return false
  if (typeof fault === 'string') return isRepeatable && fault !== 'a wrong content length'
  if (fault.headers['retry-after'] === '3600') return false
  return fault.status === 429 || (isRepeatable && passing.has(fault.status))
}
