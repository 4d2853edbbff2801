import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import { startPatientClock } from '@automation/launcher/patient-clock'
import { signWebhook } from '@automation/webhooks'
import t from 'tap'
import { type Api, mint, rules, startApi } from './fixtures/api.js'
import { makeProvider } from './fixtures/provider.js'
import { makeSender, nowText, provider, type Sender } from './fixtures/sender.js'

const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const bodiesInFlightBytes = 4_194_304
const api = await startApi(t, { DATABASE_URL, TRUST_PROXY: '127.0.0.1' }, { bodiesInFlightBytes })
const port = await listen(api)
const trigger = `${rules}/trigger/LEAD_CREATED`
const later = { prefer: 'respond-async' }
const large = { body: { data: { text: 'x'.repeat(400_000) } }, headers: later }
const waitMs = 60_000

type Headers = Record<string, string>

/** The bodies of these tests have all the time that they need: a busy machine sends them slowly. */
async function listen({ app }: Api): Promise<number> {
  app.server.requestTimeout = 0
  app.server.headersTimeout = 0
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

/** A request as bytes, whose body may stay unfinished. */
function send(method: string, path: string, headers: Headers, body: Buffer | string, to = port) {
  const socket = connect(to, '127.0.0.1')
  socket.setTimeout(waitMs, () => socket.destroy(new Error('No answer')))
  const lines = Object.entries({ host: 'x', 'content-type': 'application/json', ...headers })
  socket.write(
    `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  )
  socket.write(body)
  const ended = buffer(socket).then((bytes) => bytes.toString('latin1'))
  const status = ended.then((text) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0))
  // Where the test ends it first.
  ended.catch(() => {})
  status.catch(() => {})
  return { socket, ended, status }
}

const half = Buffer.alloc(1_000_000, ' ')
const halfLength = { 'content-length': '1040000' }

/** The headers of a delivery whose signature nobody has checked. */
const delivering = (secretId: string, headers: Headers = {}): Headers => ({
  'x-idempotency-key': newId(),
  'x-timestamp': nowText(),
  'x-signature': `v1=${'0'.repeat(64)}`,
  'x-signature-id': secretId,
  ...headers,
})
const webhooksOf = (workspaceId: string) => `/api/incoming-webhooks/${provider}/${workspaceId}`

/** A delivery over the network, right in all. */
function deliver({ key, secretId }: Sender, workspaceId: string, body: string) {
  const [id, timestamp] = [newId(), nowText()]
  return send(
    'POST',
    webhooksOf(workspaceId),
    {
      ...delivering(secretId),
      'x-idempotency-key': id,
      'x-timestamp': timestamp,
      'x-signature': signWebhook(key, { id, timestamp, body }),
      'content-length': String(body.length),
      connection: 'close',
    },
    body,
  ).status
}

/** Waits until all bodies take so many bytes. */
async function untilTaken(bytes: number, { app }: Api = api): Promise<void> {
  const clock = startPatientClock()
  while (app.bodyBudget.taken !== bytes && clock() < 20_000) await setTimeout(20)
}

/** How many of these requests get no response, once they take so many bytes and the others have one, and the statuses of the others. */
async function settle(sent: ReturnType<typeof send>[], open: number, bytes: number) {
  const statuses: number[] = []
  for (const { status } of sent)
    status.then(
      (one) => statuses.push(one),
      () => statuses.push(0),
    )
  await untilTaken(bytes)
  const clock = startPatientClock()
  while (statuses.length < sent.length - open && clock() < 20_000) await setTimeout(20)
  // One more would have its response by now.
  await setTimeout(200)
  return { open: sent.length - statuses.length, others: [...new Set(statuses)] }
}

/** Ends requests, which then take nothing. */
async function hangUp(sent: ReturnType<typeof send>[]): Promise<void> {
  for (const { socket } of sent) socket.destroy()
  await untilTaken(0)
}

t.test(
  'a workspace has a quarter of the memory for large bodies, and leaves the rest to others',
  async (t) => {
    const busy = await api.makeWorkspace()
    const quiet = await api.makeWorkspace()
    const refused = async () => (await api.app.metrics.bodiesRefused.get()).values[0]?.value ?? 0
    const before = await refused()
    await api.app.database.system
      .$transaction(async (transaction) => {
        // Events wait here, and hold their bodies.
        await transaction.$executeRaw`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`
        const asked = Array.from({ length: 20 }, () => busy.call('POST', trigger, large))
        const small = busy.call('POST', trigger, { body: { data: {} }, headers: later })
        const other = quiet.call('POST', trigger, large)
        const first = await Promise.race(asked)
        t.match(first, {
          status: 429,
          headers: { 'retry-after': '1' },
          body: { error: /\(at most 4194304 bytes, 1048576 of one workspace\)/ },
        })
        await transaction.$executeRaw`ROLLBACK`
        const statuses = (await Promise.all(asked)).map(({ status }) => status)
        t.equal(statuses.filter((status) => status === 202).length, 2, '2 of 400,000 bytes are in 1 MiB')
        t.equal(statuses.filter((status) => status === 429).length, 18)
        t.equal((await refused()) - before, 18, 'and each is counted')
        t.equal((await small).status, 202)
        t.equal((await other).status, 202)
      })
      .catch(() => {})
    t.equal((await busy.call('POST', trigger, large)).status, 202, 'and it is free again')
  },
)

t.test('a caller who hangs up before the response holds nothing', async (t) => {
  const own = await startApi(t, { DATABASE_URL }, { bodiesInFlightBytes })
  let arrived = 0
  // The response is written to a socket that is gone.
  own.app.server.prependListener('request', (message: IncomingMessage) => {
    message.on('end', () => {
      arrived++
      message.socket.destroy()
    })
  })
  const ownPort = await listen(own)
  const { id, tokens, call } = await own.makeWorkspace()
  const victim = await own.makeWorkspace()
  const { secretId } = await makeSender(own, victim)
  const body = JSON.stringify(large.body)
  const length = { 'content-length': String(body.length) }
  const posts: [path: string, headers: Headers][] = [
    [trigger, { authorization: `Bearer ${tokens.operator}`, 'x-workspace-id': id, ...later }],
    [webhooksOf(victim.id), delivering(newId())],
    [webhooksOf(victim.id), delivering(secretId)],
  ]
  for (const [path, headers] of posts)
    for (let n = 0; n < 12; n++)
      await send('POST', path, { ...headers, ...length }, body, ownPort).status.catch(() => {})
  t.ok(arrived > 20, `${arrived} of 36: many more than a share`)
  await untilTaken(0, own)
  t.equal((await call('POST', trigger, large)).status, 202)
  t.equal((await victim.call('POST', trigger, large)).status, 202)
  const { deliver: deliverSigned } = await makeSender(own, victim)
  t.equal((await deliverSigned({ body: JSON.stringify(large.body) })).status, 202)
})

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** The bytes of buffers that somebody holds: what is garbage by now is nobody's. */
function readHeld(): number {
  collectGarbage()
  return process.memoryUsage().arrayBuffers
}

t.test(
  'strangers with unfinished webhooks take some bytes of an address, and no memory of senders',
  async (t) => {
    const workspace = await api.makeWorkspace()
    const sender = await makeSender(api, workspace)
    const before = readHeld()
    const sent = Array.from({ length: 200 }, () =>
      send('POST', webhooksOf(workspace.id), { ...delivering(newId()), ...halfLength }, half),
    )
    const { open, others } = await settle(sent, 1, 1_040_000)
    t.equal(open, 1, 'one is larger than half of the quarter of strangers')
    t.strictSame(others, [429], 'the others are refused before their bodies')
    const held = readHeld() - before
    t.ok(held < 20_000_000, `${held} bytes are held`)
    t.equal(
      await deliver(sender, workspace.id, '{}'),
      202,
      'a signed delivery of the same address is accepted',
    )
    t.equal(
      await deliver(sender, workspace.id, JSON.stringify({ text: 'x'.repeat(500_000) })),
      202,
      'also a large one',
    )
    t.equal((await workspace.call('POST', trigger, large)).status, 202, 'and so is a caller')
    await hangUp(sent)
  },
)

t.test(
  'nobody learns before the end of a body whether a provider has secrets, and none fills its part',
  async (t) => {
    const workspace = await api.makeWorkspace()
    await makeProvider(api, workspace, 'github')
    const sender = await makeSender(api, workspace)
    const headers = { 'x-hub-signature-256': 'sha256=00', 'content-length': '200000' }
    for (const [at, known] of ['github', 'nobody'].entries()) {
      const sent = Array.from({ length: 5 }, () =>
        send(
          'POST',
          `/api/incoming-webhooks/${known}/${workspace.id}`,
          { ...headers, 'x-forwarded-for': `203.0.113.${100 + at}` },
          half.subarray(0, 100_000),
        ),
      )
      t.strictSame(await settle(sent, 2, 400_000), { open: 2, others: [429] }, known)
      t.equal(await deliver(sender, workspace.id, JSON.stringify({ text: 'x'.repeat(500_000) })), 202)
      await hangUp(sent)
    }
  },
)

t.test('strangers of many addresses share one part', async (t) => {
  const workspace = await api.makeWorkspace()
  const sent = Array.from({ length: 40 }, (_, index) =>
    send(
      'POST',
      webhooksOf(index % 2 ? workspace.id : newId()),
      { ...delivering(newId()), 'x-forwarded-for': `203.0.113.${index}`, 'content-length': '300000' },
      half.subarray(0, 200_000),
    ),
  )
  const { open, others } = await settle(sent, 3, 900_000)
  t.equal(open, 3, '3 of 300,000 bytes are in 1 MiB')
  t.strictSame(others, [429])
  t.equal((await workspace.call('POST', trigger, large)).status, 202)
  await hangUp(sent)
  const next = send('POST', webhooksOf(workspace.id), { ...delivering(newId()), ...halfLength }, half)
  t.strictSame(await settle([next], 1, 1_040_000), { open: 1, others: [] }, 'and the part is free again')
  await hangUp([next])
})

t.test('a small unfinished body counts, too', async (t) => {
  const sent = Array.from({ length: 30 }, () =>
    send(
      'POST',
      webhooksOf(newId()),
      { ...delivering(newId()), 'content-length': '60000' },
      half.subarray(0, 50_000),
    ),
  )
  const { open, others } = await settle(sent, 8, 480_000)
  t.equal(open, 8, '8 of 60,000 bytes are in half of a quarter of 4 MiB')
  t.strictSame(others, [429])
  await hangUp(sent)
})

t.test('a provider sends forty webhooks at once from one address, and each is accepted', async (t) => {
  const workspace = await api.makeWorkspace()
  const { path, sign } = await makeProvider(api, workspace, 'github')
  const sent = Array.from({ length: 40 }, (_, number) => {
    const body = JSON.stringify({ number, text: 'x'.repeat(12_000) })
    const headers = { ...sign({ body }), 'content-length': String(body.length), connection: 'close' }
    const { length } = body
    return { ...send('POST', path, headers, body.slice(0, 6_000)), rest: body.slice(6_000), length }
  })
  const bytes = sent.reduce((sum, { length }) => sum + length, 0)
  t.strictSame(await settle(sent, 40, bytes), { open: 40, others: [] }, 'each is on its way')
  for (const { socket, rest } of sent) socket.write(rest)
  const statuses = await Promise.all(sent.map(({ status }) => status))
  t.strictSame([...new Set(statuses)], [202])
})

t.test('chunks count as they come', async (t) => {
  const workspace = await api.makeWorkspace()
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')])
  const chunked = { 'transfer-encoding': 'chunked' }
  const member = {
    authorization: `Bearer ${workspace.tokens.operator}`,
    'x-workspace-id': workspace.id,
    ...later,
  }
  const sent = [1, 2].map(() =>
    send('POST', trigger, { ...member, ...chunked }, Buffer.concat(Array(8).fill(chunk))),
  )
  t.strictSame(await settle(sent, 2, 1_048_576), { open: 2, others: [] }, 'twice half of a share')
  const third = send('POST', trigger, { ...member, ...chunked }, Buffer.concat([chunk, chunk]))
  t.equal(await third.status, 429)
  t.equal((await workspace.call('POST', trigger, { body: { data: {} }, headers: later })).status, 202)
  t.equal((await workspace.call('POST', trigger, large)).status, 429)
  const last = '{"data":{}}'
  for (const { socket } of sent) socket.write(`${last.length.toString(16)}\r\n${last}\r\n0\r\n\r\n`)
  await hangUp(sent)
  t.equal((await workspace.call('POST', trigger, large)).status, 202)
})

t.test('a body in many chunks takes no more memory than its bytes', async (t) => {
  const { id, tokens } = await api.makeWorkspace()
  const headers = {
    authorization: `Bearer ${tokens.operator}`,
    'x-workspace-id': id,
    ...later,
    'transfer-encoding': 'chunked',
    connection: 'close',
  }
  const before = process.memoryUsage().heapUsed
  const sent = send('POST', trigger, headers, Buffer.from('1\r\n \r\n'.repeat(900_000)))
  t.strictSame(await settle([sent], 1, 900_000), { open: 1, others: [] })
  const held = process.memoryUsage().heapUsed - before
  t.ok(held < 40_000_000, `${held} bytes are held`)
  sent.socket.write('b\r\n{"data":{}}\r\n0\r\n\r\n')
  t.equal(await sent.status, 202)
})

t.test('what the headers refuse is refused before the body is read', async (t) => {
  const limited = await startApi(t, {
    DATABASE_URL,
    RATE_LIMIT_AUTHENTICATED: '1/3',
    RATE_LIMIT_ANONYMOUS: '1/30',
  })
  const limitedPort = await listen(limited)
  const { id, tokens } = await api.makeWorkspace()
  const as = (token: string, workspace = id) => ({
    authorization: `Bearer ${token}`,
    'x-workspace-id': workspace,
  })
  const cases: [title: string, status: number, path: string, headers: Headers, method?: string][] = [
    ['no token', 401, trigger, {}],
    ['a token that is none', 401, trigger, as('garbage')],
    ['no workspace', 400, trigger, { authorization: `Bearer ${tokens.admin}` }],
    ['a workspace of others', 403, trigger, as(tokens.admin, newId())],
    ['a user of no workspace', 403, trigger, as(await mint('stranger'))],
    ['a role that is too low', 403, rules, { ...as(tokens.viewer), 'content-length': '200000' }],
    ['an unknown path', 404, '/api/nothing', as(tokens.admin)],
    ['an unknown path without a token', 404, '/api', {}],
    ['another method', 405, rules, as(tokens.admin), 'PATCH'],
    ['another type', 415, trigger, { ...as(tokens.admin), 'content-type': 'text/plain' }],
    ['another type without a token', 415, trigger, { 'content-type': 'text/plain' }],
    ['an encoding', 415, trigger, { ...as(tokens.admin), 'content-encoding': 'gzip' }],
    ['a length over the limit', 413, trigger, { 'content-length': '1048577' }],
    ['a webhook without headers', 400, webhooksOf(id), {}],
    [
      'a webhook with an impossible id',
      400,
      webhooksOf(id),
      delivering(newId(), { 'x-idempotency-key': 'a b' }),
    ],
    ['a webhook of another type', 415, webhooksOf(id), delivering(newId(), { 'content-type': 'text/plain' })],
    ['a compressed webhook', 415, webhooksOf(id), delivering(newId(), { 'content-encoding': 'br' })],
    ['a webhook over the limit', 413, webhooksOf(id), delivering(newId(), { 'content-length': '1048577' })],
  ]
  await Promise.all(
    cases.map(async ([title, status, path, headers, method = 'POST']) => {
      // Its body never ends.
      const { ended } = send(method, path, { ...halfLength, ...headers }, half)
      const answer = await ended
      t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), title)
      t.match(answer, /^connection: close\r$/im, `${title}: closed`)
    }),
  )
  const own = await limited.makeWorkspace()
  const callers: [headers: Headers, statuses: number[]][] = [
    [{ authorization: `Bearer ${own.tokens.viewer}`, 'x-workspace-id': own.id }, [403, 403, 403, 429]],
  ]
  for (const [headers, statuses] of callers)
    for (const status of statuses)
      t.equal(
        await send(
          'POST',
          rules,
          { ...headers, 'content-length': '200000' },
          half.subarray(0, 100_000),
          limitedPort,
        ).status,
        status,
      )
})

t.test('a caller who goes on sending gets the refusal, and no reset', async (t) => {
  const { id } = await api.makeWorkspace()
  for (const [path, headers, status] of [
    [trigger, {}, 401],
    [webhooksOf(id), {}, 400],
    ['/api/nothing', {}, 404],
    [trigger, { 'content-length': '8000000' }, 413],
  ] as [string, Headers, number][]) {
    const { socket, ended } = send('POST', path, { ...halfLength, ...headers }, half)
    socket.write(Buffer.alloc(5_000_000, ' '))
    t.match(await ended, new RegExp(`^HTTP/1.1 ${status} [^]*\\r\\n\\r\\n\\{"error":".*"\\}$`), path)
  }
  const piped = send('POST', trigger, { 'content-length': '100000' }, half.subarray(0, 50_000))
  await setTimeout(100)
  const further = `${' '.repeat(50_000)}GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`
  piped.socket.write(further)
  t.equal(
    (await piped.ended).split('HTTP/1.1 ').length,
    2,
    'a further request on the connection is not executed',
  )
})

t.test('nobody learns before the end of a body whether its secret exists', async (t) => {
  const workspace = await api.makeWorkspace()
  const { secretId } = await makeSender(api, workspace)
  const body = JSON.stringify({ text: 'x'.repeat(200_000) })
  const headers = (id: string) => ({
    ...delivering(id),
    'content-length': String(body.length),
    connection: 'close',
  })
  const sent = [secretId, newId(), 'main'].map((id) =>
    send('POST', webhooksOf(workspace.id), headers(id), body.slice(0, 100_000)),
  )
  t.strictSame(await settle(sent, 3, 3 * body.length), { open: 3, others: [] })
  for (const { socket } of sent) socket.write(body.slice(100_000))
  const answers = await Promise.all(sent.map(({ ended }) => ended))
  const constant = (answer: string) => answer.replaceAll(/^(date|x-request-id|x-ratelimit-\w+): .*$/gim, '')
  t.equal(new Set(answers.map(constant)).size, 1)
  t.match(answers[0], /^HTTP\/1.1 401 /)
})

t.test('large bodies of strangers do not count for the workspace that they name', async (t) => {
  const victim = await api.makeWorkspace()
  const stranger = await mint(`stranger-${newId()}`)
  await api.app.database.system
    .$transaction(async (transaction) => {
      // The secrets of deliveries are looked up here.
      await transaction.$executeRaw`LOCK TABLE signing_secrets IN ACCESS EXCLUSIVE MODE`
      const body = JSON.stringify(large.body)
      const asked = Array.from({ length: 6 }, () =>
        api.call('POST', webhooksOf(victim.id), { body, headers: delivering(newId()) }),
      )
      const denied = api.call('POST', trigger, { ...large, token: stranger, workspace: victim.id })
      await setTimeout(500)
      const [first, second] = await Promise.all([1, 2].map(() => victim.call('POST', trigger, large)))
      t.strictSame([first?.status, second?.status], [202, 202])
      t.equal((await denied).status, 403)
      await transaction.$executeRaw`ROLLBACK`
      for (const { status } of await Promise.all(asked)) t.ok(status === 401 || status === 429, `${status}`)
    })
    .catch(() => {})
})
