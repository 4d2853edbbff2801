import t from 'tap'
import { type Client, createClient } from '../src/create-client.js'
import { type Fault, type FaultServer, networkFaults, openFaultServer } from './fixtures/fault-server.js'
import { findViolations, type Verdict } from './fixtures/oracle.js'
import { createRandom } from './fixtures/random.js'

// Every kind of call meets every fault, once and again and again; an oracle that knows nothing of the client examines what came of it.

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
  deleteDraft: { call: ({ rules }) => rules.drafts.delete('x'), isRepeatable: false },
  deleteDraftIfTag: {
    call: ({ rules }) => rules.drafts.delete('x', { ifTag: '"7"' }),
    isRepeatable: true,
  },
  endGuard: { call: ({ rules }) => rules.drafts.endGuard('x'), isRepeatable: false },
  endGuardIfVersion: {
    call: ({ rules }) => rules.drafts.endGuard('x', { ifVersion: 3 }),
    isRepeatable: true,
  },
  deleteEventType: { call: ({ eventTypes }) => eventTypes.delete('X'), isRepeatable: false },
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
const { TEST_LONG, TEST_LARGE } = process.env
const share = TEST_LARGE ? 1 : TEST_LONG ? 0.33 : 0.05
const passing = new Set([429, 502, 503, 504])
const browsersHide = new Set([301, 302, 303, 307, 308])

/** A fetch that numbers the attempts of a call, and notes to which of them it learned a response. */
function watch(learned: Set<string>, hidesRedirects: boolean): typeof fetch {
  let count = 0
  return async (url, init) => {
    const attempt = `${++count}`
    const headers = new Headers(init?.headers)
    headers.set('x-attempt', attempt)
    const response = await fetch(url, { ...init, headers })
    learned.add(attempt)
    const isHidden = hidesRedirects && browsersHide.has(response.status)
    return isHidden ? hide(response) : response
  }
}

/** What browsers make of a redirect that is not to be followed. */
async function hide(response: Response): Promise<Response> {
  await response.text()
  return { type: 'opaqueredirect', status: 0, headers: new Headers(), text: async () => '' } as Response
}

interface Scenario {
  name: string
  fault: Fault
  /** One fault, or more than the client has attempts. */
  times: number
  hidesRedirects: boolean
  keepsPace: boolean
  /** The usual word for "no timeout". */
  hasNoTimeout: boolean
}

/** Each call with each fault of the network, and the drawn share of all pairs of status and body. */
function* listScenarios(): Generator<Scenario> {
  const random = createRandom()
  const pick = (name: string, fault: Fault, times = random() < 0.5 ? 1 : 100): Scenario => ({
    name,
    fault,
    times,
    hidesRedirects: random() < 0.2,
    keepsPace: random() < 0.3,
    hasNoTimeout: random() < 0.2,
  })
  for (const name of Object.keys(calls)) {
    for (const fault of networkFaults) yield* [pick(name, fault, 1), pick(name, fault, 100)]
    for (const status of statuses)
      for (const body of bodies) {
        const chosen = headers[Math.floor(random() * headers.length)] ?? {}
        const scenario = pick(name, { status, headers: chosen, body })
        if (random() < share) yield scenario
      }
  }
}

const title = 'whatever fault a call meets, no write is done twice without a common key, and the call ends'

t.test(title, { timeout: 900_000 }, async (t) => {
  const server = await openFaultServer(t)
  const scenarios = [...listScenarios()]
  t.ok(scenarios.length >= 500, `${scenarios.length} cases`)
  const wrong = new Map<string, string[]>()
  let requests = 0
  const check = async (scenario: Scenario) => {
    const verdict = await run(server, scenario)
    requests += verdict.seen.length
    const times = verdict.seen.map(({ at }) => `${Math.round(at - verdict.startedAt)} ms`)
    for (const what of findViolations(verdict)) {
      const where = `${scenario.name}: ${what}`
      wrong.set(where, [...(wrong.get(where) ?? []), `${JSON.stringify(scenario)} ${times}`])
    }
  }
  // Those that wait wait together. The others are so many at a time that each gets its response soon.
  await Promise.all(scenarios.filter(({ fault }) => isSlow(fault)).map(check))
  const quick = scenarios.filter(({ fault }) => !isSlow(fault))
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      for (let one = quick.pop(); one !== undefined; one = quick.pop()) await check(one)
    }),
  )
  t.comment(`${scenarios.length} cases, ${requests} requests`)
  t.ok(requests > scenarios.length, 'faults were followed by repetitions')
  for (const [what, cases] of wrong) t.fail(`${what} (${cases.length} cases)`, { cases: cases.slice(0, 3) })
})

async function run(server: FaultServer, scenario: Scenario): Promise<Verdict> {
  const { name, fault, times, hidesRedirects, keepsPace, hasNoTimeout } = scenario
  const { call, isRepeatable } = calls[name] as (typeof calls)[string]
  const retries = 2
  const timeoutMs = isSlow(fault) ? 5_000 : 20_000
  const { baseUrl, seen } = server.open(fault, times)
  const learned = new Set<string>()
  const client = createClient({
    ...{ baseUrl, apiKey: 'ark_test', workspaceId: 'w', retries, keepsPace },
    timeoutMs: hasNoTimeout && !isSlow(fault) ? Number.POSITIVE_INFINITY : timeoutMs,
    fetch: watch(learned, hidesRedirects),
  })
  const startedAt = performance.now()
  const outcome = await endOf(() => call(client))
  const repeatsSafely = times === 1 && mustSucceed(name, fault, isRepeatable)
  const endedAt = performance.now()
  return {
    call: name,
    seen,
    learned,
    startedAt,
    endedAt,
    outcome,
    timeoutMs,
    retries,
    hidesRedirects,
    repeatsSafely,
  }
}

/** What becomes of a call within two minutes. */
async function endOf(call: () => PromiseLike<unknown>): Promise<Verdict['outcome']> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'did not end'>((resolve) => {
    timer = setTimeout(() => resolve('did not end'), 120_000)
  })
  const ended = Promise.resolve()
    .then(call)
    .then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
  const outcome = await Promise.race([ended, late])
  clearTimeout(timer)
  return outcome
}

/** Whether a call waits for its timeout: in vain, or because the first request with its key seems to run. */
function isSlow(fault: Fault): boolean {
  if (typeof fault !== 'string') return fault.status === 409
  return fault === 'no response' || fault === 'a body without end'
}

function mustSucceed(name: string, fault: Fault, isRepeatable: boolean): boolean {
  // It has less time than the longest pause.
  if (name === 'waitUntilDone') return false
  if (typeof fault === 'string') return isRepeatable && fault !== 'a wrong content length'
  if (fault.headers['retry-after'] === '3600') return false
  return fault.status === 429 || (isRepeatable && passing.has(fault.status))
}
