import t from 'tap'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

const api = await startApi(t)

type Names = string[]
interface Changes {
  create: Names
  change: { name: string; fields: { field: string; before?: unknown; after?: unknown }[] }[]
  delete: Names
  unchanged: Names
  others: Names
  almostSame?: { name: string; other: string }[]
}
interface Imported {
  applied: boolean
  rules: Changes
  emailTemplates: Changes
  missingCredentials: Names
}
interface RuleFile {
  version: number
  rules: { name: string; actions: object[] }[]
  emailTemplates?: object[]
}

const fileOf = (...list: object[]) => ({ version: 1, rules: list })
const rule = (name: string, fields: object = {}) => ruleBody({ name, ...fields })
const importFile = ({ call }: Workspace, body: object, headers: Record<string, string> = {}) =>
  call<Imported>('POST', `${rules}/import`, { body, headers })
const exportFile = async ({ call }: Workspace) => (await call<RuleFile>('GET', `${rules}/export`)).body

async function readAll({ database }: Workspace) {
  const omit = { nextRunAt: true, scheduledSince: true } as const
  return {
    rules: await database.rule.findMany({ orderBy: { id: 'asc' }, omit }),
    templates: await database.emailTemplate.findMany(),
    log: await database.auditEntry.findMany({ orderBy: { id: 'asc' } }),
  }
}

t.test('what one workspace exports, another one imports, and both export the same', async (t) => {
  const [from, to] = [await api.makeWorkspace(), await api.makeWorkspace()]
  await from.call('POST', '/api/email-templates', { body: { name: 'welcome', text: 'Hello' } })
  const bodies = [
    rule('Plain'),
    rule('Patterns', { conditions: [{ field: 'name', operator: 'matches', value: '^A' }] }),
    rule('Grouped', { group: 'routing', order: 10 }),
    rule('Keyed', { perKey: { key: '{{lead}}', atMost: { runs: 1, per: '7d' } } }),
    rule('Off', { isActive: false }),
    rule('Shadow', { mode: 'shadow' }),
    rule('Expected', { expectEvery: '24h' }),
    rule('Daily', { trigger: 'SCHEDULE', schedule: { cron: '0 9 * * *', timezone: 'UTC' }, conditions: [] }),
    rule('Same'),
    rule('Same', { description: 'Another of its name' }),
  ]
  for (const body of bodies) t.equal((await from.call('POST', rules, { body })).status, 201)
  const file = await exportFile(from)
  t.strictSame(
    file.rules.map(({ name }) => name),
    bodies.map(({ name }) => name).sort(),
  )
  const { status, body } = await importFile(to, { file, dryRun: false })
  t.equal(status, 200)
  t.match(body, { applied: true, rules: { create: { length: bodies.length }, unchanged: { length: 0 } } })
  t.strictSame(await exportFile(to), file)
  const before = await readAll(to)
  const again = await importFile(to, { file, dryRun: false, prune: true })
  t.match(again.body, {
    rules: {
      create: { length: 0 },
      change: { length: 0 },
      delete: { length: 0 },
      unchanged: { length: bodies.length },
    },
  })
  t.strictSame(await readAll(to), before, 'the same file changes nothing')
})

t.test('a file with what POST refuses is refused at the same places', async (t) => {
  const workspace = await api.makeWorkspace()
  const fields = {
    perKey: { key: '{{lead}}', collect: { for: '1h' } },
    actions: [{ type: 'CREATE_TASK', config: { title: '{{collected.nothing}}' } }],
  }
  type Faults = { errors: { field: string; message: string }[] }
  const alone = await workspace.call<Faults>('POST', rules, { body: rule('Batch', fields) })
  const inFile = await workspace.call<Faults>('POST', `${rules}/import`, {
    body: { file: fileOf(rule('Batch', fields)) },
  })
  t.match([alone.status, inFile.status], [422, 422])
  t.ok(alone.body.errors.length > 0)
  t.strictSame(
    inFile.body.errors,
    alone.body.errors.map((fault) => ({ ...fault, field: `file.rules[0].${fault.field}` })),
  )
})

