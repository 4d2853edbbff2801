import { mkdir } from 'node:fs/promises'
import type { RuleToCreate } from '@automation/client'
import { openBrowser } from '@automation/launcher/open-browser'
import type { Locator, Page } from 'playwright-core'
import { settle } from './browser/context.js'
import { saysAll } from './browser/sweep.js'
import { startProductWithConsole } from './fixtures/product.js'

// Takes the pictures of docs/images from a workspace that has some of everything. With a directory: each screen, large and small, light and
// dark, to look at after a change of the console.
//   npm run pictures [-- directory [name of a screen…]]

const [directory, ...only] = process.argv.slice(2)
/** All of them, or those that are named. */
const isWanted = (name: string) => only.length === 0 || only.includes(name)
const large = { width: 1280, height: 860 }
const small = { width: 360, height: 780 }
const hour = 3_600_000
const screens = {
  overview: 'overview',
  events: 'events',
  executions: 'executions',
  decisions: 'decisions',
  tasks: 'tasks',
  rules: 'rules',
  webhooks: 'webhooks',
  subscriptions: 'webhooks?way=out',
  reconciliation: 'reconciliation',
  access: 'access',
  keys: 'access?tab=keys',
  secrets: 'access?tab=secrets',
  credentials: 'access?tab=credentials',
  erasures: 'access?tab=erasures',
  audit: 'access?tab=audit',
  workspace: 'access?tab=workspace',
}

const looks = [1440, 1024, 768, small.width].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({
    colorScheme,
    viewport: { width, height: width === small.width ? small.height : 900 },
  })),
)
type Product = Awaited<ReturnType<typeof startProductWithConsole>>
type Workspace = Awaited<ReturnType<Product['makeWorkspace']>>

const closings: (() => Promise<unknown>)[] = []
const owner = {
  teardown: (close: () => Promise<unknown>) => {
    closings.unshift(close)
  },
}
const browser = await openBrowser(owner)
const { makeWorkspace } = await startProductWithConsole(owner)
const workspace = await makeWorkspace()
const paths = await fill(workspace)
const { rule, event } = paths
if (directory === undefined) await takeForDocs()
else await takeAll(directory)
for (const close of closings) await close()

async function takeForDocs(): Promise<void> {
  const { page, at } = await workspace.visit(browser, 'admin', { reducedMotion: 'reduce' })
  // Users of tests have ids that nobody reads.
  await page.route(/\/api\/(?!events\/newest)/, async (route) => {
    const response = await route.fetch()
    const text = await response.text()
    await route.fulfill({ response, body: text.replaceAll(`admin-${workspace.workspaceId}`, 'ada') })
  })
  for (const [name, path, viewport] of [
    ['why', paths.why, { width: 1180, height: 720 }],
    ['backtest', paths.backtest, large],
    ['rule', rule, large],
    ['overview', 'overview', { ...large, height: 920 }],
    ['rules', 'rules', large],
    ['rule-small', rule, small],
  ] as const) {
    await page.setViewportSize(viewport)
    await take(page, at(path), `docs/images/console-${name}.png`)
  }
  await page.unrouteAll({ behavior: 'wait' })
}

/** A small screen is taken as if it were as high as what it shows, so that its bar stands at the end. */
async function take(page: Page, url: string, path: string): Promise<void> {
  await page.goto(url)
  await settle(page)
  const { width, height } = page.viewportSize() ?? large
  const whole = await page.evaluate(() => document.documentElement.scrollHeight)
  if (width === small.width) await page.setViewportSize({ width, height: Math.min(whole, 3_000) })
  await page.screenshot({ path })
  await page.setViewportSize({ width, height })
}

async function takeAll(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  const empty = await makeWorkspace()
  const used = {
    ...screens,
    ...paths,
    ...{ rollout: `${rule}?tab=rollout`, versions: `${rule}?tab=versions`, json: `${rule}?tab=json` },
    ...{ schedules: 'rules?tab=schedules', types: 'rules?tab=types' },
    ...{ findings: 'rules?tab=findings', templates: 'rules?tab=templates', new: 'rules/new' },
  }
  for (const { colorScheme, viewport } of looks)
    for (const [kind, one, paths] of [
      ['used', workspace, used],
      ['empty', empty, screens],
    ] as const) {
      const { page, at } = await one.visit(browser, 'admin', {
        reducedMotion: 'reduce',
        colorScheme,
        viewport,
      })
      const end = `${viewport.width}-${colorScheme}.png`
      for (const [name, path] of Object.entries(paths).filter(([name]) => isWanted(name)))
        await take(page, at(path), `${directory}/${kind}-${name}-${end}`)
      if (kind === 'used' && isWanted('dialogs'))
        await takeDialogs(page, at, (name) => `${directory}/dialog-${name}-${end}`)
      await page.context().close()
    }
}

