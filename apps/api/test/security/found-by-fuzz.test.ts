import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { rules, startApi } from '../fixtures/api.js'
import { storeRule } from '../fixtures/history.js'
import { beforeSql, openUnrecorded } from '../fixtures/security/sql-recorder.js'

const api = await startApi(t)

t.test('a mail previewed with null for a body is a 400', async (t) => {
  const { call } = await api.makeWorkspace()
  const { body } = await call<{ id: string }>('POST', '/api/email-templates', {
    body: { name: 'welcome', text: 'Hello' },
  })
  const preview = await call('POST', `/api/email-templates/${body.id}/preview`, { body: 'null' })
  t.equal(preview.status, 400)
  t.strictSame(preview.body, { error: 'Body must be a JSON object' })
})

t.test('attention leaves out a rule that is deleted during the request', async (t) => {
  const workspace = await api.makeWorkspace()
  const { database } = workspace
  const [kept, gone] = await Promise.all([storeRule(workspace), storeRule(workspace)])
  await database.ruleCounters.updateMany({
    data: { failureCount: 5, consecutiveFailures: 5, lastError: 'It broke', lastFailureAt: new Date() },
  })
  const aside = openUnrecorded(api.config.databaseUrl, 1)
  t.teardown(() => aside.close())
  const deleted = beforeSql(/FROM "public"\."rules"/, () =>
    aside.system.rule.delete({ where: { id: gone.id } }),
  )
  const attention = await workspace.call<{ rules: { id: string }[] }>('GET', `${rules}/attention`)
  t.ok(deleted.isDone, 'between the counters and the names')
  t.equal(attention.status, 200)
  t.strictSame(
    attention.body.rules.map(({ id }) => id),
    [kept.id],
  )
})

t.test('a list of odd objects is a 422, though each item must be unique', async (t) => {
  const { call } = await api.makeWorkspace()
  const odd: unknown[] = [{ toString: 1 }, { toString: 1 }, { valueOf: 1 }, { constructor: 1 }, 'admin']
  for (const [path, fields] of [
    ['api-keys', { name: 'Key', scopes: odd }],
    ['subscriptions', { url: 'https://example.com', eventTypes: odd }],
  ] as const) {
    const answer = await call<{ errors: { field: string }[] }>('POST', `/api/developer/v1/${path}`, {
      body: fields,
    })
    t.equal(answer.status, 422)
    const reported = answer.body.errors.map(({ field }) => field.replace(/^(scopes|eventTypes)/, 'list'))
    for (const index of [0, 1, 2, 3]) t.ok(reported.includes(`list[${index}]`), `${path}: ${reported}`)
  }
})

t.test('an odd object as overlap of a secret is a 422', async (t) => {
  const { call } = await api.makeWorkspace()
  const path = '/api/developer/v1/signing-secrets'
  const { body } = await call<{ id: string }>('POST', path, {
    body: { direction: 'incoming', provider: 'crm' },
  })
  const retired = await call('POST', `${path}/${body.id}/retire`, { body: { overlap: { toString: 1 } } })
  t.equal(retired.status, 422)
  matchLists(t, retired.body, { errors: [{ field: 'overlap' }] })
})

t.test('a time beyond the year 9999 in UTC is presented as the end of that year', async (t) => {
  const { call } = await api.makeWorkspace()
  const to = encodeURIComponent('9999-12-31T23:59:59.999-23:59')
  const { status, body } = await call<{ to: string }>('GET', `/api/developer/v1/ledger?to=${to}`)
  t.strictSame({ status, to: body.to }, { status: 200, to: '9999-12-31T23:59:59.999Z' })
})
