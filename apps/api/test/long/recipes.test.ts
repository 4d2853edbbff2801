import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '@automation/database'
import { createPrivateDatabase } from '@automation/launcher'
import t, { type Test } from 'tap'
import { startApi, type Workspace } from '../fixtures/api.js'
import { hasShell, listPages, openShell, readBlocks } from '../fixtures/page.js'
import { startWorker } from '../fixtures/worker.js'

interface Received {
  path: string
  body: Record<string, unknown>
}

/** What the receiver answers at a path, one after the other; then 200. */
const answers: Record<string, number[]> = {
  '/refunds': [503, 503],
  '/missing': [404],
  '/tickets': [201, 422],
}
const bodies: Record<string, object> = { '/tickets': { ticket: { number: 'T-77' } } }
const received: Received[] = []
const receiver = createServer(async (request, response) => {
  const path = request.url ?? ''
  received.push({ path, body: JSON.parse((await text(request)) || '{}') })
  response.writeHead(answers[path]?.shift() ?? 200).end(JSON.stringify(bodies[path]))
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
t.teardown(() => receiver.close())
const { port } = receiver.address() as AddressInfo

const directory = t.testdir({ mail: {} })
const api = await startApi(t, {
  DATABASE_URL: await createPrivateDatabase(process.env.DATABASE_URL ?? ''),
  QUEUE_PREFIX: `{${newId()}}`,
})
const baseUrl = await api.app.listen({ host: '127.0.0.1', port: 0 })
await startWorker(t, api.config, directory, 'worker', {
  OUTBOUND_ALLOW: '127.0.0.0/8',
  OUTBOUND_PORTS: String(port),
  CONSOLE_URL: baseUrl,
})
const recipes = (await Promise.all((await listPages('guides/recipes')).map(readBlocks))).flat()
const isShellThere = await hasShell()

/** What holds after the commands of a recipe. `printed` is what they print, a line each. */
type Check = (t: Test, workspace: Workspace, printed: string[]) => Promise<void>

const checks: Record<string, Check> = {
  async 'Every weekday at nine'(t, workspace, printed) {
    const { ruleId, next } = JSON.parse(printed.at(-1) ?? '')
    t.equal(next.length, 5)
    for (const { localTime } of next) t.match(localTime, /T09:00:00\.000\+0[12]:00$/)
    // As if it were nine o'clock.
    const { database } = workspace
    await database.rule.update({ where: { id: ruleId }, data: { nextRunAt: new Date(Date.now() - 1_000) } })
    t.match(await findTasks(workspace, 1), [{ title: 'Call the leads of yesterday' }])
    const [event] = await database.event.findMany({ where: { addresseeId: ruleId } })
    t.match(event, { type: 'SCHEDULE', data: { missed: 0 } })
  },
  async 'Lead routing'(t, workspace, printed) {
    t.match(await findTasks(workspace, 3), [
      { title: 'Call Cy', assigneeId: 'hedy' },
      { title: 'Call Bo', assigneeId: 'alan' },
      { title: 'Call Ada', assigneeId: 'grace' },
    ])
    t.equal(JSON.parse(printed.at(-1) ?? '').tasks.length, 3)
    t.equal(printed.join().match(/"status":"outranked"/g)?.length, 3)
  },
  async 'More than five of one product'(t, workspace, printed) {
    t.match(await findTasks(workspace, 1), [{ title: 'Check the stock for Bolt' }])
    t.equal(printed.filter((line) => line.includes('"conditionsPassed":true')).length, 1)
  },
  async "Above the customer's limit"(t, workspace, printed) {
    t.match(await findTasks(workspace, 1), [{ title: 'Bolt: 120 is above 100', priority: 'high' }])
    t.equal(printed.filter((line) => line.includes('"conditionsPassed":true')).length, 1)
  },
  async 'Alarm when a rule falls silent'(t, { id: workspaceId, database, call }) {
    const silence = () => receive('/silence')
    const { ruleId } = await database.ruleSilence.findFirstOrThrow()
    const aDayAgo = new Date(Date.now() - 86_400_000)
    await database.ruleSilence.update({ where: { ruleId }, data: { countedFrom: aDayAgo } })
    const names = { data: { ruleId, name: 'Orders come in', expectEvery: '24h' } }
    t.match(await silence(), { type: 'rule.silent', ...names })
    t.match((await call('GET', '/api/automation-rules/attention')).body, {
      rules: [{ id: ruleId, reason: 'silent' }],
    })
    received.splice(
      received.findIndex(({ path }) => path === '/silence'),
      1,
    )
    await call('POST', '/api/events', { body: { eventType: 'DEAL_WON', data: { company: 'Acme' } } })
    t.match(await silence(), { type: 'rule.heard', ...names })
    const sent = await database.event.findMany({ where: { workspaceId, addresseeKind: 'subscription' } })
    t.strictSame(sent.map(({ type }) => type).sort(), ['rule.heard', 'rule.silent'], 'each once')
  },
  async 'Webhook in, task out'(t, workspace, printed) {
    t.match(JSON.parse(printed.at(-1) ?? ''), { receiptState: 'accepted', deduplicated: false })
    t.match(await findTasks(workspace, 1), [{ title: 'Remind Acme of R-1001', description: '4800.00 EUR' }])
  },
  async 'Stripe payment failed, task'(t, workspace, printed) {
    t.match(JSON.parse(printed.at(-1) ?? ''), { receiptState: 'accepted', deduplicated: false })
    t.match(await findTasks(workspace, 1), [
      { title: 'Call ada@example.com: 120.00 EUR', description: 'Your card was declined.', priority: 'high' },
    ])
  },
  async 'GitHub issue, Slack'(t) {
    const text = ':new: grace in ada/engine: It does not start https://github.com/ada/engine/issues/7'
    t.strictSame(await receive('/issues'), { text })
  },
  async 'Chat notification'(t) {
    t.strictSame(await receive('/chat'), { text: ':tada: Acme: 12000 EUR' })
  },
  async 'Email with a template'(t) {
    const mail = await receiveMail('Subject: Your trial, Ada')
    t.match(mail, 'To: ada@example.com')
    t.match(mail, 'your trial ends on 01.04.2026.')
    t.match(mail, '<p>The Acme team</p>')
  },
  async Escalation(t, _, printed) {
    t.strictSame(await receive('/owner'), { text: 'grace: Call Ada is overdue' })
    t.match(JSON.parse(printed.at(-1) ?? ''), { executions: [{ eventType: 'TASK_OVERDUE' }] })
    t.strictSame(await receive('/manager'), { text: 'Call Ada is still open' })
  },
  async 'Remind in three days unless they paid'(t, workspace) {
    t.match(await findTasks(workspace, 1), [{ title: 'Remind Bolt of the payment' }])
    const { body } = await workspace.call<{ executions: { id: string }[] }>('GET', '/api/executions')
    t.equal(body.executions.length, 2)
    t.match(await workspace.call('GET', `/api/executions/${body.executions[1]?.id}`), {
      body: { status: 'succeeded', results: [{ ended: 'event' }, { status: 'skipped' }] },
    })
  },
  async 'Ask a manager first'(t, workspace) {
    const { text } = (await receive('/managers')) as { text: string }
    const [, link = ''] = /^Acme asks for 30 %: <(.*)\|approve> or <.*\|reject>$/.exec(text) ?? []
    const bot = { 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' }
    for (const method of ['GET', 'HEAD']) t.equal((await fetch(link, { method, headers: bot })).status, 200)
    const decisions = async () =>
      (await workspace.call<{ decisions: object[] }>('GET', '/api/decisions')).body.decisions
    while ((await decisions()).length === 0) await delay(50)
    t.match(await decisions(), [{ ruleName: 'Ask a manager first', status: 'open', choice: null }])
    const [, page = ''] = /name="page" value="(\w+)"/.exec(await (await fetch(link)).text()) ?? []
    const body = new URLSearchParams({ page, choice: 'approve' })
    t.match(await (await fetch(link, { method: 'POST', body })).text(), 'You have decided: approve')
    t.match(await findTasks(workspace, 1), [{ title: 'Send the offer to Acme' }])
    t.match(await decisions(), [{ status: 'decided', choice: 'approve', by: 'link' }])
  },
  async 'Once a week per customer'(t, workspace, printed) {
    t.match(await findTasks(workspace, 2), [{ title: 'Call Bolt' }, { title: 'Call Acme' }])
    const { executions } = JSON.parse(printed.at(-1) ?? '') as { executions: object[] }
    t.match(executions, [{ suppressed: { reason: 'at_most', key: 'Acme' } }])
    t.equal(executions.length, 1)
  },
  async 'The third failed payment in a day'(t, workspace, printed) {
    t.match(await findTasks(workspace, 1), [{ title: 'Call Acme about R-3', priority: 'high' }])
    const counts = printed.map((line) => /"count":(\d)/.exec(line)?.[1])
    t.strictSame(counts.slice(-4), ['1', '2', undefined, '1'])
  },
  async 'One digest each morning'(t) {
    const mail = await receiveMail('Subject: 2 new leads')
    t.match(mail, /2 new leads:\s+- Ada of Acme\s+- Bo of Bolt/)
  },
  async 'Retries, and when to stop'(t, workspace) {
    t.match(await findTasks(workspace, 1), [{ title: 'Confirm the refund of appointment-2' }])
    const calls = received.filter(({ path }) => path === '/refunds')
    t.strictSame(
      calls.map(({ body }) => body),
      Array(3).fill({ appointment: 'appointment-2' }),
    )
    const { body } = await workspace.call<{ executions: { status: string }[] }>('GET', '/api/executions')
    t.match(body.executions, [{ status: 'succeeded' }])
  },
  async 'The same event twice'(t, workspace, printed) {
    t.match(await findTasks(workspace, 1), [{ title: 'Thank Acme' }])
    t.equal(printed.filter((line) => /^idempotent-replayed: true/i.test(line)).length, 1)
    const outcomes = printed.filter((line) => line.includes('"triggered":1'))
    t.strictSame([outcomes.length, new Set(outcomes).size], [2, 1])
  },
  async 'A chain of rules'(t, workspace) {
    t.match(await findTasks(workspace, 1), [{ title: 'Call Ada, score 85' }])
  },
  async 'A task for each overdue invoice'(t, workspace, printed) {
    t.match(
      (await findTasks(workspace, 2)).toSorted((one, other) => titleOf(one).localeCompare(titleOf(other))),
      [
        {
          title: 'Remind Acme of R-1',
          assigneeId: 'grace',
          description: '119.12 EUR, due on 01.03.2026, lawyer on 30.03.2026',
        },
        { title: 'Remind Cato of R-3', description: '95.20 EUR, due on 02.02.2026, lawyer on 04.03.2026' },
      ],
    )
    const { executions } = JSON.parse(printed.at(-1) ?? '') as { executions: { id: string }[] }
    const path = `/api/executions/${executions[0]?.id}`
    for (;;) {
      const { body } = await workspace.call<{ results: { emitted: object }[] }>('GET', path)
      const [{ emitted } = {}] = body.results
      if (JSON.stringify(emitted) === JSON.stringify({ events: 3, done: 3, failed: 0 })) return
      await delay(50)
    }
  },
  async 'A mail with the lines of an order'(t) {
    const mail = (await receiveMail('Subject: Your order o-77'))
      .replaceAll('=\r\n', '')
      .replaceAll('=3D', '=')
    t.match(mail, /^To: ada@example\.com, bo@example\.com\r?$/m)
    t.match(mail, 'Order o-77, 2 lines')
    t.match(mail, '3 x A-1: 59.97 EUR')
    t.match(mail, '<tr><td>1</td><td>&lt;B-2&gt;</td><td>5.00 EUR</td></tr>')
  },
  async 'A ticket, or a task'(t, workspace, printed) {
    t.match(await receiveMail('Subject: Your request T-77'), 'your request has the number T-77')
    t.match(await findTasks(workspace, 1), [
      { title: 'No ticket for Bo', description: 'HTTP 422: Nor does mine' },
    ])
    t.match(JSON.parse(printed.at(-1) ?? ''), { executions: [{ error: 'HTTP 422' }] })
    const { body } = await workspace.call<{ executions: { id: string }[] }>(
      'GET',
      '/api/executions?status=succeeded',
    )
    t.match(await workspace.call('GET', `/api/executions/${body.executions[0]?.id}?explain=true`), {
      body: {
        results: [{ captured: { number: 'T-77' } }, { status: 'success' }, { status: 'skipped' }],
        trace: { actions: [{ name: 'ticket' }, { when: { actual: 'success' } }, {}] },
      },
    })
  },
  async 'Alarm when a rule fails'(t) {
    t.match(await receive('/alarm'), { type: 'execution.failed', data: { error: 'HTTP 404' } })
  },
}

t.test('there are 23 recipes, and each is run', async (t) => {
  t.strictSame(recipes.map(({ heading }) => heading).sort(), Object.keys(checks).sort())
  t.equal(recipes.length, 23)
})

for (const { heading, text } of recipes)
  t.test(`the recipe "${heading}" does what the page says`, async (t) => {
    if (!isShellThere) return t.comment('bash, curl or openssl is not on this machine')
    const workspace = await api.makeWorkspace()
    const commands = text
      .replaceAll('https://hooks.example.com', `http://127.0.0.1:${port}`)
      .replaceAll(/"duration": "\w+"/g, '"duration": "1s"')
      .replaceAll(/, "time": \{[^}]*\}/g, '')
      .replaceAll(/"delayMs": \d+/g, '"delayMs": 50')
    const printed = (await openShell(baseUrl, workspace, directory)(commands)).trim().split(/\r?\n/)
    for (const line of printed) t.notMatch(line, /^\{"errors?":/)
    await checks[heading]?.(t, workspace, printed)
  })

function titleOf(task: object): string {
  return (task as { title: string }).title
}

/** The tasks of a workspace, newest first, once there are so many. */
async function findTasks({ call }: Workspace, count: number): Promise<object[]> {
  for (;;) {
    const { body } = await call<{ tasks: object[] }>('GET', '/api/tasks')
    if (body.tasks.length >= count) return body.tasks
    await delay(50)
  }
}

async function receive(path: string): Promise<object> {
  for (;;) {
    const found = received.find((one) => one.path === path)
    if (found) return found.body
    await delay(50)
  }
}

async function receiveMail(line: string): Promise<string> {
  for (;;) {
    for (const name of await readdir(`${directory}/mail`)) {
      const mail = name.endsWith('.eml') ? await readFile(`${directory}/mail/${name}`, 'utf8') : ''
      if (mail.includes(line)) return mail
    }
    await delay(50)
  }
}