/** Each is opened by its button, and closed by Escape. */
async function takeDialogs(
  page: Page,
  at: (path: string) => string,
  pathOf: (name: string) => string,
): Promise<void> {
  for (const [name, path, button, fill] of [
    ['sample', 'events', /Send a sample event/],
    ['member', 'access', /Add a member/],
    ['support', 'access', /Grant support access/],
    ['key', 'access?tab=keys', /New API key/],
    ['secret', 'access?tab=secrets', /New signing secret/, (dialog) => chooseScheme(dialog, 'stripe')],
    ['generic', 'access?tab=secrets', /New signing secret/, (dialog) => chooseScheme(dialog, 'generic')],
    ['shown-once', 'access?tab=secrets', /New signing secret/, showSecret],
    ['credential', 'access?tab=credentials', /New credential/],
    ['erase', 'access?tab=erasures', /Erase a person/],
    ['subscription', 'webhooks?way=out', /New subscription/],
    ['template', 'rules?tab=templates', /New template/],
    ['promote', `${rule}?tab=rollout`, /Promote…/],
    ['discard', `${rule}?tab=rollout`, /Discard the draft/],
    ['replay', event, /Replay/],
    ['cancel', 'executions?status=waiting%2Cretrying%2Crunning', /Cancel those that wait/],
    ['expect', rule, /^More for/],
  ] as const satisfies [string, string, RegExp, ((dialog: Locator) => Promise<unknown>)?][]) {
    await page.goto(at(path))
    await settle(page)
    await page.getByRole('button', { name: button }).first().click()
    const dialog = page.getByRole('dialog')
    if (name === 'expect') await page.getByRole('menuitem', { name: 'Expect a match…' }).click()
    await dialog.waitFor()
    await fill?.(dialog)
    await page.screenshot({ path: pathOf(name) })
  }
  await takeConflicts(page, at, pathOf)
}

async function chooseScheme(dialog: Locator, scheme: string): Promise<void> {
  await dialog.getByLabel('From').selectOption(scheme)
}

async function showSecret(dialog: Locator): Promise<void> {
  await dialog.getByRole('textbox', { name: 'Provider' }).fill('shop')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText('Copy the secret now').waitFor()
}

/** Somebody else saves what is being changed here. */
async function takeConflicts(
  page: Page,
  at: (path: string) => string,
  pathOf: (name: string) => string,
): Promise<void> {
  const { client } = workspace
  const task = { type: 'CREATE_TASK' as const, config: { title: 'Call {{name}}' } }
  const definition = { name: 'Greet', trigger: 'LEAD_CREATED' as const, actions: [task] }
  const { id } = await client.rules.create({
    ...definition,
    conditions: [{ field: 'score', operator: 'greater_than', value: 70 }],
  })
  const value = () => page.getByRole('spinbutton', { name: 'Value' })
  await page.goto(at(`rules/${id}`))
  await value().fill('50')
  await page.getByRole('textbox', { name: 'title' }).fill('Ring {{name}}')
  await client.rules.update(id, {
    conditions: [{ field: 'score', operator: 'greater_than', value: 90 }],
    description: 'For the sales team',
  })
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('dialog').waitFor()
  await page.screenshot({ path: pathOf('conflict') })
  await page.getByRole('button', { name: 'Discard my changes' }).click()
  await value().fill('40')
  await client.rules.drafts.save(id, { ...definition, conditions: [], description: 'Another draft' })
  await page.getByRole('button', { name: 'Save as draft' }).click()
  await page.getByRole('dialog').waitFor()
  await page.screenshot({ path: pathOf('draft-conflict') })
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await client.rules.delete(id)
}

