import t from 'tap'
import { askPatiently, startApi } from '../fixtures/api.js'
import { badTexts, spoil } from '../fixtures/security/bad-texts.js'
import { createResolver, type Operation, readOperations } from '../fixtures/security/operations.js'
import { nounOfWord, plantWorkspace } from '../fixtures/security/plants.js'
import { createRandom } from '../fixtures/security/random.js'
import { createResponseCheck } from '../fixtures/security/response-check.js'
import { sampleBody } from '../fixtures/security/sample-body.js'
import { openUnrecorded } from '../fixtures/security/sql-recorder.js'
import { growValue } from '../fixtures/security/wild-values.js'

const { api, document, operations } = await readOperations(() => startApi(t))
const resolve = createResolver(document)
const findFault = createResponseCheck(document)
const random = createRandom(Number(process.env.TEST_SEED ?? 63))
const database = openUnrecorded(api.config.databaseUrl, 4)
t.teardown(() => database.close())
const field = await plantWorkspace(database)

function urlOf({ path }: Operation, text?: string): string {
  return path.replaceAll(/([\w-]*)\/\{(\w+)\}/g, (_, word: string, name: string) => {
    if (text !== undefined) return `${word}/${encodeURIComponent(text.toWellFormed())}`
    if (name === 'workspaceId') return `${word}/${field.id}`
    if (name === 'version') return `${word}/1`
    if (name === 'eventType') return `${word}/LEAD_CREATED`
    return `${word}/${field.planted[nounOfWord[word] ?? 'rule']}`
  })
}

async function ask(operation: Operation, url: string, body: unknown, headers: object = {}) {
  const payload = body === undefined ? undefined : JSON.stringify(body)
  const request = {
    operation,
    isAstray: false,
    method: operation.method,
    url,
    headers: {
      authorization: `Bearer ${field.tokens.admin}`,
      'x-workspace-id': field.id,
      prefer: 'respond-async',
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: payload,
  }
  const answer = await askPatiently(() =>
    api.app.inject({
      method: operation.method,
      url,
      headers: request.headers,
      ...(payload !== undefined && { payload }),
    }),
  )
  const fault = findFault(request, answer)
  return fault === undefined
    ? []
    : [`${fault}\n${operation.title} ${url.slice(0, 300)} ${payload?.slice(0, 500)}`]
}

t.test('no text, wherever it stands in a body, gets a 5xx', async (t) => {
  const faults: string[] = []
  let requests = 0
  for (const operation of operations) {
    const { body: schema } = operation
    if (schema === undefined || operation.isOpen) continue
    const bodies = [sampleBody(schema, resolve), growValue(random, schema, resolve, 1_000_000)]
    for (const body of bodies)
      for (const spoilt of spoil(body, random.below(badTexts.length))) {
        requests += 1
        faults.push(...(await ask(operation, urlOf(operation), spoilt)))
      }
  }
  t.comment(`${requests} requests`)
  t.ok(requests > 300, `${requests} requests`)
  t.strictSame(faults.slice(0, 3), [])
})

t.test('nor in a path, a query or a header', async (t) => {
  const faults: string[] = []
  for (const operation of operations) {
    if (operation.isOpen) continue
    const text = random.pick(badTexts)
    const encoded = encodeURIComponent(text.toWellFormed())
    const query = operation.parameters
      .filter(({ in: place }) => place === 'query')
      .map(({ name }) => `${name}=${encoded}`)
    const body = operation.body && sampleBody(operation.body, resolve)
    const url = urlOf(operation)
    faults.push(...(await ask(operation, urlOf(operation, text), body)))
    for (const pair of query) faults.push(...(await ask(operation, `${url}?${pair}`, body)))
    const latin = Buffer.from(text.toWellFormed().replaceAll('\0', '')).toString('latin1')
    if (operation.method === 'POST')
      faults.push(...(await ask(operation, url, body, { 'idempotency-key': latin.slice(0, 200) })))
  }
  t.strictSame(faults.slice(0, 3), [])
})
