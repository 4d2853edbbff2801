import { randomUUID } from 'node:crypto'
import { createOperatorKey, Scope } from '@automation/access'
import { newId, type Role } from '@automation/database'
import { signWebhook } from '@automation/webhooks'
import t from 'tap'
import { permissionsOfScopes, permits } from '../../src/access/permissions.js'
import { type Answer, askPatiently, mint, type Question, roles, startApi } from '../fixtures/api.js'
import { drawOneIn } from '../fixtures/draw-one-in.js'
import { createResolver, type Operation, readOperations } from '../fixtures/security/operations.js'
import {
  type Field,
  type Noun,
  newTypeName,
  nounOfWord,
  plantWorkspace,
} from '../fixtures/security/plants.js'
import { sampleBody } from '../fixtures/security/sample-body.js'
import { openUnrecorded, recordSql } from '../fixtures/security/sql-recorder.js'
import { type Exception, findUnscoped } from '../fixtures/security/workspace-scope.js'
import { nowText } from '../fixtures/sender.js'

// The number of concurrent requests, of ten thousand.
const width = 8
t.setTimeout(400_000)

const { api, document, operations } = await readOperations(() => startApi(t))
const database = openUnrecorded(api.config.databaseUrl, width)
t.teardown(() => database.close())
const own = await plantWorkspace(database)
const foreign = await plantWorkspace(database)
const third = await plantWorkspace(database)

interface Caller {
  name: string
  token: string | undefined
  /** Its role in its own workspace; undefined without one. */
  permissions: ReturnType<typeof permissionsOfScopes> | undefined
  home: Field
  isKey: boolean
  /** It has a key of the operator. */
  isOperator?: boolean
}

const person = (name: string, home: Field, role: Role): Caller => ({
  name,
  token: home.tokens[role],
  permissions: { role, scopes: undefined },
  home,
  isKey: false,
})
const nobody = { permissions: undefined, home: own, isKey: false }
const callers: Caller[] = [
  { name: 'nobody', token: undefined, ...nobody },
  { name: 'garbage', token: 'garbage', ...nobody },
  { name: 'a key of nobody', token: `ark_${newId()}_${'A'.repeat(43)}`, ...nobody },
  ...roles.map((role) => person(role, own, role)),
  person('the admin of a third workspace', third, 'admin'),
  ...Scope.enum.map((scope) => ({
    name: `a key of ${scope}`,
    token: own.keys[scope],
    permissions: permissionsOfScopes([scope]),
    home: own,
    isKey: true,
  })),
  {
    name: 'an admin’s key of a third workspace',
    token: third.keys.admin,
    permissions: permissionsOfScopes(['admin']),
    home: third,
    isKey: true,
  },
  {
    name: 'a key of the operator',
    token: (await createOperatorKey({ database, actor: 'cli:tests' }, 'tests')).key,
    permissions: undefined,
    home: own,
    isKey: true,
    isOperator: true,
  },
]

const places = ['own', 'foreign', 'random', 'malformed'] as const
type Place = (typeof places)[number]
const workspaceHeaders: Record<Place | 'missing', string | undefined> = {
  own: own.id,
  foreign: foreign.id,
  random: newId(),
  malformed: 'no-uuid',
  missing: undefined,
}

interface Check {
  operation: Operation
  caller: Caller
  header: keyof typeof workspaceHeaders
  /** Of the id in the path. */
  place: Place
  body: Record<string, unknown> | undefined
}

const closed = operations.filter(({ isOpen }) => !isOpen)

t.test('every documented operation declares its roles and scopes', async (t) => {
  t.ok(closed.length > 40)
  for (const { title, role, isAboutCaller } of closed) t.equal(role === undefined, isAboutCaller, title)
  t.strictSame(
    operations.filter(({ isAboutCaller }) => isAboutCaller).map(({ title }) => title),
    ['GET /api/me', 'POST /api/developer/v1/invitations/accept'],
    'only these operations need a token and no workspace',
  )
  t.strictSame(
    operations.filter(({ isOpen }) => isOpen).map(({ title }) => title),
    [
      ...['GET /healthz', 'GET /readyz', 'POST /api/incoming-webhooks/{provider}/{workspaceId}'],
      'GET /api/developer/v1/embed-sessions/{id}/frame',
      'POST /api/developer/v1/embed-sessions/{id}/open',
    ],
    'only these operations need no token',
  )
})

