import { setTimeout } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { newId } from '@automation/database'
import t from 'tap'
import { rules, startApi } from './fixtures/api.js'
import { storeRule } from './fixtures/history.js'
import { makeSender } from './fixtures/sender.js'

const api = await startApi(t)
const workspace = await api.makeWorkspace()
const trigger = `${rules}/trigger/LEAD_CREATED`
const later = { prefer: 'respond-async' }

/** Texts of people, in bytes that are not UTF-8. */
const notUtf8: [title: string, bytes: number[]][] = [
  ['ISO 8859-1', [0x5a, 0x6f, 0xeb]],
  ['Windows-1252', [0x93, 0x80, 0x94]],
  ['Shift-JIS', [0x83, 0x65, 0x83, 0x58]],
  ['GBK', [0xc4, 0xe3, 0xba, 0xc3]],
  ['KOI8-R', [0xf0, 0xd2, 0xc9]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['an overlong NUL, as Java writes it', [0xc0, 0x80]],
  ['half a surrogate pair', [0xed, 0xa0, 0x80]],
  ['a pair of surrogates, as CESU-8 has it', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
  ['beyond Unicode', [0xf5, 0x80, 0x80, 0x80]],
  ['a cut character', [0xf0, 0x9f, 0x99]],
  ['a byte that never occurs', [0xff]],
]

const within = (bytes: number[]) =>
  Buffer.from([...Buffer.from('{"data":{"name":"'), ...bytes, ...Buffer.from('"}}')])

interface Change {
  method: 'POST'
  path: string
  mayHaveBody: boolean
  needsBody: boolean
}

/** Each operation of a workspace that changes something, with ids that nobody has. */
function listChanges(): Change[] {
  const { paths = {} } = api.app.swagger() as { paths?: Record<string, Record<string, Operation>> }
  const ofWorkspaces = Object.entries(paths).filter(([path]) => !path.startsWith('/api/incoming-webhooks'))
  return ofWorkspaces.flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => method !== 'get')
      .map(([method, { requestBody }]) => ({
        method: method.toUpperCase() as 'POST',
        path: path.replace('{eventType}', 'LEAD_CREATED').replaceAll(/\{\w+\}/g, newId()),
        mayHaveBody: requestBody !== undefined,
        needsBody: requestBody?.required === true,
      })),
  )
}
interface Operation {
  requestBody?: { required?: boolean }
}
const changes = listChanges()
const operations = changes.filter(({ mayHaveBody }) => mayHaveBody)

t.test('a body that is not UTF-8 is refused by every operation', async (t) => {
  t.ok(operations.length >= 25, `${operations.length} operations`)
  for (const { method, path } of operations)
    t.match(
      await workspace.call(method, path, { body: within([0xe9]) }),
      { status: 400, body: { error: 'Body is not UTF-8 (near byte 18): encode the JSON as UTF-8' } },
      `${method} ${path}`,
    )
})

t.test('a body that is no JSON, of another type or too large is refused by every operation', async (t) => {
  const large = { a: 'x'.repeat(1_048_576) }
  for (const { method, path } of changes)
    for (const [status, question] of [
      [400, { body: '{' }],
      [415, { body: '{}', headers: { 'content-type': 'text/plain' } }],
      [413, { body: large }],
    ] as const)
      t.match(
        await workspace.call(method, path, question),
        { status, body: { error: String } },
        `${method} ${path}`,
      )
})

t.test('no encoding but UTF-8 is accepted, whatever the charset says', async (t) => {
  const { call, database } = await api.makeWorkspace()
  for (const [title, bytes] of notUtf8)
    for (const charset of ['', '; charset=utf-8', '; charset=iso-8859-1', '; charset=windows-1252'])
      t.match(
        await call('POST', trigger, {
          body: within(bytes),
          headers: { ...later, 'content-type': `application/json${charset}` },
        }),
        { status: 400, body: { error: /^Body is not UTF-8 \(near byte \d+\)/ } },
        `${title}${charset}`,
      )
  t.equal(await database.event.count(), 0)
  for (const text of ['Zoë Müller', '\ufffd', '你好', '🙂', 'Zoe\u0308', '\ufeff'])
    t.equal((await call('POST', trigger, { body: { data: { text } }, headers: later })).status, 202, text)
  const bodies = await database.event.findMany({ select: { data: true }, orderBy: { id: 'asc' } })
  t.strictSame(
    bodies.map(({ data }) => data),
    ['Zoë Müller', '\ufffd', '你好', '🙂', 'Zoe\u0308', '\ufeff'].map((text) => ({ text })),
  )
})

t.test('a body that is cut within its last character says so', async (t) => {
  const body = Buffer.from('{"data":{"a":"é').subarray(0, -1)
  t.match(await workspace.call('POST', trigger, { body }), {
    status: 400,
    body: { error: /^Body is not UTF-8 \(near byte 15\)/ },
  })
})

t.test('a key never stands for other bytes', async (t) => {
  const { call, database } = await api.makeWorkspace()
  const headers = { ...later, 'idempotency-key': 'k' }
  for (const bytes of [[0xff], [0xfe], [0xff, 0xfe]])
    t.equal((await call('POST', trigger, { body: within(bytes), headers })).status, 400)
  const first = await call('POST', trigger, { body: { data: { name: '\ufffd' } }, headers })
  t.equal(first.status, 202)
  t.equal(first.headers['idempotent-replayed'], undefined)
  for (const bytes of [[0xff], [0xfe]])
    t.equal(
      (await call('POST', trigger, { body: within(bytes), headers })).status,
      400,
      'and not as the first',
    )
  t.equal(await database.event.count(), 1)
})

