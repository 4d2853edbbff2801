import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApiKey, createWorkspace, mintToken } from '@automation/access'
import {
  createClient,
  type Decision,
  type Event,
  type EventWhy,
  type ExecutionSummary,
  type NewSigningSecret,
  type Rule,
} from '@automation/client'
import { newId, openPatiently } from '@automation/database'
import { makeTemporaryDirectory, startProduct } from '@automation/launcher'
import { matchLists } from '@automation/launcher/match-lists'
import t, { type Test } from 'tap'
import { run, runJson } from './fixtures/run.js'

const none = { RULES_URL: '', RULES_TOKEN: '', RULES_WORKSPACE: '' }

/** A product with a workspace, a rule, a token and a key. */
async function startSite(t: Test) {
  const { path, remove } = await makeTemporaryDirectory()
  const product = await startProduct({
    directory: path,
    durable: false,
    preparedPostgres: process.env.TEST_POSTGRES,
  })
  const database = openPatiently(product.env.DATABASE_URL ?? '', 2)
  t.teardown(async () => {
    await database.close()
    await product.stop()
    await remove()
  })
  const url = product.apis[0]?.baseUrl ?? ''
  const { id } = await createWorkspace({ database, actor: 'cli:test' }, { name: 'Acme', adminUserId: 'ada' })
  const administrator = { database, actor: 'cli:test', workspaceId: id }
  const { key } = await createApiKey(administrator, { name: 'CI', scopes: ['rules:read'] })
  const token = await mintToken({
    secret: product.env.JWT_SECRET ?? '',
    userId: 'ada',
    expiresInSeconds: 3_600,
  })
  const rule = await createClient({ baseUrl: url, token, workspaceId: id }).rules.create({
    name: 'Hot leads',
    trigger: 'LEAD_CREATED',
    conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
  })
  const env = { ...none, RULES_URL: url, RULES_TOKEN: token, RULES_WORKSPACE: id }
  const demo = {
    baseUrl: url,
    workspaceId: id,
    token,
    webhook: { provider: 'p', secretId: 's', secret: 'whsec_' },
  }
  return { url, id, key, token, rule, env, demo, database }
}