/** Each exception needs a reason. */
const exceptions: Exception[] = [
  {
    reason: 'The key determines the workspace, which is compared with the named one (caller.ts).',
    sql: /^SELECT k\.id, k\.workspace_id AS "workspaceId", .* FROM api_keys k .* WHERE k\.id = ANY/,
  },
  {
    reason: 'So does a signing secret (verify-delivery.ts).',
    sql: /^SELECT s\.id, s\.workspace_id AS "workspaceId", .* FROM signing_secrets s .* WHERE s\.id = ANY/,
  },
  {
    reason: 'The workspaces of the caller, which it does not know yet (me.ts).',
    sql: /^SELECT .* FROM "public"\."members" WHERE \("public"\."members"\."user_id" = \$1 AND .*\) ORDER BY/,
  },
  {
    reason:
      'What an operator’s key counts in the workspaces that its page has, each by its id (workspaces.ts).',
    sql: /^SELECT w\.id, \(SELECT count\(\*\)::int FROM rules WHERE workspace_id = w\.id\) AS rules, .* WHERE w\.id = ANY/,
  },
  {
    reason: 'How many workspaces the caller, or the creator of its workspace, has created (workspaces.ts).',
    sql: /^SELECT count\(\*\) FROM workspaces WHERE created_by = \$1$/,
  },
  {
    reason: 'When a key or secret was last used: of one that has just been found (last-used.ts).',
    sql: /^UPDATE "public"\."(api_keys|signing_secrets)" SET "last_used_at" = \$1 WHERE \S+"id" = \$2$/,
  },
  {
    reason:
      'Prisma reads counters, drafts, guards and rules of rows that it has just read or written in the workspace.',
    sql: /^SELECT .* FROM "public"\."(rule_counters|rule_drafts|rule_guards|rules)" WHERE \S+"(rule_id|id)" (= \$1|IN \((NULL|[$\d,]+)\))( LIMIT \$\d+)? OFFSET \$\d+$/,
  },
  {
    reason: 'Those that the query before it has chosen within the workspace (cancel-waiting.ts).',
    sql: /UPDATE executions SET .* FROM waiting_executions WHERE executions\.id = waiting_executions\.id/,
  },
  {
    reason:
      'How old the backlog of all workspaces is, for a guard: its time is not shown (oldest-undone.ts).',
    sql: /^SELECT id FROM events WHERE done_at IS NULL ORDER BY id LIMIT 1$/,
  },
  {
    reason: 'The same, and what their failures had counted (reopen-executions.ts).',
    sql: /^ ?(UPDATE executions SET status = 'retrying', .* WHERE executions\.id = chosen_executions\.id RETURNING|SELECT rule_id, .* FROM chosen_executions JOIN rule_counters|SELECT rule_id FROM rule_counters WHERE rule_id IN \(…\)|UPDATE rule_counters AS counters .* FROM rule_totals)/,
  },
]

const texts = recordSql()

t.test('each role and scope gets exactly its operations, and no tenant sees another', async (t) => {
  const before = await foreign.read()
  const wrong: string[] = []
  let checks = 0
  const waiting = closed.flatMap((operation) => bodiesOf(operation).map((body) => ({ operation, body })))
  await Promise.all(Array.from({ length: width }, askOn))
  t.comment(`${checks} checks of ${closed.length} operations, ${callers.length} callers`)
  t.ok(checks >= 20 * closed.length)
  t.strictSame(wrong.slice(0, 20), [], `${wrong.length} wrong, the first: ${wrong[0] ?? 'none'}`)
  t.equal(await foreign.read(), before, 'the rows of the other workspace are unchanged')

  async function askOn(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const unknown = new Map<string, string>()
      for (const check of checksOf(next)) {
        const fault = await findFault(check, unknown)
        checks++
        if (fault !== undefined) wrong.push(fault)
      }
    }
  }
})

function checksOf({ operation, body }: Pick<Check, 'operation' | 'body'>): Check[] {
  const ids = operation.path.includes('{') ? places : (['own'] as const)
  const all = (Object.keys(workspaceHeaders) as Check['header'][])
    .flatMap((header) =>
      callers.flatMap((caller) => ids.map((place) => ({ operation, caller, header, place, body }))),
    )
    // One that succeeds would suspend the workspace of all other checks: suspension.test.ts has these.
    .filter((check) => !isForPeople(operation) || expectStatus(check) !== 'success')
  // In the caller's own workspace: another tenant's id, and each role.
  const first = ({ header, caller, place }: Check) =>
    header === 'own' && !caller.isKey && (place === 'foreign' || place === 'own')
  return [
    ...all.filter(first),
    ...drawOneIn(
      6,
      all.filter((check) => !first(check)),
    ),
  ]
}

/** Bulk calls and executions behave differently as a dry run. */
function bodiesOf({ body }: Operation): Check['body'][] {
  if (body === undefined) return [undefined]
  const sample = sampleBody(body, createResolver(document))
  const known = (body.properties as object | undefined) ?? {}
  // A bulk call must not change the rows of concurrent checks.
  const whole = 'filter' in known ? { ...sample, filter: { to: '2020-01-01T00:00:00.000Z' } } : sample
  return 'dryRun' in known ? [true, false].map((dryRun) => ({ ...whole, dryRun })) : [whole]
}

