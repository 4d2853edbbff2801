import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileRule, planRule, settlePlan } from '@automation/engine'
import { SMTPServer } from 'smtp-server'
import t, { type Test } from 'tap'
import { readConfig } from '../src/config.js'
import type { RunContext } from '../src/effects/effect.js'
import { createGuard } from '../src/effects/guarded-agent.js'
import { createEffects } from '../src/effects/index.js'

const servers = { DATABASE_URL: 'postgresql://unused', REDIS_URL: 'redis://unused' }

/** Performs one action as a worker would, and answers its result. */
async function perform(t: Test, action: object, data: object, variables: Record<string, string> = {}) {
  const effects = createEffects(readConfig({ ...servers, OUTBOUND_ALLOW: '127.0.0.0/8', ...variables }))
  t.teardown(() => effects.close())
  const rule = { conditions: [], actions: [action] } as never
  const compiled = compileRule(rule)
  const context: RunContext = {
    executionId: '01a1fdbb-fa3e-83a9-9175-dde8b4efbf8c',
    rule: { id: 'r', name: 'Hot leads', version: 1, compiled },
    event: { id: 'e', workspaceId: 'w', type: 'LEAD_CREATED', data, ruleId: null, rulesVersion: 0 },
    startedAt: new Date('2026-01-01T00:00:00.000Z'),
    tasks: [],
  }
  const plan = planRule(compiled, data, context.startedAt.getTime())
  const { results } = await settlePlan(plan, (ready) => effects.perform(ready, context))
  return { ...results[0], tasks: context.tasks }
}

interface Call {
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
  body: string
}

