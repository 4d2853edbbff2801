import t from 'tap'
import { startApi } from './fixtures/api.js'

interface Operation {
  summary?: string
  parameters?: { name: string; in: string; required?: boolean }[]
  requestBody?: { content: Record<string, unknown> }
  responses: Record<string, { description?: string; content?: Record<string, unknown> }>
  security?: object[]
}

interface Document {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> }
}

const api = await startApi(t)
const document = JSON.parse(JSON.stringify(api.app.swagger())) as Document

const rules = '/api/automation-rules'
const always = [400, 401, 403, 429, 500, 503]
/** Every route: how it succeeds, and what it may answer beyond what every route may. A call that may bring a body adds 413 and 415. */
const routes: [method: string, path: string, success: number[], refusals: number[]][] = [
  ['get', rules, [200], []],
  ['post', rules, [201], [409, 413, 415, 422]],
  ['get', `${rules}/{id}`, [200], [404]],
  ['put', `${rules}/{id}`, [200], [404, 412, 413, 415, 422]],
  ['delete', `${rules}/{id}`, [204], [404, 412, 413, 415]],
  ['patch', `${rules}/{id}/toggle`, [200], [404, 412, 413, 415]],
  ['post', `${rules}/{id}/clone`, [201], [404, 409, 412, 413, 415]],
  ['get', `${rules}/health`, [200], []],
  ['get', `${rules}/attention`, [200], []],
  ['post', `${rules}/{id}/execute`, [200, 202], [404, 413, 415, 422]],
  ['post', `${rules}/trigger/{eventType}`, [200, 202], [413, 415, 422]],
  ['get', '/api/events/{id}', [200], [404]],
  ['get', '/api/executions/{id}', [200], [404]],
  ['get', '/api/tasks', [200], []],
]
const known = (path: string) => path.replace(/\/$/, '')

function operationOf(method: string, path: string): Operation | undefined {
  const found = Object.keys(document.paths).find((name) => known(name) === path)
  return found === undefined ? undefined : document.paths[found]?.[method]
}

t.test('the document names every route of the interface', async (t) => {
  t.match(document.openapi, /^3\.1\./)
  for (const [method, path] of routes) t.ok(operationOf(method, path)?.summary, `${method} ${path}`)
  const named = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method} ${known(path)}`),
  )
  const expected = [...routes.map(([method, path]) => `${method} ${path}`), 'get /healthz', 'get /readyz']
  t.strictSame(
    expected.filter((route) => !named.includes(route)),
    [],
  )
  t.notOk(
    named.some((route) => /^(head|options|trace)/.test(route)),
    'what only refuses is not in it',
  )
})

t.test('each route tells how it succeeds and every refusal that it may give', async (t) => {
  for (const [method, path, success, refusals] of routes) {
    const { responses = {} } = operationOf(method, path) ?? {}
    const told = Object.keys(responses).map(Number)
    const missing = [...success, ...always, ...refusals].filter((status) => !told.includes(status))
    t.strictSame(missing, [], `${method} ${path}`)
    for (const [status, { description, content }] of Object.entries(responses)) {
      t.equal(typeof description, 'string')
      if (status !== '204') t.ok(content?.['application/json'], `${method} ${path} ${status} has a body`)
    }
  }
})

t.test('parameters, bodies and security are told', async (t) => {
  for (const [method, path] of routes) {
    const operation = operationOf(method, path)
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const told =
      operation?.parameters?.filter((parameter) => parameter.in === 'path').map(({ name }) => name) ?? []
    t.strictSame(told, inPath, `${method} ${path}`)
    const takesBody =
      /execute|trigger/.test(path) || (path === rules && method === 'post') || method === 'put'
    t.equal(operation?.requestBody?.content['application/json'] !== undefined, takesBody)
    t.equal(operation?.security, undefined, 'as everywhere')
  }
  const query = (path: string) =>
    operationOf('get', path)
      ?.parameters?.filter((parameter) => parameter.in === 'query')
      .map(({ name }) => name)
      .sort()
  t.strictSame(query(rules), ['cursor', 'isActive', 'limit', 'q', 'trigger'])
  t.strictSame(query('/api/tasks'), ['cursor', 'executionId', 'limit', 'ruleId'])
  t.ok(document.components.securitySchemes)
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

t.test('the document and its pages are served without a token, and from here alone', async (t) => {
  const page = await api.app.inject('/docs/')
  t.equal(page.statusCode, 200)
  t.match(page.headers['content-type'], /^text\/html/)
  t.notMatch(page.payload, /<script[^>]+src="(https?:)?\/\//, 'no script comes from elsewhere')
  const served = await api.app.inject('/docs/openapi.json')
  t.equal(served.statusCode, 200)
  t.strictSame((served.json() as Document).paths, document.paths)
})

function findReferences(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value] : findReferences(value),
  )
}