t.test('a dry run shows the changes, and makes none', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const name of ['Changed', 'Kept', 'Old']) await workspace.call('POST', rules, { body: rule(name) })
  const before = await readAll(workspace)
  const file = fileOf(rule('Changed', { description: 'New' }), rule('Kept'), rule('New'))
  const { status, body } = await importFile(workspace, { file, prune: true })
  t.equal(status, 200)
  t.match(body, {
    applied: false,
    rules: {
      create: ['New'],
      change: [{ name: 'Changed', fields: [{ field: 'description', after: 'New' }] }],
      delete: ['Old'],
      unchanged: ['Kept'],
      others: { length: 0 },
    },
    missingCredentials: { length: 0 },
  })
  t.strictSame((await importFile(workspace, { file })).body.rules.others, ['Old'])
  t.strictSame(await readAll(workspace), before)
})

t.test('a plan tells new names that look like others', async (t) => {
  const workspace = await api.makeWorkspace()
  await workspace.call('POST', rules, { body: rule('Caf\u00e9') })
  await workspace.call('POST', '/api/email-templates', { body: { name: 'bye', text: 'x' } })
  const file = {
    ...fileOf(rule('Cafe\u0301'), rule('Lead '), rule('Lead'), rule('Other')),
    emailTemplates: [{ name: 'bye\u00a0', text: 'x' }],
  }
  const { body } = await importFile(workspace, { file })
  t.strictSame(body.rules.almostSame, [
    { name: 'Cafe\u0301', other: 'Caf\u00e9' },
    { name: 'Lead', other: 'Lead ' },
  ])
  t.strictSame(body.emailTemplates.almostSame, [{ name: 'bye\u00a0', other: 'bye' }])
  const { body: imported } = await importFile(workspace, { file, dryRun: false })
  t.match(imported, { applied: true, rules: { almostSame: [{ name: 'Cafe\u0301' }, { name: 'Lead' }] } })
  const again = await importFile(workspace, { file })
  t.notOk('almostSame' in again.body.rules, 'they are not new any more')
})

t.test('an import makes the changes that its caller has seen, or none', async (t) => {
  const workspace = await api.makeWorkspace()
  const { call } = workspace
  const { body: mine } = await call<{ id: string }>('POST', rules, { body: rule('Mine') })
  const { body: other } = await call<{ id: string }>('POST', rules, { body: rule('Other') })
  const file = fileOf(rule('Mine', { description: 'From the file' }))
  const tag = String((await importFile(workspace, { file })).headers.etag)
  t.match(tag, /^"[\w-]{43}"$/)
  t.equal((await importFile(workspace, { file })).headers.etag, tag)

  await call('PATCH', `${rules}/${other.id}`, { body: { description: 'What the file is not about' } })
  t.equal((await importFile(workspace, { file })).headers.etag, tag)
  await call('PATCH', `${rules}/${mine.id}`, { body: { description: 'By somebody else' } })
  const before = await readAll(workspace)
  const late = await importFile(workspace, { file, dryRun: false }, { 'if-match': tag })
  t.match([late.status, late.headers['x-error-code']], [412, 'version_conflict'])
  t.strictSame(await readAll(workspace), before)

  const seen = String((await importFile(workspace, { file })).headers.etag)
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => importFile(workspace, { file, dryRun: false }, { 'if-match': seen })),
  )
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 412, 412, 412])
  t.match((await call('GET', `${rules}/${mine.id}`)).body, { description: 'From the file', version: 3 })
})

t.test('a tick is no change of what a file is about', async (t) => {
  const workspace = await api.makeWorkspace()
  const scheduled = { trigger: 'SCHEDULE', schedule: { every: '1m' }, conditions: [] }
  await workspace.call('POST', rules, { body: rule('Tick', scheduled) })
  const file = fileOf(rule('Tick', { ...scheduled, description: 'New' }))
  const tag = String((await importFile(workspace, { file })).headers.etag)
  await workspace.database.rule.updateMany({ data: { nextRunAt: new Date(), missedTicks: 2 } })
  t.equal((await importFile(workspace, { file, dryRun: false }, { 'if-match': tag })).status, 200)
})