t.test(
  'a draft is saved from a file, compared, promoted under a guard, and its guard is ended',
  async (t) => {
    const { url, id, token, rule, env } = await startSite(t)
    const file = (...names: string[]) =>
      JSON.stringify({
        version: 1,
        rules: names.map((name) => ({ ...draft, name, isActive: false })),
      })
    const draft = {
      trigger: 'LEAD_CREATED',
      conditions: [{ field: 'score', operator: 'greater_than', value: 50 }],
      actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
    }
    const limit = { key: '{{lead}}', atMost: { runs: 1, per: '7d' } }
    const directory = t.testdir({
      'one.json': file('Warm leads'),
      'two.json': file('Warm leads', 'Other'),
      'bad.json': '{"rules":[{"name":"x"}]}',
      'limited.json': JSON.stringify({ version: 1, rules: [{ ...draft, name: 'Limited', perKey: limit }] }),
    })
    const client = (line: string) => run('client', line, directory, env)
    const ask = <Value>(line: string) => runJson<Value>('client', line, directory, env)

    t.match(await client(`rules draft ${rule.id}`), {
      code: 1,
      errors: /404 draft_not_found: The rule has no draft/,
    })
    t.match(await client(`rules draft ${rule.id} two.json`), { code: 64, errors: /choose one with --rule/ })
    t.match(await client(`rules draft ${rule.id} bad.json`), {
      code: 1,
      errors: /responded 422 validation_failed \(request \S+\):\ntrigger: Required\nactions: Required\n$/,
    })
    t.match(await client(`rules draft ${rule.id} limited.json`), { code: 0 })
    t.match(await ask(`rules draft ${rule.id}`), { perKey: limit })
    const saved = await client(`rules draft ${rule.id} one.json`)
    t.match(saved, { code: 0, errors: `Target: ${url}, workspace ${id}\n` })
    t.match(await client('events send LEAD_CREATED {"name":"Ada","score":60} --wait 30'), { code: 0 })
    const shown = await client(`rules draft ${rule.id}`)
    t.match(shown.output, /^name +Warm leads$/m)
    t.match(shown.output, 'Matches: 0 → 1 (version 1 → draft): 0 the same, 1 added, 0 removed.')
    t.match(shown.output, 'The draft, compared with the active version:\n  +1 task\n')
    const { etag } = await ask<{ etag: string }>(`rules draft ${rule.id}`)

    t.match(await client(`rules promote ${rule.id} --max-runs 5`), { code: 64, errors: /needs --guard/ })
    t.match(await client(`rules promote ${rule.id} --guard 1h`), { code: 64, errors: /needs --max-runs/ })
    t.match(await client(`rules promote ${rule.id} --guard soon --max-runs 5`), {
      code: 64,
      errors: /duration/,
    })
    t.match(await client(`rules promote ${rule.id} --etag "9"`), { code: 1, errors: /responded 412/ })
    const promoted = await client(
      `rules promote ${rule.id} --guard 24h --max-runs 200 --max-failure-rate 0.5 --etag ${etag}`,
    )
    t.match(promoted, { code: 0, output: `Rule ${rule.id} has version 2 now. A guard watches it for 24h` })
    t.match(await ask(`rules guard ${rule.id}`), { version: 2, maxRunsPerHour: 200, maxFailureRate: 0.5 })
    t.match((await client(`rules guard ${rule.id}`)).output, /^maxRunsPerHour +200$/m)
    t.match(await client(`rules guard ${rule.id} --end`), { code: 0, output: /has ended/ })
    t.match(await client(`rules guard ${rule.id}`), {
      code: 1,
      errors: /404 guard_not_found: The rule has no guard/,
    })
    t.match(await client('rules group routing'), { code: 1, errors: /No rule is in the group/ })
    await createClient({ baseUrl: url, token, workspaceId: id }).rules.update(rule.id, {
      group: 'routing',
      order: 1,
    })
    t.match(await client('rules group routing'), { code: 0, output: new RegExp(`^1 +${rule.id}`, 'm') })
    t.match(await client(`rules reorder routing ${rule.id}`), {
      code: 0,
      output: new RegExp(`^10 +${rule.id}`, 'm'),
    })
    t.match(await client(`rules draft ${rule.id} two.json --rule Other`), { code: 0 })
    t.match(await client(`rules draft ${rule.id} one.json --delete`), { code: 64, errors: /accepts no file/ })
    t.match(await ask(`rules draft ${rule.id} --delete`), { ruleId: rule.id, isDeleted: true })
    t.match(await client(`rules draft ${rule.id} --delete`), { code: 1, errors: /has no draft/ })
  },
)

