import { readFile } from 'node:fs/promises'
import { newId } from '@automation/database'
import t from 'tap'
import { ruleBody, rules, startApi } from './fixtures/api.js'
import { limited, openSession } from './fixtures/embed.js'

// Written by hand, and not from the table of the service: who adds an operation decides here, once more, whether a customer may call it.
const pages: Record<string, string[]> = {
  'GET /api/vocabulary': ['rules', 'executions', 'events', 'decisions', 'tasks'],
  'GET /api/me': ['rules', 'executions', 'events', 'decisions', 'tasks'],
  'GET /api/overview': ['executions', 'events'],

  'GET /api/automation-rules': ['rules'],
  'POST /api/automation-rules': ['rules'],
  'GET /api/automation-rules/{id}': ['rules'],
  'PUT /api/automation-rules/{id}': ['rules'],
  'PATCH /api/automation-rules/{id}': ['rules'],
  'DELETE /api/automation-rules/{id}': ['rules'],
  'POST /api/automation-rules/{id}/clone': ['rules'],
  'PATCH /api/automation-rules/{id}/toggle': ['rules'],
  'POST /api/automation-rules/{id}/activate': ['rules'],
  'POST /api/automation-rules/{id}/deactivate': ['rules'],
  'GET /api/automation-rules/{id}/versions': ['rules'],
  'GET /api/automation-rules/{id}/versions/{version}': ['rules'],
  'POST /api/automation-rules/{id}/versions/{version}/restore': ['rules'],
  'POST /api/automation-rules/validate': ['rules'],
  'POST /api/automation-rules/check': ['rules'],
  'POST /api/automation-rules/backtests': ['rules'],
  'GET /api/automation-rules/backtests': ['rules'],
  'GET /api/automation-rules/backtests/{id}': ['rules'],
  'DELETE /api/automation-rules/backtests/{id}': ['rules'],
  'PUT /api/automation-rules/{id}/draft': ['rules'],
  'GET /api/automation-rules/{id}/draft': ['rules'],
  'DELETE /api/automation-rules/{id}/draft': ['rules'],
  'POST /api/automation-rules/{id}/draft/promote': ['rules'],
  'GET /api/automation-rules/{id}/difference': ['rules'],
  'GET /api/automation-rules/health': ['rules'],
  'GET /api/automation-rules/attention': ['rules'],
  'GET /api/automation-rules/overview': ['rules'],
  'GET /api/automation-rules/summaries': ['rules'],
  'GET /api/automation-rules/rollouts': ['rules'],
  'GET /api/automation-rules/groups/{name}': ['rules'],
  'PUT /api/automation-rules/groups/{name}': ['rules'],
  'GET /api/automation-rules/{id}/schedule': ['rules'],
  'GET /api/automation-rules/{id}/guard': ['rules'],
  'DELETE /api/automation-rules/{id}/guard': ['rules'],
  'POST /api/automation-rules/{id}/execute': ['rules'],
  'GET /api/event-types': ['rules', 'events'],
  'GET /api/event-types/{name}/fields': ['rules'],
  'GET /api/email-templates': ['rules'],
  'GET /api/email-templates/{id}': ['rules'],
  'POST /api/email-templates/{id}/preview': ['rules'],
  'GET /api/events/samples': ['rules', 'events'],

  'POST /api/events': ['events'],
  'POST /api/automation-rules/trigger/{eventType}': ['events'],
  'GET /api/events': ['events'],
  'GET /api/events/newest': ['events'],
  'GET /api/events/{id}': ['events'],
  'POST /api/events/search': ['events'],
  'GET /api/events/{id}/why': ['events'],
  'POST /api/events/{id}/replay': ['events'],

  'GET /api/executions': ['executions'],
  'GET /api/executions/{id}': ['executions'],
  'POST /api/executions/{id}/retry': ['executions'],
  'POST /api/executions/{id}/cancel': ['executions'],
  'PUT /api/executions/{id}/acknowledgement': ['executions'],
  'DELETE /api/executions/{id}/acknowledgement': ['executions'],

  'GET /api/decisions': ['decisions'],
  'POST /api/decisions/{id}': ['decisions'],
  'GET /api/tasks': ['tasks'],
  'GET /api/tasks/{id}': ['tasks'],
}
/** What a session may call that belongs to one rule. */
const ofOneRule = new Set([
  ...Object.keys(pages).filter((title) => /\{id\}/.test(title)),
  ...[
    'GET /api/vocabulary',
    'GET /api/me',
    'POST /api/automation-rules/validate',
    'POST /api/automation-rules/backtests',
  ],
  ...['GET /api/automation-rules/rollouts', 'GET /api/event-types/{name}/fields', 'GET /api/events/samples'],
  ...[
    'GET /api/events',
    'POST /api/events/search',
    'GET /api/executions',
    'GET /api/decisions',
    'GET /api/tasks',
  ],
])
for (const title of [
  'POST /api/automation-rules/{id}/clone',
  'GET /api/email-templates/{id}',
  'POST /api/email-templates/{id}/preview',
])
  ofOneRule.delete(title)