t.test('all faults of a file are named, and nothing is imported', async (t) => {
  const workspace = await api.makeWorkspace()
  const { database } = workspace
  const faulty = {
    ...fileOf(
      rule('Good'),
      rule('Pattern', { conditions: [{ field: 'a', operator: 'matches', value: '(' }] }),
      rule('Trigger', { trigger: 'NOBODY_KNOWS' }),
      rule('Ordered', { order: 1 }),
    ),
    emailTemplates: [
      { name: 'a', text: 'x' },
      { name: 'a', text: 'y' },
    ],
  }
  for (const dryRun of [true, false]) {
    const { status, body } = await importFile(workspace, { file: faulty, dryRun })
    t.equal(status, 422)
    const { errors } = body as unknown as { errors: { field: string }[] }
    t.strictSame(
      errors.map(({ field }) => field),
      [
        'file.rules[1].conditions[0].value',
        'file.rules[2].trigger',
        'file.rules[3].order',
        'file.emailTemplates[1].name',
      ],
    )
  }
  const shape = await importFile(workspace, { file: { version: 1, rules: [{ name: 'x' }], tests: [] } })
  t.equal(shape.status, 422)
  t.match(JSON.stringify(shape.body), /file\.rules\[0\]\.trigger.*file\.tests: Unknown|file\.tests/)
  t.equal(await database.rule.count(), 0)
})

t.test('a file that would delete much says how much', async (t) => {
  const workspace = await api.makeWorkspace()
  for (const name of ['A', 'B', 'C']) await workspace.call('POST', rules, { body: rule(name) })
  const body = { file: fileOf(rule('A')), prune: true, dryRun: false }
  const refused = await importFile(workspace, body)
  t.equal(refused.status, 409)
  t.match(refused.body, { error: /would delete 2, .*use maxDeletions 2$/ })
  t.equal(await workspace.database.rule.count(), 3)
  t.equal((await importFile(workspace, { ...body, maxDeletions: 2 })).status, 200)
  t.strictSame(
    (await exportFile(workspace)).rules.map(({ name }) => name),
    ['A'],
  )
})

t.test('a repeat under its key gets the response of the import, which names what was changed', async (t) => {
  const workspace = await api.makeWorkspace()
  await workspace.call('POST', rules, { body: rule('A') })
  const body = { file: fileOf(rule('A', { description: 'New' }), rule('B')), dryRun: false }
  const first = await importFile(workspace, body, { 'idempotency-key': 'import-1' })
  const again = await importFile(workspace, body, { 'idempotency-key': 'import-1' })
  t.equal(again.headers['idempotent-replayed'], 'true')
  t.strictSame(again.body, first.body)
  t.strictSame(first.body.rules.change, [{ name: 'A', fields: [{ field: 'description' }] }])
  const log = await workspace.database.auditEntry.findMany({ orderBy: { id: 'asc' } })
  t.strictSame(
    log.slice(-3).map(({ action }) => action),
    ['rule.created', 'rule.updated', 'rule.created'],
  )
})

t.test('the credentials that a workspace lacks are named', async (t) => {
  const workspace = await api.makeWorkspace()
  const call = {
    type: 'SEND_WEBHOOK',
    config: { url: 'https://crm.example.com/', headers: { authorization: '{{credentials.CRM}}' } },
  }
  const { body } = await importFile(workspace, { file: fileOf(rule('A', { actions: [call] })) })
  t.strictSame(body.missingCredentials, ['CRM'])
})

t.test('more than 4 MiB of rules are refused, with what can be done instead', async (t) => {
  const workspace = await api.makeWorkspace()
  const text = 'x'.repeat(99_000)
  await workspace.database.emailTemplate.createMany({
    data: Array.from({ length: 43 }, (_, index) => ({
      id: crypto.randomUUID(),
      workspaceId: workspace.id,
      name: `${index}`,
      text,
    })),
  })
  const { status, headers, body } = await workspace.call('GET', `${rules}/export`)
  t.match([status, headers['x-error-code']], [400, 'result_too_large'])
  t.match(body, { error: 'The result is larger than 4 MiB: export the rules label by label' })
  t.equal((await workspace.call('GET', `${rules}/export?label=a`)).status, 200, 'labels name no templates')
  const refused = await importFile(workspace, { file: fileOf() })
  t.equal(refused.headers['x-error-code'], 'result_too_large')
  t.match(refused.body, { error: 'The result is larger than 4 MiB: change the rules one by one' })
})