t.test(
  'a file is planned, imported and exported through the API, with the lines of its faults',
  async (t) => {
    const { id, token, url, rule, env } = await startSite(t)
    const rules = createClient({ baseUrl: url, token, workspaceId: id }).rules
    const action = "{ type: CREATE_TASK, config: { title: 'Call {{name}}' } }"
    const warm = (trigger: string) =>
      `  - name: Warm leads\n    trigger: ${trigger}\n    actions:\n      - ${action}\n`
    const hot = `  - name: Hot leads\n    trigger: LEAD_CREATED\n    conditions: [{ field: score, operator: greater_than, value: 70 }]\n    actions:\n      - ${action}\n`
    const failing =
      'tests:\n  - name: cold\n    event: { type: LEAD_CREATED, data: { score: 75 } }\n    expectOnly: {}\n'
    const directory = t.testdir({
      'rules.yaml': `version: 1\nrules:\n${hot}${warm('LEAD_CREATED')}...\n`,
      'own.yaml': `version: 1\nrules:\n${hot}${warm('nobody.knows')}...\n`,
      'tested.yaml': `version: 1\nrules:\n${hot}${failing}...\n`,
      'cut.yaml': `version: 1\nrules:\n${hot}`,
      'none.yaml': 'version: 1\nrules: []\nemailTemplates: []\n...\n',
    })
    const client = (line: string) => run('client', line, directory, env)
    const target = `Target: ${url}, workspace ${id}\n`

    const planned = await client('rules import rules.yaml --plan')
    t.match(planned, { code: 2, errors: '' })
    t.match(planned.output, '+ rule "Warm leads"\n+     description: ""\n+     trigger: LEAD_CREATED\n')
    t.match(planned.output, '~ rule "Hot leads"\n')
    t.match(planned.output, /^- +value: 80\n\+ +value: 70$/m)
    t.match(planned.output, 'Rules: 1 to create, 1 to change, 0 to delete, 0 unchanged.\n')
    t.match(await rules.get(rule.id), { version: 1 }, 'a plan changes nothing')
    t.match(await client('rules import rules.yaml'), { code: 64, errors: 'Use --plan or --yes' })
    t.match(await client('rules import tested.yaml --yes'), {
      code: 1,
      errors: /FAILED cold\n(.*\n)+Nothing was applied/,
    })
    t.match(await client('rules import cut.yaml --prune --yes'), {
      code: 1,
      errors: /may have been cut short/,
    })
    t.match(await client('rules import own.yaml --yes'), {
      code: 1,
      errors: /\nown\.yaml:\d+: rule "Warm leads": trigger: /,
    })
    t.match(await client('rules import none.yaml --prune --max-deletions 0 --yes'), {
      code: 1,
      errors: /409 limit_reached/,
    })

    const done = await client('rules import rules.yaml --yes')
    t.same(done, { code: 0, errors: target, output: `${planned.output}\nApplied.\n` })
    t.match(await rules.get(rule.id), { version: 2, conditions: [{ value: 70 }] })
    t.match(await client('rules import rules.yaml --plan'), { code: 0, output: /2 unchanged/ })
    t.match(await client('rules import tested.yaml --skip-tests --plan'), { code: 0 })

    t.match(await client('rules export --output out.yaml'), { code: 0, output: 'Wrote 2 rules' })
    const { output } = await client('rules export')
    t.equal(output, await readFile(`${directory}/out.yaml`, 'utf8'))
    t.match(await client('rules import out.yaml --prune --plan'), { code: 0, output: /2 unchanged/ })
  },
)

