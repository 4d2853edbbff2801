import { actionDefinitions } from '@automation/engine'
import t from 'tap'
import { startApi } from './fixtures/api.js'
import { routes, templates } from './fixtures/routes/index.js'
import type { Route } from './fixtures/routes/route.js'

interface Response {
  $ref?: string
  description?: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, unknown>
}

interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  description?: string
  parameters?: { name: string; in: string; required?: boolean; description?: string }[]
  requestBody?: { required: boolean; content: Record<string, unknown> }
  responses: Record<string, Response>
  security?: object[]
  'x-required-role'?: string
  'x-required-scope'?: string
}

interface Document {
  openapi: string
  tags: { name: string }[]
  'x-tagGroups': { name: string; tags: string[] }[]
  paths: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, unknown>
    responses: Record<string, Response>
    headers: Record<string, unknown>
    securitySchemes: Record<string, unknown>
  }
}

const api = await startApi(t)
const document = JSON.parse(JSON.stringify(api.app.swagger())) as Document

const always = [400, 401, 403, 429, 500, 503]
/** What asks for no token. */
const open = [
  ...['GET /healthz', 'GET /readyz', 'POST /api/incoming-webhooks/{provider}/{workspaceId}'],
  'GET /api/developer/v1/embed-sessions/{id}/frame',
  'POST /api/developer/v1/embed-sessions/{id}/open',
]

const known = (path: string) => path.replace(/\/$/, '')

function operationOf({ method, path }: Pick<Route, 'method' | 'path'>): Operation | undefined {
  const found = Object.keys(document.paths).find((name) => known(name) === path)
  return found === undefined ? undefined : document.paths[found]?.[method.toLowerCase()]
}

function resolve(response: Response): Response {
  const name = response.$ref?.replace('#/components/responses/', '')
  return name === undefined ? response : (document.components.responses[name] ?? {})
}

function namesOf(operation: Operation | undefined, place: string): string[] {
  return operation?.parameters?.filter((parameter) => parameter.in === place).map(({ name }) => name) ?? []
}

t.test(
  'what refuses another version takes If-Match, and what waits for an outcome takes Prefer',
  async (t) => {
    for (const { method, path, success, refusals } of routes) {
      const headers = namesOf(operationOf({ method, path }), 'header')
      t.equal(headers.includes('If-Match'), refusals.includes(412), `${method} ${path}`)
      // A bulk call is 200 for a dry run.
      const mayWait =
        success.includes(200) && success.includes(202) && !/s\/(replay|retry)$|\/cancel$/.test(path)
      const isCompared = method === 'GET' && /\/(draft|difference)$/.test(path)
      t.equal(headers.includes('Prefer'), mayWait || isCompared, `${method} ${path}`)
    }
  },
)

t.test('the document names every route, each with a summary and one of its tags', async (t) => {
  t.match(document.openapi, /^3\.1\./)
  const named = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${known(path)}`),
  )
  const expected = [...routes.map(({ method, path }) => `${method} ${path}`), ...open]
  t.strictSame(named.sort(), expected.sort(), 'and none that only refuses')
  const tags = document.tags.map(({ name }) => name)
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations)) {
      t.ok(operation.summary, `${method} ${path}`)
      t.equal(operation.tags?.length, 1)
      t.ok(tags.includes(operation.tags?.[0] ?? ''), `${method} ${path}`)
      if (path.startsWith(templates)) t.strictSame(operation.tags, ['Email templates'])
    }
})

t.test('each operation says what it is for and who may call it, and each parameter what it is', async (t) => {
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, { description = '', parameters = [], ...operation }] of Object.entries(operations)) {
      const name = `${method} ${path}`
      const [text = '', access = ''] = description.split('\n\n').slice(-2)
      t.ok(text.length > 20, `${name} is described`)
      const isOpen = open.includes(`${method.toUpperCase()} ${known(path)}`)
      const role = operation['x-required-role']
      t.match(access, isOpen ? 'Needs no token.' : role === undefined ? 'and no role' : `\`${role}\``, name)
      t.equal(operation['x-required-scope'] === undefined, role === undefined, name)
      for (const parameter of parameters) t.ok(parameter.description, `${name} ${parameter.name}`)
    }
  const grouped = document['x-tagGroups'].flatMap(({ tags }) => tags)
  t.strictSame(
    grouped,
    document.tags.map(({ name }) => name),
  )
})