/** Without `publish`. */
const publishing = new Set([
  'PUT /api/automation-rules/{id}',
  'PATCH /api/automation-rules/{id}',
  'DELETE /api/automation-rules/{id}',
  'PATCH /api/automation-rules/{id}/toggle',
  'POST /api/automation-rules/{id}/activate',
  'POST /api/automation-rules/{id}/deactivate',
  'POST /api/automation-rules/{id}/versions/{version}/restore',
  'POST /api/automation-rules/{id}/draft/promote',
  'DELETE /api/automation-rules/{id}/guard',
  'PUT /api/automation-rules/groups/{name}',
])
/** For which no caller is asked. */
const open = new Set([
  'GET /healthz',
  'GET /readyz',
  'POST /api/incoming-webhooks/{provider}/{workspaceId}',
  'GET /api/developer/v1/embed-sessions/{id}/frame',
  'POST /api/developer/v1/embed-sessions/{id}/open',
])

const api = await startApi(t)
const document = JSON.parse(await readFile('docs/openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string }>>
}
const titles = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
)
const names = ['rules', 'executions', 'events', 'decisions', 'tasks']

async function ask(call: Awaited<ReturnType<typeof openSession>>['call'], title: string, rule: string) {
  const [method = '', path = ''] = title.split(' ')
  const filled = path
    .replace('{eventType}', 'LEAD_CREATED')
    .replace('{version}', '1')
    .replace('/automation-rules/{id}', `/automation-rules/${rule}`)
    .replace('{name}', 'LEAD_CREATED')
    .replace(/\{\w+\}/g, newId())
  const isRead = method === 'GET'
  return call(method as 'GET', filled, isRead || method === 'DELETE' ? {} : { body: {} })
}

function isLimited(answer: { status: number; headers: Record<string, unknown> }): boolean {
  return answer.status === 403 && answer.headers['x-error-code'] === 'embed_session_limited'
}

t.test(
  'each operation of the API is on the pages that this table has, and all others are refused',
  async (t) => {
    t.strictSame(
      Object.keys(pages).filter((title) => !titles.includes(title)),
      [],
      'the table names operations that there are',
    )
    const workspace = await api.makeWorkspace()
    const { body: rule } = await workspace.call<{ id: string }>('POST', rules, { body: ruleBody() })
    for (const page of names) {
      const { call } = await openSession(api, workspace, { pages: [page], publish: true })
      for (const title of titles.filter((one) => !open.has(one))) {
        const answer = await ask(call, title, rule.id)
        const isOnPage = pages[title]?.includes(page) === true
        // What is on no page needs a role that no session has, or is refused for that.
        if (isOnPage) t.not(answer.status, 403, `${page}: ${title}`)
        else t.equal(answer.status, 403, `${page}: ${title}`)
        t.not(answer.status, 401, title)
      }
      const again = await workspace.call<{ id: string }>('GET', `${rules}/${rule.id}`)
      if (again.status === 404)
        rule.id = (await workspace.call<{ id: string }>('POST', rules, { body: ruleBody() })).body.id
    }
  },
)

t.test('no page, not even all of them, gives what only members and keys may', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = await openSession(api, workspace, { pages: names, publish: true })
  const never = titles.filter((title) => pages[title] === undefined && !open.has(title))
  t.ok(never.length > 50)
  for (const word of [
    'members',
    'api-keys',
    'signing-secrets',
    'credentials',
    'subscriptions',
    'audit-log',
    'workspaces',
    'embed-sessions',
    'ledger',
    'invitations',
    'webhook-receipts',
    'import',
    'export',
    'batch',
    'events/replay',
    'executions/retry',
    'executions/cancel',
  ])
    t.ok(
      never.some((title) => title.endsWith(word) || title.includes(`/${word}`)),
      word,
    )
  for (const title of never) t.equal((await ask(call, title, newId())).status, 403, title)
})

t.test('a session of one rule calls nothing that cannot be limited to it', async (t) => {
  const workspace = await api.makeWorkspace()
  const { body: rule } = await workspace.call<{ id: string }>('POST', rules, { body: ruleBody() })
  const { call } = await openSession(api, workspace, { pages: names, publish: true, rule: rule.id })
  for (const title of Object.keys(pages).filter((one) => !ofOneRule.has(one)))
    t.match(await ask(call, title, rule.id), limited, title)
})

t.test('a session without publish changes nothing that runs', async (t) => {
  const workspace = await api.makeWorkspace()
  const { body: rule } = await workspace.call<{ id: string }>('POST', rules, { body: ruleBody() })
  const { call } = await openSession(api, workspace, { pages: names })
  for (const title of Object.keys(pages)) {
    const answer = await ask(call, title, rule.id)
    t.equal(isLimited(answer), publishing.has(title), title)
  }
  const created = await call('POST', rules, { body: ruleBody() })
  t.match(created, limited, 'a rule is active unless it says otherwise')
  t.match((created.body as { error: string }).error, /isActive false/)
  t.equal((await call('POST', rules, { body: ruleBody({ isActive: false }) })).status, 201)
  t.equal((await call('POST', `${rules}/${rule.id}/clone`)).status, 201, 'a clone is inactive')
  const { body: own } = await call<{ id: string }>('POST', rules, { body: ruleBody({ isActive: false }) })
  const execute = (body: object) =>
    call('POST', `${rules}/${own.id}/execute`, {
      body: { data: {}, ...body },
      headers: { prefer: 'respond-async' },
    })
  t.match(await execute({}), limited, 'what it has created does not run by hand either')
  t.equal((await execute({ dryRun: true })).status, 200)
  const stored = await workspace.database.rule.findUnique({ where: { id: rule.id } })
  t.match(stored, { isActive: true, version: 1 })
})
