import { createDecisionTokens } from '@automation/access'
import { newId } from '@automation/database'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { encryptionKey, startApi, type Workspace } from './fixtures/api.js'
import { askDecision } from './fixtures/ask-decision.js'

const api = await startApi(t)
const tokens = createDecisionTokens(encryptionKey)

async function ask(workspace: Workspace, decision: object = {}, fields: object = {}) {
  const { id } = await askDecision(workspace, decision, fields, '<b>Ask</b>')
  const token = tokens.make({ workspaceId: workspace.id, executionId: id })
  return { id, token, link: `/decide/${workspace.id}/${id}/${token}/approve` }
}

const open = (url: string, method: 'GET' | 'HEAD' = 'GET') => api.app.inject({ method, url })
const post = (url: string, fields: Record<string, string>) =>
  api.app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  })

/** What a browser sends when a person presses a button of the page. */
async function press(link: string, choice: string, more: Record<string, string> = {}) {
  const [, page = ''] = /name="page" value="([0-9a-f]+)"/.exec((await open(link)).payload) ?? []
  return post(link, { page, choice, ...more })
}

t.test('a link shows a page and decides nothing, however often programs open it', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, token, link } = await ask(workspace)
  for (const method of ['GET', 'HEAD', 'GET'] as const) {
    const { statusCode, headers, payload } = await open(link, method)
    t.equal(statusCode, 200)
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': /^default-src 'none'; style-src 'self'; form-action 'self'/,
      'x-frame-options': 'DENY',
    })
    if (method === 'HEAD') continue
    t.match(payload, '<h1>&lt;b&gt;Ask&lt;/b&gt;</h1>')
    t.match(payload, /class="first">approve<\/button>\s*<button name="choice" value="reject">reject/)
    t.notMatch(payload, /<script|style=|javascript:/)
  }
  t.equal((await post(link, { choice: 'approve' })).statusCode, 403, 'without the token of the page')
  const refused = await post(link, { choice: 'approve', page: token })
  t.match(refused, { statusCode: 403, payload: /This page was out of date\. Choose again\./ })
  const row = await workspace.database.execution.findUniqueOrThrow({ where: { id } })
  t.equal(row.decision, null)
  t.equal(await workspace.database.event.count({ where: { type: 'DECISION' } }), 0)
})

t.test('the page decides once, and says afterwards who has decided', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, link } = await ask(workspace)
  const made = await press(link, 'reject', { reason: '<i>No</i>\r\nmoney\0' })
  t.equal(made.statusCode, 200)
  t.match(made.payload, 'You have decided: reject')
  matchLists(t, await workspace.database.event.findMany({ where: { type: 'DECISION' } }), [
    { data: { executionId: id, choice: 'reject', reason: '<i>No</i>\nmoney', by: 'link' } },
  ])
  matchLists(t, await workspace.database.auditEntry.findMany({ where: { action: 'execution.decided' } }), [
    { actor: 'link', subject: id, details: { choice: 'reject' } },
  ])
  const page = tokens.ofPage(tokens.make({ workspaceId: workspace.id, executionId: id }))
  const again = await post(link, { page, choice: 'approve' })
  t.equal(again.statusCode, 409)
  for (const { payload } of [again, await open(link)])
    t.match(payload, /It was decided by link at \d{4}-\d\d-\d\d \d\d:\d\d UTC: reject/)
  const other = await ask(workspace)
  await workspace.callAs('operator')('POST', `/api/decisions/${other.id}`, { body: { choice: 'approve' } })
  t.match((await open(other.link)).payload, /It was decided by a member at [^:]*:\d\d UTC: approve/)
})