t.test('rules, events and executions are used with a token or a key from the environment', async (t) => {
  const { url, id, key, token, rule, env, demo } = await startSite(t)
  const directory = t.testdir({ '.data': { 'demo.json': JSON.stringify(demo) }, 'lead.json': '{"score":10}' })
  const client = (line: string, own: Record<string, string> = env) => run('client', line, directory, own)
  const ask = <Value>(line: string) => runJson<Value>('client', line, directory, env)

  const list = await client('rules list --trigger LEAD_CREATED --state active')
  t.match(list, {
    code: 0,
    errors: '',
    output: new RegExp(`^${rule.id} +Hot leads +LEAD_CREATED +true +0 +0$`, 'm'),
  })
  t.match(await ask<Rule[]>('rules list --state inactive'), { length: 0 })
  t.match((await client(`rules get ${rule.id}`)).output, /\nactions:\n {2}- type: CREATE_TASK\n/)

  const sent = await client('events send LEAD_CREATED {"name":"Ada","score":95} --wait 30')
  t.match(sent, { code: 0, errors: `Target: ${url}, workspace ${id}\n` })
  t.match(
    sent.output,
    new RegExp(`^Event \\S+ is done\\.\\nrule +ruleId .*\\nHot leads +${rule.id} +succeeded `),
  )
  const [, first = ''] = /^Event (\S+)/.exec(sent.output) ?? []
  const unmatched = await client('events send LEAD_CREATED --file lead.json --async --key k')
  const [, accepted = ''] =
    /^Accepted as event (\S+)\. Its outcome: .* events wait \1$/m.exec(unmatched.output) ?? []
  t.match(await client('events send LEAD_CREATED --file lead.json --async --key k'), {
    output: new RegExp(accepted),
  })
  const waited = await ask<Event>(`events wait ${accepted} --timeout 1m`)
  t.match(waited, { id: accepted, status: 'done', results: [{ status: 'not_matched' }] })
  t.match(await ask<Event>(`events get ${first}`), { id: first, data: { name: 'Ada' } })
  t.match((await client(`events get ${first}`)).output, /^status +done$/m)

  const listed = await ask<Event[]>(
    'events list --type LEAD_CREATED --status done --from 2026-01-01 --limit 2',
  )
  t.match(listed, [{ id: accepted }, { id: first, status: 'done', matched: 1 }])
  t.match((await client(`events list --rule ${rule.id} --limit 1`)).output, new RegExp(`^${accepted} `, 'm'))
  t.strictSame(await ask<Event[]>('events list --to 2026-01-01'), [])
  t.match(await client('events list --status lost'), {
    code: 1,
    errors: /accepted, running, done, quarantined/,
  })

  const why = await client(`events why ${accepted}`)
  t.match(why, { code: 0, errors: '' })
  t.equal(
    why.output.split('\n\n')[1]?.trimEnd(),
    `not_matched: Hot leads (version 1)
  rule ${rule.id}
  conditions[0]: score greater_than 80, found 10, 70 off
  would match if score is above 80
  would match with: score 10 → 80.01`,
  )
  t.match(why.output, new RegExp(`^Event ${accepted}, LEAD_CREATED, evaluated at 20..-..-.. ..:..:..Z$`, 'm'))
  t.match(await ask<EventWhy>(`events why ${first} --rule ${rule.id}`), {
    eventId: first,
    rules: [{ verdict: 'matched', executionId: String }],
  })
  const matched = await client(`events why ${first}`)
  t.match(
    matched.output,
    new RegExp(`^matched: Hot leads .*\\n  rule ${rule.id}, execution .*\\n  succeeded$`, 'm'),
  )
  t.match(await client(`events why ${rule.id}`), {
    code: 1,
    errors: /responded 404 event_not_found: Event not found/,
  })

  const executions = await ask<ExecutionSummary[]>(
    `executions list --event ${first} --status succeeded,failed`,
  )
  matchLists(t, executions, [{ ruleId: rule.id, status: 'succeeded' }])
  t.match(
    (await client(`executions list --event ${first}`)).output,
    /startedAt +took\n.* \d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ +[\d.]+ m?s$/m,
    'with its second, and how long it took',
  )
  t.match(
    (await client(`executions list --event ${first}`)).output,
    new RegExp(` Hot leads +${rule.id} +${first} +succeeded `),
    'with the name of its rule, and its event',
  )
  t.match((await client(`executions get ${executions[0]?.id}`)).output, /^rule: Hot leads\nruleId: /m)
  const again = await client(`executions retry ${executions[0]?.id}`)
  t.match(again, {
    code: 1,
    output: '',
    errors: /^Target: .*\nThe API responded 409 execution_not_retryable: .*\(request \S+\)\n$/,
  })

  const asks = await createClient({ baseUrl: url, token, workspaceId: id }).rules.create({
    name: 'Ask first',
    trigger: 'DEAL_CREATED',
    actions: [{ type: 'WAIT', config: { decision: { options: ['approve', 'reject'], within: '1d' } } }],
  })
  await client('events send DEAL_CREATED {} --async')
  let decisions: Decision[] = []
  while (decisions.length === 0)
    decisions = await ask<Decision[]>(`decisions list --status open --rule ${asks.id}`)
  const decide = `decisions decide ${decisions[0]?.id}`
  t.match(await client(`${decide} perhaps`), { code: 1, errors: /Must be one of approve, reject/ })
  t.match(await client(`${decide} approve --reason Fair`), {
    code: 0,
    output: /^You have decided: approve\.$/m,
  })
  t.match(await client(`${decide} reject`), { code: 1, errors: /409 decision_made: .*approve/ })
  t.match(
    (await client('decisions list')).output,
    /Ask first +decided +approve,reject .* approve +user:ada$/m,
  )

  t.match(await client('rules list', none), { code: 0, output: /Hot leads/ }, 'the demo')
  t.match(
    await client('rules list', { ...none, RULES_URL: url, RULES_TOKEN: key }),
    { code: 0, output: /Hot leads/ },
    'a key',
  )
  t.match(await client('events send LEAD_CREATED', { ...env, RULES_TOKEN: key }), {
    code: 1,
    errors: /responded 403 access_denied: Access denied: the scope rules:run is needed/,
  })
  t.match(await client('events send NOTHING'), {
    code: 1,
    errors: /The API responded 400 invalid_trigger_type: Invalid trigger type: it is none of the catalogue/,
  })
  t.match(await client('events send LEAD_CREATE'), {
    code: 1,
    errors: /Invalid trigger type\. Did you mean LEAD_CREATED\?/,
  })
  const far = await client('events send LEAD_CREATED', { ...none, RULES_URL: url })
  t.match(far, { code: 1, output: '', errors: /^Set RULES_TOKEN / })
  t.notMatch(JSON.stringify([list, sent, again, far]), token)
})