/** @returns the addresses of what was made */
async function fill({ client, storeEvents, storeRuns }: Workspace) {
  const conditions = [
    { field: 'score', operator: 'greater_than' as const, value: 70 },
    { field: 'country', operator: 'in' as const, value: ['DE', 'AT'] },
  ]
  const actions = [
    {
      type: 'CREATE_TASK' as const,
      config: {
        title: 'Call {{name}} of {{company}}',
        dueIn: '1d',
        assigneeId: 'ada',
        priority: 'high' as const,
      },
    },
  ]
  const hot = await client.rules.create({
    name: 'Call hot leads',
    description: 'Somebody calls within a day',
    trigger: 'LEAD_CREATED',
    conditions,
    actions,
  })
  const shop = await client.rules.create({
    name: 'Tell the shop',
    trigger: 'DEAL_CREATED',
    actions: [{ type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:9/hook' }, retry: { attempts: 1 } }],
  })
  for (const [name, field, value] of [
    ['Tell the desk for large accounts', 'seats', 50],
    ['Invite to the webinar', 'score', 65],
  ] as const)
    await client.rules.create({
      name,
      trigger: 'LEAD_CREATED',
      conditions: [{ field, operator: 'greater_than', value }],
      actions: [{ type: 'CREATE_TASK', config: { title: `${name}: {{name}}` } }],
    })
  await client.rules.create({
    name: 'Ask after a week',
    trigger: 'LEAD_CREATED',
    actions: [
      { type: 'WAIT', config: { duration: '7d' } },
      { type: 'CREATE_TASK', config: { title: 'Ask {{name}}' } },
    ],
  })
  const now = Date.now()
  await storeEvents(
    'LEAD_CREATED',
    Array.from({ length: 600 }, (_, index) => ({
      at: now - 160 * hour + index * 950_000,
      data: leadOf(index),
    })),
  )
  // A day with a quiet night, and an hour in which the shop was away.
  const times = Array.from({ length: 1_400 }, (_, index) => now - 23.6 * hour + index * 60_000).filter(
    (at, index) => index % 60 < 12 + 40 * Math.sin((Math.PI * (24 - (now - at) / hour)) / 24),
  )
  const tookMs = (at: number) => 60 + ((at / 60_000) % 97) * 2 + (isAway(at) ? 900 : 0)
  const isAway = (at: number) => now - at > 4 * hour && now - at < 5.2 * hour
  await storeRuns(
    hot.id,
    times.map((at) => ({ at, isFailed: false, tookMs: tookMs(at) })),
  )
  await storeRuns(
    shop.id,
    times.map((at) => ({ at: at + 7, isFailed: isAway(at), tookMs: tookMs(at) })),
  )
  const { id } = await client.trigger('LEAD_CREATED', { ...leadOf(7), score: 95, country: 'DE' })
  const cold = { name: 'Grace', company: 'Initech', score: 64, country: 'DE', email: 'grace@example.com' }
  const { id: why } = await client.trigger('LEAD_CREATED', cold)
  for (let index = 0; index < 5; index++) await client.trigger('LEAD_CREATED', leadOf(index))
  await client.trigger('DEAL_CREATED', { name: 'Big one', amount: 900 })
  const warm = conditions.with(0, { field: 'score', operator: 'greater_than', value: 50 })
  const definition = { trigger: 'LEAD_CREATED' as const, conditions: warm, actions }
  await client.rules.drafts.save(hot.id, { name: hot.name, ...definition })
  const { id: backtestId } = await client.rules.backtests.create({ ruleId: hot.id, definition }, { wait: 20 })
  const large = await fillMore(client)
  const { tasks } = await client.tasks.list()
  const { executions } = await client.executions.list({ eventId: id } as never)
  return {
    rule: `rules/${hot.id}`,
    backtest: `rules/${hot.id}?backtest=${backtestId}`,
    execution: `executions?id=${executions.find(({ ruleId }) => ruleId === hot.id)?.id}`,
    task: `tasks?id=${tasks[0]?.id}`,
    event: `events?id=${id}`,
    why: `events?id=${why}`,
    group: 'rules?group=routing',
    grouped: `rules/${large}`,
    ...(await fillTimes(client)),
  }
}

/** Rules that know the time, and that remember. */
async function fillTimes(client: Workspace['client']) {
  const task = { type: 'CREATE_TASK', config: { title: 'Look at the figures' } }
  const scheduled = await client.rules.create({
    ...{ name: 'Figures of the day', trigger: 'SCHEDULE', actions: [task] },
    schedule: { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
  } as never)
  const awaited = { eventType: 'DEAL_WON', match: { 'deal.id': '{{deal.id}}' }, then: 'stop' }
  const limited = await client.rules.create({
    ...{ name: 'Remind unless they paid', trigger: 'DEAL_CREATED' },
    conditions: [{ time: { days: 'mon-sun', from: '00:00', to: '24:00', timezone: 'Europe/Berlin' } }],
    perKey: { key: '{{deal.id}}', atMost: { runs: 1, per: '7d' }, whileRunning: 'skip' },
    actions: [
      { type: 'WAIT', config: { duration: '3d', for: awaited } },
      { type: 'WAIT', config: { until: '{{renewal}}', offset: '-3d' } },
      task,
    ],
  } as never)
  const decision = { options: ['approve', 'reject'], ask: ['reason'], within: '24h' }
  const asking = await client.rules.create({
    ...{ name: 'Approve a discount', trigger: 'DEAL_CREATED' },
    actions: [{ type: 'WAIT', config: { decision } }, task],
  } as never)
  const data = { name: 'Small one', amount: 5, deal: { id: 'D-7' }, renewal: '2027-03-01' }
  await client.trigger('DEAL_CREATED', data)
  const { id } = await client.trigger('DEAL_CREATED', data)
  const { decisions } = await client.decisions.list({ ruleId: asking.id })
  const { executions } = await client.executions.list({ ruleId: limited.id })
  const inState = (status: string) =>
    `executions?id=${executions.find((execution) => execution.status === status)?.id}`
  return {
    scheduled: `rules/${scheduled.id}`,
    limited: `rules/${limited.id}`,
    asking: `rules/${asking.id}`,
    decision: `decisions?id=${decisions[0]?.id}`,
    failed: 'executions?status=failed',
    suppressed: `events?id=${id}`,
    waits: inState('waiting'),
    'not-granted': inState('suppressed'),
  }
}

/** What stands on the other screens. @returns the id of a rule with all that a sentence has */
async function fillMore(client: Workspace['client']): Promise<string> {
  const route = (name: string, order: number, more: object) =>
    client.rules.create({
      ...{ name, trigger: 'DEAL_WON', group: 'routing', order },
      actions: [{ type: 'CREATE_TASK', config: { title: `${name}: {{name}}` } }],
      ...more,
    } as RuleToCreate)
  await route('Enterprise customers first', 10, {
    conditions: [{ field: 'amount', operator: 'greater_than', value: 50_000 }],
  })
  const { id } = await route('Split the order', 20, saysAll)
  await route('Otherwise', 30, {})
  await route('Trial of a new queue', 25, { isActive: false })
  for (const amount of [90_000, 800, 20])
    await client.trigger('DEAL_WON', { amount, limit: 10, items: [{ sku: 'A', qty: 6 }], tags: ['vip'] })
  const { id: secretId } = await client.developer.signingSecrets.create({ provider: 'shop' })
  const secret = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`
  await client.webhooks
    .deliver({ provider: 'shop', id: 'evt_1', body: {}, secretId, secret })
    .catch(() => undefined)
  await client.developer.signingSecrets.create({
    provider: 'stripe',
    scheme: 'stripe',
    settings: { types: { 'payment_intent.payment_failed': 'LEAD_CREATED' } },
  } as never)
  await client.developer.apiKeys.create({ name: 'CI', scopes: ['rules:read', 'rules:write'] })
  for (const [name, hosts] of [
    ['CRM', ['api.crm.example.com', 'backup.crm.example.com']],
    ['Slack-of-the-sales-team', ['hooks.slack.com']],
  ] as const)
    await client.developer.credentials.put(name, { kind: 'text', hosts: [...hosts], value: 'secret' })
  await client.developer.subscriptions.create({
    url: 'https://hooks.example.com/automation/of/a/long/path',
    eventTypes: ['execution.failed', 'rule.deactivated'],
  } as never)
  await client.emailTemplates.create({ name: 'welcome', text: 'Dear {{name}}' })
  return id
}

function leadOf(index: number) {
  const names = ['Ada', 'Bo', 'Cleo', 'Dee', 'Eli']
  return {
    name: names[index % 5],
    company: ['Acme', 'Globex', 'Initech'][index % 3],
    score: (index * 37) % 100,
    country: ['DE', 'FR', 'AT', 'DE'][index % 4],
  }
}