t.test('each response names its headers, and each header is sent by somebody', async (t) => {
  const named = new Set<string>()
  const note = ({ headers = {} }: Response) => {
    for (const { $ref } of Object.values(headers)) named.add($ref.replace('#/components/headers/', ''))
  }
  for (const { operationId, responses } of Object.values(document.paths).flatMap(Object.values<Operation>))
    for (const [status, response] of Object.entries(responses)) {
      const resolved = resolve(response)
      note(resolved)
      t.ok(resolved.headers?.['x-request-id'], `${operationId} ${status}`)
      const isRefusal = status >= '400' && operationId !== 'getReadiness'
      t.equal(resolved.headers?.['X-Error-Code'] !== undefined, isRefusal, `${operationId} ${status}`)
    }
  t.strictSame([...named].sort(), Object.keys(document.components.headers).sort())
})

t.test('each route documents its success and all of its refusals', async (t) => {
  for (const { method, path, success, refusals } of routes) {
    const { responses = {} } = operationOf({ method, path }) ?? {}
    const documented = Object.keys(responses).map(Number)
    t.strictSame(documented.sort(), [...success, ...always, ...refusals].sort(), `${method} ${path}`)
    for (const [status, response] of Object.entries(responses)) {
      const { description, content } = resolve(response)
      t.equal(typeof description, 'string')
      const hasBody = status !== '204' && status !== '304'
      t.equal(content?.['application/json'] !== undefined, hasBody, `${method} ${path} ${status}`)
    }
  }
})

/** What a key of the operator may do, too, and what only users may; undefined: as everywhere. */
function securityOf(method: string, path: string): object[] | undefined {
  const token = { token: [], workspace: [] }
  if (/\/workspaces\/\{id\}\/\w+$/.test(path) || (method === 'POST' && path.endsWith('/erasures')))
    return [token]
  const isForOperators = method !== 'PATCH' && /\/workspaces(\/\{id\})?$/.test(path)
  return isForOperators ? [token, { apiKey: [] }, { operatorKey: [] }] : undefined
}

t.test('parameters, bodies and security are documented', async (t) => {
  for (const { method, path, body } of routes) {
    const operation = operationOf({ method, path })
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    t.strictSame(namesOf(operation, 'path'), inPath, `${method} ${path}`)
    const { required, content } = operation?.requestBody ?? {}
    t.equal(required, body === 'none' ? undefined : body === 'required')
    t.equal(content?.['application/json'] !== undefined, body !== 'none')
    // The caller is asked for itself, so it names no workspace.
    if (!['/api/me', '/api/developer/v1/invitations/accept'].includes(path))
      t.strictSame(operation?.security, securityOf(method, path), `${method} ${path}`)
  }
  for (const { method, path, query } of routes)
    t.strictSame(
      namesOf(operationOf({ method, path }), 'query').sort(),
      [...query].sort(),
      `${method} ${path}`,
    )
  const keyed = routes.filter((one) => namesOf(operationOf(one), 'header').includes('Idempotency-Key'))
  // They change nothing, or one key would stand for many things; an invitation that was accepted is accepted again without effect, and a second erasure has none.
  const unkeyed = /\/(check|validate|preview|search|batch)$|events\/replay$|invitations\/accept$|erasures$/
  const changing = routes.filter(({ method, path }) => method === 'POST' && !unkeyed.test(path))
  t.strictSame(keyed, changing, 'each POST that changes something has an Idempotency-Key')
  t.ok(document.components.securitySchemes)
  t.notMatch(JSON.stringify(document), /x-optional/, 'nor does a mark of ours come through')
})