/** @param unknown the responses to an unknown id, by caller */
async function findFault(check: Check, unknown: Map<string, string>): Promise<string | undefined> {
  const { operation, caller, header, place } = check
  const title = `${operation.title} as ${caller.name}, workspace ${header}, id ${place}`
  const wanted = expectStatus(check)
  const { path, question } = await prepare(check, wanted === 'success')
  // 429: a workspace has one dry run at a time, and few may wait for it.
  const answer = await askPatiently(
    () => api.call(operation.method, path, question),
    (status) => status === 503 || (status === 429 && wanted === 'success'),
  )
  // Names of all workspaces are what a key of the operator reads.
  const leak =
    caller.isOperator && wanted === 'success' ? undefined : findLeak(answer, JSON.stringify([path, question]))
  if (leak !== undefined) return `${title}: tells ${leak}`
  const isRight = wanted === 'success' ? isSuccess(operation, answer.status) : answer.status === wanted
  if (!isRight) return `${title}: ${answer.status} instead of ${wanted}: ${JSON.stringify(answer.body)}`
  if (wanted === 401 && !isError(answer, 'Authentication required')) return `${title}: tells more than 401`
  if (wanted === 403 && !isError(answer, 'Access denied')) return `${title}: tells more than 403`
  if (wanted !== 404) return undefined
  const asker = `${caller.name} ${header}`
  const known = unknown.get(asker) ?? JSON.stringify(answer.body)
  unknown.set(asker, known)
  return known === JSON.stringify(answer.body) ? undefined : `${title}: another 404 than elsewhere`
}

function isSuccess({ responses, title }: Operation, status: number): boolean {
  // No worker ends backtests here, and a workspace has five unfinished ones at most. Who may not create one gets 403 before that.
  const isFull = title.endsWith(' /api/automation-rules/backtests') && status === 409
  return (status < 300 || isFull) && String(status) in responses
}

function isError({ body }: Answer, error: string): boolean {
  return JSON.stringify(body) === JSON.stringify({ error })
}

/** No key suspends or deletes a workspace. */
function isForPeople({ path }: Operation): boolean {
  return /\/(suspension|deletion)$/.test(path)
}

/** The expected status by the contract's order of checks: token, workspace header, membership and role, existence. */
function expectStatus({ operation, caller, header, place, body }: Check): number | 'success' {
  const { permissions, home, isKey, isOperator } = caller
  if (isOperator && !operation.isForOperators) return 403
  // It is of no workspace, and knows all that exist.
  if (isOperator) return place === 'random' || place === 'malformed' ? 404 : 'success'
  if (permissions === undefined) return 401
  // The token of the example opens nothing, and a key is nobody who could accept.
  if (operation.title.endsWith('/invitations/accept')) return isKey ? 403 : 404
  // A key that names another workspace than its own has no permissions.
  if (operation.isAboutCaller)
    return !isKey || header === 'missing' || (header === 'own' && home === own) ? 'success' : 403
  if (header === 'malformed' || (header === 'missing' && !isKey)) return 400
  const isHome = header === 'missing' || (header === 'own' && home === own)
  const role =
    typeof operation.role === 'function' ? operation.role({ body } as never) : (operation.role ?? 'admin')
  if (!isHome || !permits(permissions, role, operation.scope)) return 403
  if (isForPeople(operation) && isKey) return 403
  // A key with the scope embed alone has no role to give.
  if (operation.title === 'POST /api/developer/v1/embed-sessions' && !permits(permissions, 'viewer'))
    return 403
  // A key without the workspace header uses its own workspace, in which our rows are foreign.
  const found = home === own ? place : place === 'own' ? 'foreign' : place
  // Only a user may destroy history.
  if (operation.title === 'POST /api/developer/v1/erasures' && isKey) return 403
  if (!operation.path.includes('{')) return 'success'
  if (nounOf(operation) === undefined) return found === 'malformed' ? 400 : 'success'
  if (nounOf(operation) === 'member') {
    // No user has such an id: it cannot be written, and is not found.
    if (found === 'malformed') return operation.method === 'GET' ? 404 : 422
    // A user with a token may become a member, also if it is a member elsewhere.
    if (operation.method === 'PUT') return 'success'
  }
  // A name of another workspace's is free in this one.
  if (nounOf(operation) === 'credential' && operation.method === 'PUT') return 'success'
  return found === 'own' ? 'success' : 404
}