t.test('a reason that is asked for is required, and a choice is one of the options', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, link } = await ask(workspace, { ask: ['reason'] })
  t.match((await open(link)).payload, /<textarea[^>]* required>/)
  for (const fields of [
    { choice: 'approve', reason: ' ' },
    { choice: 'expired', reason: 'x' },
  ] as const) {
    const answer = await press(link, fields.choice, fields)
    t.equal(answer.statusCode, 422)
    t.match(answer.payload, 'role="status">Choose one')
  }
  t.equal((await press(link, 'approve', { reason: 'Fair' })).statusCode, 200)
  const row = await workspace.database.execution.findUniqueOrThrow({ where: { id } })
  t.match(row.decision, { choice: 'approve', reason: 'Fair', by: 'link' })
})

t.test('after its time, or after its execution, the page explains', async (t) => {
  const workspace = await api.makeWorkspace()
  const scheduled = { action: 'WAIT', status: 'scheduled', waitsFor: { eventType: 'DECISION', match: {} } }
  const late = await ask(workspace, {}, { results: [{ ...scheduled, until: '2026-01-01T00:00:00.000Z' }] })
  const closed = await ask(workspace)
  await workspace.callAs('operator')('POST', `/api/executions/${closed.id}/cancel`)
  for (const [{ id, link }, text] of [
    [late, 'Nobody can decide any more since 2026-01-01 00:00 UTC'],
    [closed, 'no longer needed'],
  ] as const) {
    t.match((await open(link)).payload, text)
    const page = tokens.ofPage(tokens.make({ workspaceId: workspace.id, executionId: id }))
    const answer = await post(link, { page, choice: 'approve' })
    t.equal(answer.statusCode, 409)
    t.match(answer.payload, text)
  }
})

t.test('a wrong link leads to nothing, and so does one where a role is needed', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, token, link } = await ask(workspace)
  const other = await api.makeWorkspace()
  const forRoles = await ask(workspace, { roles: ['operator'] })
  const turned = `${token.startsWith('0') ? '1' : '0'}${token.slice(1)}`
  for (const wrong of [
    `/decide/${workspace.id}/${id}/${turned}/approve`,
    `/decide/${workspace.id}/${id}/x/approve`,
    `/decide/${other.id}/${id}/${token}/approve`,
    `/decide/${other.id}/${id}/${tokens.make({ workspaceId: other.id, executionId: id })}/approve`,
    `/decide/${workspace.id}/${newId()}/${token}/approve`,
    `/decide/x/y/${token}/approve`,
    forRoles.link,
  ]) {
    t.equal((await open(wrong)).statusCode, 404, wrong)
    const answer = await post(wrong, { page: tokens.ofPage(token), choice: 'approve' })
    t.match(answer, { statusCode: 404, payload: /Unknown link/ }, wrong)
  }
  t.equal(
    (await press(link.replace(/approve$/, 'x'), 'approve')).statusCode,
    200,
    'the option only comes first',
  )
})

t.test('an older key of the service still knows its links', async (t) => {
  const newer = Buffer.alloc(32, 'newer').toString('base64')
  const rotated = createDecisionTokens(`${newer}, ${encryptionKey}`)
  const of = { workspaceId: newId(), executionId: newId() }
  t.ok(rotated.isToken(of, tokens.make(of)))
  t.notOk(tokens.isToken(of, rotated.make(of)))
})

t.test('an address has its rate of wrong links, and each decision its own of right ones', async (t) => {
  const limited = await startApi(t, { RATE_LIMIT_ANONYMOUS: '60/2' })
  const link = `/decide/${newId()}/${newId()}/x/approve`
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push((await limited.app.inject(link)).statusCode)
  t.strictSame(statuses, [404, 404, 429])
  const answer = await limited.app.inject(link)
  t.match(answer, { headers: { 'retry-after': /^\d+$/ }, payload: /too many requests/ })
  const rightStatuses = []
  for (let n = 0; n < 5; n++) {
    const of = { workspaceId: newId(), executionId: newId() }
    const right = `/decide/${of.workspaceId}/${of.executionId}/${tokens.make(of)}/approve`
    for (const url of [right, '/decide/style.css'])
      rightStatuses.push((await limited.app.inject(url)).statusCode)
  }
  t.strictSame(new Set(rightStatuses), new Set([404, 200]), 'these decisions do not exist')
})