t.test('the token of the demo goes to the demo only, and no other token goes there', async (t) => {
  const received: unknown[] = []
  const server = createServer((request, response) => {
    received.push(request.headers.authorization)
    const headers = { 'content-type': 'application/json', 'x-error-code': 'of_a_later_version' }
    response.writeHead(401, headers).end('{"error":"Authentication required"}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const RULES_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const webhook = { provider: 'p', secretId: 's', secret: 'whsec_' }
  const demo = { baseUrl: 'http://127.0.0.1:9', workspaceId: 'w', token: 'demo-token', webhook }
  const directory = t.testdir({ '.data': { 'demo.json': JSON.stringify(demo) } })
  const list = (env: Record<string, string>) => run('client', 'rules list', directory, { ...none, ...env })
  t.match(await list({ RULES_URL }), {
    code: 1,
    errors: 'Set RULES_TOKEN to the token of a user or to an API key.\n',
  })
  t.match(await list({ RULES_URL, RULES_TOKEN: 'other' }), {
    code: 1,
    errors: 'The API responded 401 of_a_later_version: Authentication required\n',
  })
  t.strictSame(received, ['Bearer other'])

  const foreign = t.testdir({ '.data': { 'demo.json': JSON.stringify({ ...demo, baseUrl: RULES_URL }) } })
  t.match(await run('client', 'rules list', foreign, { ...none, RULES_TOKEN: 'mine' }), {
    code: 1,
    errors: /^Set RULES_URL as well: /,
  })
  t.match(await run('client', 'rules list', foreign, none), { code: 1, errors: /responded 401/ })
  t.strictSame(received, ['Bearer other', 'Bearer demo-token'])

  t.match(await list({ RULES_URL: 'ftp://a' }), {
    code: 1,
    errors: 'RULES_URL must look like http://127.0.0.1:3000.\n',
  })
  const broken = await list({ RULES_URL, RULES_TOKEN: 'secret\ntoken' })
  t.match(broken, { code: 1, errors: /^RULES_TOKEN must have no spaces/ })
  t.notMatch(broken.errors, 'secret')
  const nowhere = await run('client', 'rules list', t.testdir({ empty: {} }), none)
  t.match(nowhere, { code: 1, errors: /^Set RULES_URL, or run npm start first/ })
})

t.test('a number with more digits than a double keeps is sent as a text, with a warning', async (t) => {
  const bodies: string[] = []
  const server = createServer((request, response) => {
    request.on('data', (chunk) => bodies.push(String(chunk)))
    request.on('end', () =>
      response.writeHead(202, { location: '/x' }).end('{"id":"e1","status":"accepted"}'),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const RULES_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env = { ...none, RULES_URL, RULES_TOKEN: 'a', RULES_WORKSPACE: newId() }
  const data = '{"id":8202522731445525542,"price":[12345678901234567.89]}'
  const directory = t.testdir({ 'lead.json': data, 'large.json': '{"a":1e400}' })
  for (const [line, name] of [
    [data, 'The data'],
    ['--file lead.json', 'lead.json'],
  ]) {
    const { code, errors } = await run('client', `events send LEAD_CREATED ${line}`, directory, env)
    t.equal(code, 0)
    const message =
      'Has more digits than a number can keep, so it was stored as a string with the same digits.'
    t.match(errors, `${name}: id: ${message}\n`)
    t.match(errors, `${name}: price[0]: ${message}\n`)
    t.strictSame(JSON.parse(bodies.pop() ?? ''), {
      eventType: 'LEAD_CREATED',
      data: { id: '8202522731445525542', price: ['12345678901234567.89'] },
    })
  }
  t.match(await run('client', 'events send LEAD_CREATED --file large.json', directory, env), {
    code: 1,
    errors: /a is Infinity, which JSON cannot represent/,
  })
})

t.test('data that is no JSON object is a wrong command line', async (t) => {
  const directory = t.testdir({ 'list.json': '[]', 'mark.json': '\ufeff5' })
  await writeFile(`${directory}/latin.json`, '{"name":"Zoë"}', 'latin1')
  const env = { ...none, RULES_URL: 'http://127.0.0.1:9', RULES_TOKEN: 'a' }
  const faults: [line: string, errors: RegExp][] = [
    ['{name:Ada}', /^The data is not valid JSON: .*Does the shell take its quotes away, .*--file\.$/],
    ["'{name:Ada}'", /--file\.$/],
    ['{"a":', /^The data is not valid JSON: /],
    ['5', /^The data must be a JSON object, such as /],
    ['--file list.json', /^list\.json must be a JSON object/],
    ['--file mark.json', /^mark\.json must be a JSON object/],
    ['{} --file list.json', /^Give either the data or --file, not both\.$/],
    ['--wait 31', /must be at most 30\.$/],
    ['--wait 3 --async', /cannot be used with option/],
  ]
  for (const [line, errors] of faults) {
    const result = await run('client', `events send LEAD_CREATED ${line}`, directory, env)
    t.match({ ...result, errors: result.errors.trimEnd() }, { code: 64, output: '', errors }, line)
  }
  t.match(await run('client', 'events send LEAD_CREATED --file latin.json', directory, env), {
    code: 1,
    errors: /^latin\.json:1: is not UTF-8 \(near byte 12\)/,
  })
  t.match(await run('client', 'events send LEAD_CREATED {}', directory, env), {
    code: 1,
    errors: /fetch failed, bad port\. Run npm start first/,
  })
  t.match(await run('client', 'rules get abc', directory, env), { code: 64, errors: /must be a UUID/ })
})

t.test(
  'the commands of the runbook, of the first minutes of an incident and of Troubleshooting run as they are written, in a workspace that fails',
  async (t) => {
    const { env, database, url, id } = await startSite(t)
    const ask = <Value>(line: string) => runJson<Value>('client', line, t.testdir(), env)
    const { id: secretId, secret } = await ask<NewSigningSecret>('secrets create --provider crm')
    const delivery = `send --url ${url} --workspace ${id} --provider crm --secret-id ${secretId} --tampered`
    t.match(await run('webhook', delivery, t.testdir(), { WEBHOOK_SECRET: secret ?? '' }), { code: 0 })
    // A rejection is answered first, and stored soon after.
    let refused: { id: string } | undefined
    while (refused === undefined) [refused] = await ask<{ id: string }[]>('receipts list --state rejected')
    const failing = JSON.stringify([{ type: 'SEND_WEBHOOK', config: { url: 'https://192.168.0.1/x' } }])
    const { id: rule } = await ask<Rule>(`rules create --name Fails --trigger DEAL_WON --actions ${failing}`)
    const { id: event, results } = await ask<Event>('events send DEAL_WON {"name":"Hopper"}')
    const [result] = results
    t.match(result, { ruleId: rule, status: 'failed' })
    const ids = { event, execution: result?.executionId ?? '', rule, receipt: refused.id }
    const pages = ['operate/runbook.md', 'operate/incident.md', 'guides/troubleshooting.md']
    const texts = await Promise.all(
      pages.map((page) => readFile(new URL(`../../../../docs/${page}`, import.meta.url), 'utf8')),
    )
    const statements = texts.flatMap((text) => [...text.matchAll(/^ *psql "\$DATABASE_URL" -c "(.+)"$/gm)])
    t.ok(statements.length >= 2, `${statements.length} statements`)
    for (const [, sql = ''] of statements) await t.resolves(database.system.$queryRawUnsafe(sql), sql)
    const written = texts.flatMap((text) => [
      ...text.matchAll(/^ *npm run -s client -- ([^#\n]+?) *(?:#.*)?$/gm),
    ])
    const lines = [...new Set(written.map(([, line = '']) => line))]
    t.ok(lines.length >= 10, `${lines.length} commands`)
    // The fixture splits a line at blanks, without a shell.
    const fill = (line: string) =>
      line
        .replaceAll(/<(\w+) id>/g, (_, name: keyof typeof ids) => ids[name])
        .replace('<version>', '1')
        .replace('"grace hopper"', 'hopper')
        .replaceAll("'", '')
    for (const line of lines) t.match(await run('client', fill(line), t.testdir(), env), { code: 0 }, line)
    t.match(await run('client', 'events list --text hopper', t.testdir(), env), {
      output: new RegExp(event),
    })
  },
)