/** The request, with a new row if it will succeed. */
async function prepare({ operation, caller, header, place, body }: Check, succeeds: boolean) {
  const noun = nounOf(operation)
  const id =
    place === 'malformed'
      ? noun === 'member'
        ? 'x'.repeat(256)
        : // A PUT adds a credential of this name: the next one finds none.
          `no-uuid${noun === 'credential' ? randomUUID() : ''}`
      : place === 'random' || noun === undefined
        ? `${noun === 'credential' ? 'c' : ''}${randomUUID()}`
        : place === 'foreign'
          ? // What a PUT adds under this name is in responses from then on.
            operation.method === 'PUT' && (noun === 'member' || noun === 'credential')
            ? await third.plant(noun)
            : foreign.planted[noun]
          : succeeds && operation.method !== 'GET'
            ? await own.plant(noun)
            : own.planted[noun]
  const path = operation.path
    .replace('{version}', '1')
    .replace('{eventType}', place === 'malformed' ? 'no-type' : 'LEAD_CREATED')
    .replace(/\{\w+\}/, encodeURIComponent(id))
    // The one operation whose query is required.
    .replace(/\/embed-sessions$/, operation.method === 'DELETE' ? '$&?userId=42' : '$&')
  const question: Question = {
    token: caller.token,
    workspace: workspaceHeaders[header],
    ...(body === undefined
      ? {}
      : { body: { ...body, ...uniqueName(operation, body), ...rulesOf(noun, id) } }),
    headers: { prefer: 'respond-async' },
  }
  return { path, question }
}

function uniqueName({ path }: Operation, { name }: Record<string, unknown>): object {
  if (name === undefined) return {}
  return { name: path.startsWith('/api/event-types') ? newTypeName() : `${name} ${randomUUID()}` }
}

function rulesOf(noun: Noun | undefined, id: string): object {
  return noun === 'group' ? { ruleIds: [id.slice('g-'.length)] } : {}
}

function nounOf({ path }: Operation): Noun | undefined {
  if (path.endsWith('/difference')) return 'shadow'
  if (path.endsWith('/{id}/cancel')) return 'waiting'
  if (path.endsWith('/{id}/schedule')) return 'scheduled'
  const word = /([\w-]+)\/\{(?:id|userId|name)\}/.exec(path)?.[1]
  if (word === undefined) return undefined
  const noun = nounOfWord[word]
  if (noun === undefined) throw new Error(`What is the id in ${path}? Tell it in nounOfWord.`)
  return noun
}

/** Finds any secret of the foreign workspace in a response that was not in the request. */
function findLeak({ headers, body }: Answer, asked: string): string | undefined {
  const response = JSON.stringify([headers, body ?? null])
  return [foreign.canary, ...foreign.ids].find(
    (secret) => response.includes(secret) && !asked.includes(secret),
  )
}

t.test('a webhook is accepted for the workspace of its secret only', async (t) => {
  const body = '{}'
  const { id: secretId, key, provider } = own.signing
  for (const [name, workspaceId, status] of [
    ['own', own.id, 202],
    ['foreign', foreign.id, 401],
    ['random', newId(), 401],
    ['malformed', 'no-uuid', 401],
  ] as const)
    for (const token of [undefined, await mint('somebody'), foreign.tokens.admin]) {
      const id = newId()
      const timestamp = nowText()
      const headers = {
        'x-idempotency-key': id,
        'x-timestamp': timestamp,
        'x-signature-id': secretId,
        'x-signature': signWebhook(key, { id, timestamp, body }),
      }
      const path = `/api/incoming-webhooks/${provider}/${workspaceId}`
      const answer = await api.call('POST', path, { body, token, headers })
      t.equal(answer.status, status, name)
      t.equal(findLeak(answer, ''), undefined)
    }
})

t.test('every statement on rows of tenants names the workspace', async (t) => {
  const tables = await database.run<{ name: string }>(
    'tenant_tables',
    `SELECT table_name AS name FROM information_schema.columns
     WHERE column_name = 'workspace_id' AND table_schema = 'public'`,
    [],
  )
  const names = tables.map(({ name }) => name)
  t.ok(names.length >= 15)
  t.ok(texts.size > 50, 'there are statements to check')
  t.strictSame(findUnscoped(texts, names, exceptions), [])
  t.comment(`${texts.size} statements, ${names.length} tables`)

  const { rule } = api.app.database.system
  const unscoped: (() => Promise<unknown>)[] = [
    () => rule.findUnique({ where: { id: own.planted.rule } }),
    () => rule.findMany({ where: { name: own.canary }, include: { counters: true } }),
    () => rule.count(),
    () => rule.updateMany({ where: { name: newId() }, data: { name: 'x' } }),
    () => rule.deleteMany({ where: { id: newId() } }),
  ]
  for (const ask of unscoped) {
    const free = recordSql()
    await ask()
    t.ok(findUnscoped(free, names, exceptions).length > 0, `the check finds it: ${ask}`)
  }
})
