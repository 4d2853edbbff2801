import { readFile } from 'node:fs/promises'
import t from 'tap'
import { createClient } from '../src/create-client.js'
import { calls } from './fixtures/calls.js'
import { openFlakyServer } from './fixtures/flaky-server.js'

const lists = [
  'rules',
  'events',
  'executions',
  'decisions',
  'tasks',
  'emailTemplates',
  'versions',
  'eventTypes',
  'backtests',
  'data',
]
/** What the client needs of each response. */
const everyAnswer = {
  ...Object.fromEntries(lists.map((name) => [name, []])),
  results: [{ status: 'accepted', id: 'e1' }],
}

t.test('every documented operation has a method of the client, with its path and inputs', async (t) => {
  const { paths } = JSON.parse(
    await readFile(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'),
  ) as { paths: Record<string, object> }
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  t.same(Object.keys(calls).sort(), documented.sort())

  const { baseUrl, asked } = await openFlakyServer(t, [], { status: 200, body: everyAnswer })
  const client = createClient({ baseUrl, token: 'a token', workspaceId: 'w' })
  const values: Record<string, string> = {
    eventType: 'LEAD_CREATED',
    version: '2',
    provider: 'billing',
    workspaceId: 'w',
  }
  for (const [name, call] of Object.entries(calls)) {
    asked.length = 0
    await call(client)
    const path = name.replace(/\{(\w+)\}/g, (_, parameter: string) => values[parameter] ?? 'x')
    t.same(
      asked.map(({ what }) => what.replace(/\?.*/, '')),
      [path],
      name,
    )
    t.match(asked[0]?.headers, { authorization: 'Bearer a token', 'x-workspace-id': 'w' })
  }
})