t.test('a signed webhook that is not UTF-8 is refused with that reason', async (t) => {
  const { deliver } = await makeSender(api, await api.makeWorkspace())
  for (const [title, bytes] of notUtf8)
    t.match(
      await deliver({ body: within(bytes) }),
      { status: 400, body: { error: /^Body is not UTF-8/ } },
      title,
    )
})

t.test('a body that is no object is refused with that reason by every operation', async (t) => {
  for (const { method, path, needsBody } of operations)
    for (const body of ['[]', 'null', '5', '"x"', 'true', '["\\u0000"]', ...(needsBody ? [undefined] : [])])
      t.match(
        await workspace.call(method, path, { body }),
        { status: 400, body: { error: 'Body must be a JSON object' } },
        `${method} ${path} with ${body}`,
      )
})

t.test('a name that is there twice is refused with its path, except in what brings events', async (t) => {
  const bringsEvents = /\/events(?:\/batch|\/[^/]+\/replay)?$|\/trigger\/|\/execute$/
  const others = operations.filter(({ path }) => !bringsEvents.test(path))
  t.ok(others.length >= 20, `${others.length} operations`)
  for (const { method, path } of others) {
    const { status, body } = await workspace.call<{ errors: object[] }>(method, path, {
      body: '{"x":1,"x":2}',
    })
    t.equal(status, 422, `${method} ${path}`)
    t.match(
      body.errors.filter((fault) => 'message' in fault && String(fault.message).includes('twice')),
      [{ field: 'x', message: 'Is there twice: write it once' }],
      `${method} ${path}`,
    )
  }
  const clause = '{"field":"a","operator":"gt","value":1}'
  const rule = `{"name":"x","trigger":"LEAD_CREATED","conditions":[${clause}],"conditions":[],"actions":[{"type":"CREATE_TASK","config":{"title":"a","\\u0074itle":"b"}}]}`
  for (const [path, fields] of [
    [rules, ['conditions', 'actions[0].config.title']],
    [`${rules}/validate`, ['conditions', 'actions[0].config.title']],
  ] as const) {
    const { status, body } = await workspace.call<{ errors: { field: string }[] }>('POST', path, {
      body: rule,
    })
    t.equal(status, 422)
    t.strictSame(
      body.errors.map(({ field }) => field),
      fields,
    )
  }
  const file = `{"version":1,"rules":[${rule}]}`
  t.match((await workspace.call('POST', `${rules}/import`, { body: file })).body, {
    errors: [{ field: 'rules[0].conditions' }, { field: 'rules[0].actions[0].config.title' }],
  })
  const { status, headers } = await workspace.call('POST', '/api/events', {
    body: '{"eventType":"LEAD_CREATED","data":{"a":1,"a":2}}',
    headers: later,
  })
  t.equal(status, 202)
  const event = await workspace.call('GET', String(headers.location))
  t.match(event.body, { data: { a: 2 } }, 'of data the last one counts')
})

t.test('an encoded body is refused by every operation, and identity is none', async (t) => {
  const { call } = await api.makeWorkspace()
  const codings = [
    'gzip',
    'x-gzip',
    'deflate',
    'br',
    'zstd',
    'compress',
    'aws-chunked',
    'GZIP',
    'gzip, identity',
    'identity;q=1',
  ]
  const encoded = {
    status: 415,
    headers: { 'accept-encoding': 'identity' },
    body: { error: 'Content-Encoding must be identity' },
  }
  for (const { method, path } of operations)
    t.match(
      await call(method, path, { body: {}, headers: { 'content-encoding': 'gzip' } }),
      encoded,
      `${method} ${path}`,
    )
  for (const coding of codings)
    for (const body of [gzipSync('{"data":{}}'), '{"data":{}}', 'x'])
      t.match(await call('POST', trigger, { body, headers: { 'content-encoding': coding } }), encoded, coding)
  for (const coding of ['identity', 'Identity', '']) {
    const headers = { ...later, 'content-encoding': coding }
    t.equal((await call('POST', trigger, { body: { data: {} }, headers })).status, 202, coding)
  }
})

t.test('a request that has no body refuses fields, and takes an empty one', async (t) => {
  const own = await api.makeWorkspace()
  const { id } = await storeRule(own)
  const clone = (body: object) => own.call('POST', `/api/automation-rules/${id}/clone`, { body })
  t.match(await clone({ name: 'Mine' }), {
    status: 422,
    body: { errors: [{ field: 'name', message: 'Unknown field. This request has no body' }] },
  })
  t.equal((await clone([7])).status, 422)
  t.equal((await clone({})).status, 201)
  t.equal((await own.call('POST', '/api/nowhere', { body: { name: 'Mine' } })).status, 404)
})

t.test('an encoded webhook is refused, and its workspace sees why', async (t) => {
  const own = await api.makeWorkspace()
  const { deliver } = await makeSender(api, own)
  for (const [coding, body] of [
    ['gzip', gzipSync('{}')],
    ['br', brotliCompressSync('{}')],
    ['deflate', deflateSync('{}')],
    ['gzip', '{}'],
  ] as const)
    t.match(
      await deliver({ body, headers: { 'content-encoding': coding } }),
      { status: 415, body: { error: 'Content-Encoding must be identity' } },
      coding,
    )
  t.equal((await deliver({ headers: { 'content-encoding': 'identity' } })).status, 202)
  const rows = () => own.database.webhookRejection.findMany()
  while ((await rows()).length < 4) await setTimeout(10)
  for (const { reason, verified } of await rows())
    t.match({ reason, verified }, { reason: 'content_encoding', verified: false })
})
