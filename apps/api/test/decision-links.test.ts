import { setTimeout as delay } from 'node:timers/promises'
import { createDecisionTokens } from '@automation/access'
import { ownerOf } from '@automation/admission'
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

/** A right link to a decision that does not exist. */
function linkOf({ id }: { id: string }): string {
  const of = { workspaceId: id, executionId: newId() }
  return `/decide/${of.workspaceId}/${of.executionId}/${tokens.make(of)}/approve`
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
})

t.test('the page decides once, and says afterwards who has decided', async (t) => {
  const workspace = await api.makeWorkspace()
  const { id, link } = await ask(workspace)
  const made = await press(link, 'reject', { reason: '<i>No</i>\r\nmoney\0' })
  t.equal(made.statusCode, 200)
  t.match(made.payload, 'You have decided: reject')
  const row = await workspace.database.execution.findUniqueOrThrow({ where: { id } })
  t.match(row.decision, { choice: 'reject', reason: '<i>No</i>\nmoney', by: 'link' })
  t.ok(Number(row.dueAt) <= Date.now(), 'what waits goes on')
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
  const limited = await startApi(t, { RATE_LIMIT_ANONYMOUS: '1/2' })
  const link = `/decide/${newId()}/${newId()}/x/approve`
  const statuses = []
  for (let n = 0; n < 3; n++) statuses.push((await limited.app.inject(link)).statusCode)
  t.strictSame(statuses, [404, 404, 429])
  const answer = await limited.app.inject(link)
  t.match(answer, { headers: { 'retry-after': /^\d+$/ }, payload: /too many requests/ })
  const workspace = await limited.makeWorkspace()
  const rightStatuses = []
  for (let n = 0; n < 5; n++) {
    for (const url of [linkOf(workspace), '/decide/style.css'])
      rightStatuses.push((await limited.app.inject(url)).statusCode)
  }
  t.strictSame(new Set(rightStatuses), new Set([404, 200]), 'these decisions do not exist')
  const gone = { id: newId() }
  t.equal((await limited.app.inject(linkOf(gone))).statusCode, 429, 'a workspace that is gone has no links')
})

t.test(
  'the links of a workspace and of its creator have rates of their own, and callers others',
  async (t) => {
    const few = { perMinute: 1, burst: 3 }
    const many = { perMinute: 1, burst: 5 }
    const limits = {
      workspace: { standard: few, enterprise: few },
      creator: { standard: many, enterprise: many },
    }
    const { app, makeWorkspace } = await startApi(t, {}, limits)
    const createdBy = `user:${newId()}`
    const [workspace, sister, other] = await Promise.all([makeWorkspace(), makeWorkspace(), makeWorkspace()])
    const ids = [workspace.id, sister.id]
    await app.database.system.workspace.updateMany({ where: { id: { in: ids } }, data: { createdBy } })
    const openMany = async (of: { id: string }, count: number) => {
      const statuses = []
      for (let n = 0; n < count; n++) statuses.push((await app.inject(linkOf(of))).statusCode)
      return statuses
    }
    t.strictSame(await openMany(workspace, 4), [404, 404, 404, 429], 'many decisions of one workspace')
    t.strictSame(await openMany(sister, 3), [404, 404, 429], 'and of one creator')
    t.strictSame(await openMany(other, 1), [404], 'others are not refused')
    const statuses = []
    for (let n = 0; n < 4; n++) statuses.push((await workspace.call('GET', '/api/decisions')).status)
    t.strictSame(statuses, [200, 200, 200, 429], 'callers still have all of theirs')
    for (let n = 0; n < 4; n++) await other.call('GET', '/api/decisions')
    t.strictSame(await openMany(other, 1), [404], 'a busy backend refuses nobody who decides')
  },
)

t.test('a link waits for the turn of its workspace', async (t) => {
  const { app, makeWorkspace } = await startApi(t)
  const [busy, quiet] = await Promise.all([makeWorkspace(), makeWorkspace()])
  const { reads } = app.admission
  const owner = ownerOf({ workspaceId: busy.id, createdBy: null })
  const held = []
  for (let entry = reads.tryEnter(owner); entry; entry = reads.tryEnter(owner)) held.push(entry)
  const opened = app.inject(linkOf(busy))
  while (reads.waiting === 0) await delay(5)
  t.equal((await app.inject(linkOf(quiet))).statusCode, 404)
  t.equal(reads.waiting, 1, 'the link of the busy one still waits')
  for (const entry of held) entry.leave()
  t.equal((await opened).statusCode, 404)
})

t.test('a link waits no more than two seconds for its turn, and then is a page', async (t) => {
  const { app, makeWorkspace } = await startApi(t)
  const busy = await makeWorkspace()
  const { reads } = app.admission
  const asked: (number | undefined)[] = []
  const { enter } = reads
  t.teardown(() => {
    reads.enter = enter
  })
  reads.enter = (owner, options) => {
    asked.push(options?.timeoutMs)
    return enter.call(reads, owner, { ...options, timeoutMs: 0 })
  }
  const owner = ownerOf({ workspaceId: busy.id, createdBy: null })
  for (let entry = reads.tryEnter(owner); entry; entry = reads.tryEnter(owner)) t.teardown(entry.leave)
  const answer = await app.inject(linkOf(busy))
  t.strictSame(asked, [2_000])
  t.match(answer, { statusCode: 429, headers: { 'content-type': /^text\/html/, 'retry-after': /^\d+$/ } })
})