t.test('every operation has its own id, and every noun is a component', async (t) => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const ids = operations.map(({ operationId }) => operationId ?? '')
  for (const id of ids) t.match(id, /^[a-z]+([A-Z][a-z]+)+$/)
  t.equal(new Set(ids).size, operations.length)
  for (const { operationId, requestBody, responses } of operations)
    for (const { content } of [requestBody ?? {}, ...Object.values(responses).map(resolve)] as Response[])
      for (const { schema } of Object.values(content ?? {}) as { schema: object }[])
        t.match(schema, { $ref: /^#\/components\/schemas\/[A-Z]\w+$/ }, `${operationId}`)
  t.notMatch(JSON.stringify(document.components.schemas), /"title":"/, 'the title became the name')
})

t.test('an error response has one definition for all operations', async (t) => {
  t.strictSame(
    Object.values(document.components.responses).length,
    new Set(routes.flatMap(({ refusals }) => [...always, ...refusals])).size,
  )
  for (const { operationId, responses } of Object.values(document.paths).flatMap(Object.values<Operation>))
    for (const [status, { $ref }] of Object.entries(responses))
      t.equal(
        $ref !== undefined,
        Number(status) >= 400 && operationId !== 'getReadiness',
        `${operationId} ${status}`,
      )
})

t.test('patterns are those of all engines, also of Go and Rust', async (t) => {
  const patterns: string[] = []
  JSON.stringify(document, (key, value: unknown) => {
    if (key === 'pattern' && typeof value === 'string') patterns.push(value)
    if (key === 'patternProperties') patterns.push(...Object.keys(value as object))
    return value
  })
  t.ok(patterns.length > 10)
  for (const pattern of new Set(patterns)) {
    t.notMatch(pattern, /\(\?[=!<]/, 'nobody looks ahead or behind')
    t.notMatch(pattern, /\\[1-9k]/, 'nor back')
    t.notMatch(pattern, /\\[uc]/, 'Go writes \\x00 and not \\u0000')
  }
})

t.test('conditions and actions are plain unions, which every generator supports', async (t) => {
  const { schemas } = document.components as unknown as { schemas: Record<string, Record<string, object[]>> }
  const keywords = Object.values(schemas).flatMap(listKeywords)
  t.ok(keywords.includes('anyOf') && keywords.includes('pattern'), 'keywords are found')
  t.strictSame(
    keywords.filter((keyword) => ['if', 'then', 'else'].includes(keyword)),
    [],
  )
  const branchesOf = (name: string) =>
    (schemas[name]?.anyOf ?? []).map((branch) =>
      '$ref' in branch ? String(branch.$ref).replace('#/components/schemas/', '') : 'inline',
    )
  const groups = ['AllGroup', 'AnyGroup', 'NotGroup']
  const lists = ['SomeCondition', 'EveryCondition', 'NoneCondition', 'CountCondition']
  t.strictSame(branchesOf('Condition'), [...groups, ...lists, 'TimeCondition', 'Clause'])
  const clauses = branchesOf('Clause')
  t.ok(clauses.length > 5 && clauses.every((name) => name.endsWith('Clause')), `${clauses}`)
  for (const name of [...groups, ...lists, ...clauses])
    t.equal(schemas[name]?.additionalProperties, false, name)
  t.equal(schemas.Action?.oneOf?.length, actionDefinitions.length)
})

t.test('the data of an event is an open object, wherever it stands', async (t) => {
  const { schemas } = document.components as { schemas: Record<string, { properties?: { data?: object } }> }
  t.match(schemas.EventData, { type: 'object', additionalProperties: true })
  for (const name of ['EventToTrigger', 'RuleToExecute', 'BatchEvent', 'Event'])
    t.strictSame(schemas[name]?.properties?.data, { $ref: '#/components/schemas/EventData' }, name)
})

t.test('an enum of texts has a type', async (t) => {
  const schemas = JSON.stringify(document, (key, value) => (key === 'example' ? undefined : value))
  t.notMatch(schemas, /\{"enum":\["[A-Za-z]/)
})

t.test('every reference resolves', async (t) => {
  const references = findReferences(document)
  t.ok(references.length > 0)
  for (const reference of new Set(references)) {
    const target = reference
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], document)
    t.ok(reference.startsWith('#/') && typeof target === 'object', reference)
  }
  t.notMatch(JSON.stringify(document), /"\$id"/, 'nor is anything named in two ways')
})

t.test('the document and its pages need no token, and load nothing from elsewhere', async (t) => {
  const page = await api.app.inject('/docs/api/')
  t.equal(page.statusCode, 200)
  t.match(page.headers['content-type'], /^text\/html/)
  t.notMatch(page.payload, /<script[^>]+src="(https?:)?\/\//, 'no script comes from elsewhere')
  const loaded = [...page.payload.matchAll(/(?:src=|"url": )"([^"]+)"/g)].map(([, address = '']) => address)
  t.equal(loaded.length, 2)
  const [script, served] = await Promise.all(
    loaded.map((address) => api.app.inject(new URL(address, 'http://localhost/docs/api/').pathname)),
  )
  t.match(script, { statusCode: 200, headers: { 'content-type': /javascript/ } })
  t.strictSame((JSON.parse(String(served?.payload)) as Document).paths, document.paths)
})

function findReferences(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : findReferences(value),
  )
}

/** Of a schema and all within it. A field may have the name of a keyword, and an example may have such a field. */
function listKeywords(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  if (Array.isArray(schema)) return schema.flatMap(listKeywords)
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (/^(default|enum|examples?)$/.test(keyword)) return keyword
    return [keyword, ...listKeywords(keyword === 'properties' ? Object.values(value) : value)]
  })
}