/** A real web server that notes its calls. */
async function listen(t: Test, answer: RequestListener): Promise<{ url: string; calls: Call[] }> {
  const calls: Call[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    calls.push({ method: request.method, url: request.url, headers: request.headers, body })
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

t.test('CREATE_TASK hands its row to the ledger, due from the start of the run', async (t) => {
  const action = { type: 'CREATE_TASK', config: { title: 'Call {{name}}', dueIn: '24h', priority: 'high' } }
  const { status, tasks } = await perform(t, action, { name: 'Ada' })
  t.equal(status, 'success')
  t.same(tasks, [
    {
      actionIndex: 0,
      title: 'Call Ada',
      description: null,
      assigneeId: null,
      priority: 'high',
      dueAt: new Date('2026-01-02T00:00:00.000Z'),
    },
  ])
})

t.test('SEND_WEBHOOK', async (t) => {
  t.test('posts the event where the rule names no body, under a key that every repeat shares', async (t) => {
    const { url, calls } = await listen(t, (_request, response) => response.end('ok'))
    const action = { type: 'SEND_WEBHOOK', config: { url: `${url}/hook`, headers: { 'X-Team': '{{team}}' } } }
    t.match(await perform(t, action, { team: 'blue' }), { status: 'success', output: { statusCode: 200 } })
    await perform(t, action, { team: 'blue' })
    const [first, second] = calls
    t.match(first, {
      method: 'POST',
      url: '/hook',
      headers: { 'content-type': 'application/json', 'x-team': 'blue' },
    })
    t.same(JSON.parse(first?.body ?? ''), {
      type: 'LEAD_CREATED',
      timestamp: '2026-01-01T00:00:00.000Z',
      data: { team: 'blue' },
    })
    t.equal(first?.headers['idempotency-key'], '01a1fdbb-fa3e-83a9-9175-dde8b4efbf8c:0')
    t.equal(second?.headers['idempotency-key'], first?.headers['idempotency-key'])
  })

  t.test('sends the body of the rule, with its types', async (t) => {
    const { url, calls } = await listen(t, (_request, response) => response.end())
    await perform(
      t,
      { type: 'SEND_WEBHOOK', config: { url, method: 'PUT', body: { score: '{{score}}' } } },
      { score: 7 },
    )
    t.match(calls, [{ method: 'PUT', body: '{"score":7}' }])
  })

  t.test('fails on every answer that is no 2xx', async (t) => {
    for (const statusCode of [301, 400, 500]) {
      const { url } = await listen(t, (_request, response) => {
        response.writeHead(statusCode, { location: 'http://127.0.0.1:1/' }).end()
      })
      const result = await perform(t, { type: 'SEND_WEBHOOK', config: { url } }, {})
      t.match(result, { status: 'failed', error: `HTTP ${statusCode}`, output: { statusCode } })
    }
  })

  t.test('does not follow a redirect', async (t) => {
    const target = await listen(t, (_request, response) => response.end())
    const { url } = await listen(t, (_request, response) =>
      response.writeHead(307, { location: target.url }).end(),
    )
    await perform(t, { type: 'SEND_WEBHOOK', config: { url } }, {})
    t.same(target.calls, [])
  })

  t.test('gives up on a server that does not answer, or never ends', async (t) => {
    const { url } = await listen(t, () => {})
    const silent = await perform(t, { type: 'SEND_WEBHOOK', config: { url, timeoutMs: 100 } }, {})
    t.match(silent, { status: 'failed', error: 'No answer within 100 ms' })
    const drip = await listen(t, (_request, response) => void response.write('a'))
    const endless = await perform(t, { type: 'SEND_WEBHOOK', config: { url: drip.url }, timeoutMs: 100 }, {})
    t.match(endless, { status: 'failed', error: 'No answer within 100 ms' })
  })

  t.test('fails where nobody listens', async (t) => {
    const result = await perform(t, { type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:1/' } }, {})
    t.match(result, { status: 'failed', error: /ECONNREFUSED/ })
  })

  t.test('reaches no private address unless it is allowed, however it is spelt', async (t) => {
    const { url, calls } = await listen(t, (_request, response) => response.end())
    const port = new URL(url).port
    const spellings = [
      '127.0.0.1',
      'localhost',
      '127.1',
      '0x7f000001',
      '2130706433',
      '[::ffff:127.0.0.1]',
      '0',
    ]
    for (const host of spellings) {
      const config = { url: `http://${host}:${port}/` }
      const result = await perform(t, { type: 'SEND_WEBHOOK', config }, {}, { OUTBOUND_ALLOW: '' })
      t.match(result, { status: 'failed', error: /may not reach the address/ }, host)
    }
    t.same(calls, [])
  })
})

t.test('the guard knows private and special addresses of both families', async (t) => {
  const mayReach = createGuard([{ address: '10.1.0.0', prefixLength: 16, family: 'ipv4' }])
  for (const address of [
    '10.0.0.1',
    '169.254.169.254',
    '192.168.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '255.255.255.255',
  ]) {
    t.notOk(mayReach(address), address)
  }
  for (const address of [
    '::1',
    '::',
    'fe80::1',
    'fc00::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    'ff02::1',
    'not an address',
  ]) {
    t.notOk(mayReach(address), address)
  }
  for (const address of ['8.8.8.8', '2606:4700::1111', '10.1.2.3', '::ffff:10.1.2.3'])
    t.ok(mayReach(address), address)
})

t.test('SEND_NOTIFICATION posts the text as Slack-compatible webhooks take it', async (t) => {
  const { url, calls } = await listen(t, (_request, response) => response.end())
  await perform(t, { type: 'SEND_NOTIFICATION', config: { url, text: 'New: {{name}}' } }, { name: 'Ada' })
  t.match(calls, [{ method: 'POST', body: '{"text":"New: Ada"}' }])
})

t.test('SEND_EMAIL', async (t) => {
  const config = {
    to: '{{email}}',
    subject: 'Hello {{name}}',
    template: 'welcome',
    variables: { Lead: '{{name}}' },
  }
  const action = { type: 'SEND_EMAIL', config }

  t.test('writes an .eml file where there is no mail server; a repeat takes its place', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'mail-'))
    t.teardown(() => rm(directory, { recursive: true }))
    const variables = { MAIL_DIR: join(directory, 'mail') }
    const data = { email: 'ada@example.com', name: 'Ada <b>' }
    t.match(await perform(t, action, data, variables), { status: 'success' })
    await perform(t, action, data, variables)
    const files = await readdir(variables.MAIL_DIR)
    t.equal(files.length, 1)
    const mail = await readFile(join(variables.MAIL_DIR, files[0] ?? ''), 'utf8')
    t.match(mail, /^To: ada@example\.com$/m)
    t.match(mail, /^Subject: Hello Ada <b>$/m)
    t.match(mail, /^Message-ID: <01a1fdbb-fa3e-83a9-9175-dde8b4efbf8c\.0@automation-rules>$/m)
    t.match(mail, 'Lead: Ada <b>', 'as text')
    t.match(mail, 'Ada &lt;b&gt;', 'and escaped in HTML')
  })

  t.test('sends by SMTP, and tells what the server objected to', async (t) => {
    const mails: string[] = []
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, done) =>
        done(
          address.startsWith('nobody')
            ? Object.assign(new Error('no such user'), { responseCode: 550 })
            : null,
        ),
      onData: async (stream, _session, done) => {
        let mail = ''
        for await (const chunk of stream) mail += chunk
        mails.push(mail)
        done()
      },
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => new Promise<void>((resolve) => server.close(resolve)))
    const { port } = server.server.address() as AddressInfo
    const variables = { SMTP_URL: `smtp://127.0.0.1:${port}` }
    t.match(await perform(t, action, { email: 'ada@example.com', name: 'Ada' }, variables), {
      status: 'success',
    })
    t.match(mails, [/Subject: Hello Ada/])
    const refused = await perform(t, action, { email: 'nobody@example.com', name: 'Ada' }, variables)
    t.match(refused, { status: 'failed', error: /550 no such user/ })
  })

  t.test('fails where the mail server is away', async (t) => {
    const variables = { SMTP_URL: 'smtp://127.0.0.1:1' }
    t.match(await perform(t, action, { email: 'a@example.com', name: 'A' }, variables), {
      status: 'failed',
      error: /ECONNREFUSED/,
    })
  })

  t.test('has exactly one recipient, whatever the data holds', async (t) => {
    const tricks = [
      'a@x.example, v@y.example',
      'a@x.example\r\nBcc: v@y.example',
      'a@x.example;v@y.example',
      'group: a@x.example;',
      'nobody',
      '',
      'a@x.example v@y.example',
    ]
    for (const email of tricks) {
      const directory = await mkdtemp(join(tmpdir(), 'mail-'))
      t.teardown(() => rm(directory, { recursive: true }))
      const result = await perform(t, action, { email, name: 'A' }, { MAIL_DIR: directory })
      t.equal(result.status, 'failed', JSON.stringify(email))
      t.same(await readdir(directory), [])
    }
  })
})
