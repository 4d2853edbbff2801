import { readFile } from 'node:fs/promises'
import t from 'tap'
import { type Client, createClient, type Operations } from '../src/index.js'
import { openFlakyServer } from './fixtures/flaky-server.js'

const rule = { name: 'Call', trigger: 'LEAD_CREATED', actions: [] } as const
const webhook = { provider: 'billing', id: 'evt_1', body: {}, secretId: 's1', secret: 'whsec_c2VjcmV0' }
const eventTypes = ['rule.paused' as const]

/** How each operation is called: one that is missing here does not compile. */
const calls: Record<keyof Operations, (client: Client) => PromiseLike<unknown>> = {
  'GET /healthz': ({ probes }) => probes.live(),
  'GET /readyz': ({ probes }) => probes.ready(),

  'GET /api/automation-rules': ({ rules }) => rules.list({ isActive: true }),
  'POST /api/automation-rules': ({ rules }) => rules.create({ ...rule, actions: [] }),
  'GET /api/automation-rules/{id}': ({ rules }) => rules.get('x'),
  'PUT /api/automation-rules/{id}': ({ rules }) => rules.update('x', { isActive: true }),
  'DELETE /api/automation-rules/{id}': ({ rules }) => rules.delete('x'),
  'PATCH /api/automation-rules/{id}/toggle': ({ rules }) => rules.toggle('x'),
  'POST /api/automation-rules/{id}/clone': ({ rules }) => rules.clone('x'),
  'GET /api/automation-rules/health': ({ rules }) => rules.health(),
  'GET /api/automation-rules/attention': ({ rules }) => rules.attention(),
  'GET /api/automation-rules/{id}/versions': ({ rules }) => rules.versions.list('x', { limit: 1 }),
  'GET /api/automation-rules/{id}/versions/{version}': ({ rules }) => rules.versions.get('x', 2),
  'POST /api/automation-rules/{id}/versions/{version}/restore': ({ rules }) => rules.versions.restore('x', 2),
  'POST /api/automation-rules/{id}/execute': ({ rules }) => rules.execute('x', {}),
  'POST /api/automation-rules/trigger/{eventType}': (client) => client.trigger('LEAD_CREATED', {}),
  'POST /api/automation-rules/trigger/{eventType}/batch': (client) =>
    client.triggerBatch('LEAD_CREATED', [{ data: {} }]),

  'GET /api/events': ({ events }) => events.list({ status: 'done' }),
  'GET /api/events/{id}': ({ events }) => events.get('x'),
  'POST /api/events/{id}/replay': ({ events }) => events.replay('x'),
  'POST /api/events/replay': ({ events }) => events.replayMany({ filter: {} }),
  'GET /api/executions': ({ executions }) => executions.list({ limit: 5 }),
  'GET /api/executions/{id}': ({ executions }) => executions.get('x', { explain: true }),
  'POST /api/executions/{id}/retry': ({ executions }) => executions.retry('x', { version: 'latest' }),
  'POST /api/executions/retry': ({ executions }) => executions.retryMany({ filter: {} }),
  'GET /api/tasks': ({ tasks }) => tasks.list(),

  'GET /api/email-templates': ({ emailTemplates }) => emailTemplates.list(),
  'POST /api/email-templates': ({ emailTemplates }) => emailTemplates.create({ name: 'Hi', text: 'Hi' }),
  'GET /api/email-templates/{id}': ({ emailTemplates }) => emailTemplates.get('x'),
  'PUT /api/email-templates/{id}': ({ emailTemplates }) => emailTemplates.update('x', { text: 'Ho' }),
  'DELETE /api/email-templates/{id}': ({ emailTemplates }) => emailTemplates.delete('x'),
  'POST /api/email-templates/{id}/preview': ({ emailTemplates }) => emailTemplates.preview('x'),

  'POST /api/incoming-webhooks/{provider}/{workspaceId}': ({ webhooks }) => webhooks.deliver(webhook),
  'GET /api/developer/v1/webhook-receipts': ({ developer }) => developer.receipts.list(),
  'GET /api/developer/v1/webhook-receipts/{id}': ({ developer }) => developer.receipts.get('x'),
  'GET /api/developer/v1/api-keys': ({ developer }) => developer.apiKeys.list(),
  'POST /api/developer/v1/api-keys': ({ developer }) =>
    developer.apiKeys.create({ name: 'CI', scopes: ['admin'] }),
  'DELETE /api/developer/v1/api-keys/{id}': ({ developer }) => developer.apiKeys.revoke('x'),
  'GET /api/developer/v1/signing-secrets': ({ developer }) => developer.signingSecrets.list(),
  'POST /api/developer/v1/signing-secrets': ({ developer }) =>
    developer.signingSecrets.create({ provider: 'p' }),
  'POST /api/developer/v1/signing-secrets/{id}/retire': ({ developer }) =>
    developer.signingSecrets.retire('x', { overlap: '24h' }),
  'DELETE /api/developer/v1/signing-secrets/{id}': ({ developer }) => developer.signingSecrets.revoke('x'),
  'GET /api/developer/v1/subscriptions': ({ developer }) => developer.subscriptions.list(),
  'POST /api/developer/v1/subscriptions': ({ developer }) =>
    developer.subscriptions.create({ url: 'https://example.com', eventTypes }),
  'GET /api/developer/v1/subscriptions/{id}': ({ developer }) => developer.subscriptions.get('x'),
  'PATCH /api/developer/v1/subscriptions/{id}': ({ developer }) =>
    developer.subscriptions.update('x', { isActive: false }),
  'DELETE /api/developer/v1/subscriptions/{id}': ({ developer }) => developer.subscriptions.delete('x'),
  'POST /api/developer/v1/subscriptions/{id}/test': ({ developer }) => developer.subscriptions.test('x'),
  'GET /api/developer/v1/subscriptions/{id}/deliveries': ({ developer }) =>
    developer.subscriptions.deliveries('x'),
  'GET /api/developer/v1/members': ({ developer }) => developer.members.list(),
  'PUT /api/developer/v1/members/{userId}': ({ developer }) => developer.members.put('x', 'viewer'),
  'DELETE /api/developer/v1/members/{userId}': ({ developer }) => developer.members.remove('x'),
  'GET /api/developer/v1/workspaces': ({ developer }) => developer.workspaces.list(),
  'POST /api/developer/v1/workspaces': ({ developer }) => developer.workspaces.create({ name: 'Acme' }),
  'GET /api/developer/v1/workspaces/{id}': ({ developer }) => developer.workspaces.get('x'),
  'PATCH /api/developer/v1/workspaces/{id}': ({ developer }) =>
    developer.workspaces.update('x', { name: 'Acme' }),
  'GET /api/developer/v1/ledger': ({ developer }) => developer.ledger(),
  'GET /api/developer/v1/audit-log': ({ developer }) => developer.auditLog.list(),
}

t.test(
  'every operation of the document is a call of the client, and goes where the document says',
  async (t) => {
    const { paths } = JSON.parse(
      await readFile(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8'),
    ) as { paths: Record<string, object> }
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    t.same(Object.keys(calls).sort(), documented.sort())

    const { baseUrl, asked } = await openFlakyServer(t, [], { status: 200, body: { results: [] } })
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
  },
)
