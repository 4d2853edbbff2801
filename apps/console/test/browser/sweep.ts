import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { RuleToCreate } from '@automation/client'
import { newId } from '@automation/database'
import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { buildParts } from '../fixtures/build-parts.js'
import { type Context, draw, go, settle } from './context.js'

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Where a table, a rail or a bar begins or ends, and beside it. */
const widths = [1440, 1280, 1100, 1024, 900, 768, 700, 699, 360, 320]
/** Three lines and what is around them. */
const mostRowHeight = 76
/** What a page may move while it loads. */
const mostShift = 0.02

const screens = [
  'overview',
  'events',
  'executions',
  'decisions',
  'decisions?status=decided',
  'tasks',
  'rules',
  'rules/new',
  'webhooks',
  'webhooks?state=rejected',
  'webhooks?way=out',
  'reconciliation',
  'access',
  'access?tab=keys',
  'access?tab=secrets',
  'access?tab=credentials',
  'access?tab=erasures',
  'access?tab=audit',
  'access?tab=workspace',
  'rules?tab=schedules',
  'rules?tab=types',
  'rules?tab=findings',
  'rules?tab=templates',
]

interface AxeResult {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[]
}

/** What is wrong with the page as it stands: for people with other eyes and hands, and on a small screen. */
export async function findFaults(page: Pick<Page, 'evaluate'>): Promise<string[]> {
  // The page keeps it from one screen to the next.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource)
  const { violations } = await page.evaluate(
    async () =>
      (await (window as unknown as { axe: { run(options: object): Promise<unknown> } }).axe.run({
        resultTypes: ['violations'],
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
      })) as AxeResult,
  )
  const wide = await findExcessWidth(page)
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`),
    ...(wide > 0 ? [`${wide} px too wide`] : []),
  ]
}

function createDrafted(client: Awaited<ReturnType<Context['makeWorkspace']>>['client']) {
  const rule = {
    name: 'Greet',
    trigger: 'LEAD_CREATED' as const,
    actions: [{ type: 'CREATE_TASK' as const, config: { title: 'Greet {{name}}' } }],
  }
  return client.rules.create(rule).then(async (created) => {
    await client.rules.drafts.save(created.id, { ...rule, description: 'Within a day' })
    return created
  })
}

function findExcessWidth(page: Pick<Page, 'evaluate'>): Promise<number> {
  return page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth))
}

/** What is chosen, has the focus or lies above the page, and has no line that says so. The system takes its ground and its shadow. */
async function findUnmarked(page: Page): Promise<string[]> {
  const tabs = page.getByRole('group', { name: 'Preview' }).first()
  const bottomOf = (tab: Locator) => tab.evaluate((element) => getComputedStyle(element).borderBottomColor)
  const lined = async (name: string, element: Locator) => {
    const { outlineStyle, borderStyle } = await element.evaluate((found) => getComputedStyle(found))
    return outlineStyle === 'none' && borderStyle === 'none' ? [name] : []
  }
  const unmarked = [
    ...((await bottomOf(tabs.getByRole('button').nth(0))) ===
    (await bottomOf(tabs.getByRole('button').nth(1)))
      ? ['the chosen tab']
      : []),
    ...(await lined('the selected row', page.locator('.rows tr[aria-current]').first())),
    ...(await lined('the drawer', page.locator('.drawer').first())),
  ]
  const combobox = page.getByRole('combobox', { name: 'Field, light' })
  await combobox.press('ArrowDown')
  await combobox.press('ArrowDown')
  unmarked.push(...(await lined('the active choice', page.locator('[role="option"][aria-selected="true"]'))))
  await combobox.press('Escape')
  await page.getByRole('button', { name: 'Menu', exact: true }).first().press('Enter')
  unmarked.push(
    ...(await lined('the menu', page.locator('.menu:popover-open'))),
    ...(await lined('the focused entry', page.locator('[role="menuitem"]:focus'))),
  )
  return unmarked
}

/** Controls that are no links in a text, and no boxes of the browser. */
function findLowTargets(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('button, select, textarea, input:not([type="checkbox"], [type="radio"])')]
      .filter((control) => control.checkVisibility() && control.getBoundingClientRect().height < 23.99)
      .map((control) => `${control.outerHTML.slice(0, 200)}: ${control.getBoundingClientRect().height}`),
  )
}

function findTallestRow(page: Page): Promise<number> {
  return page.evaluate(() =>
    Math.max(0, ...[...document.querySelectorAll('.rows tbody tr')].map((row) => row.clientHeight)),
  )
}

const looks = [
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 360, height: 800 } },
] as const

/** Lists, two fields, an event for each item, several addresses. */
export const saysAll: RuleToCreate = {
  name: 'Split the order',
  trigger: 'DEAL_WON',
  group: 'orders',
  order: 20,
  conditions: [
    { field: 'amount', operator: 'greater_than', value: { field: 'limit' } },
    { some: 'items', that: [{ field: 'qty', operator: 'greater_than', value: { root: 'limit' } }] },
    { count: 'tags', that: [{ field: '.', operator: 'equals', value: 'vip' }], operator: 'equals', value: 1 },
  ],
  actions: [
    {
      type: 'EMIT_EVENT',
      config: {
        eventType: 'DEAL_CREATED',
        forEach: 'items',
        where: [{ field: 'qty', operator: 'greater_than', value: 0 }],
        data: { sku: '{{item.sku}}' },
      },
    },
    {
      type: 'SEND_EMAIL',
      config: {
        to: ['{{owner.email}}', `${'long-'.repeat(20)}address@example.com`],
        cc: 'ada@example.com',
        subject: 'Order',
        template: 'welcome',
      },
    },
  ],
}

/** Limits, hours, and waits of each kind. */
const hours = { days: 'mon-fri', from: '09:00', to: '17:00', timezone: 'Europe/Berlin' }
const knowsTimes: RuleToCreate = {
  name: 'Remind unless they paid',
  trigger: 'DEAL_CREATED',
  conditions: [{ time: hours }],
  perKey: {
    key: '{{deal.id}}',
    atLeast: { events: 2, within: '24h' },
    atMost: { runs: 1, per: '7d' },
    whileRunning: 'skip',
  },
  actions: [
    {
      type: 'WAIT',
      config: {
        duration: '3d',
        for: { eventType: 'DEAL_WON', match: { 'deal.id': '{{deal.id}}' }, then: 'stop' },
      },
    },
    { type: 'WAIT', config: { until: '{{renewal}}', offset: '-3d', time: hours } },
    { type: 'CREATE_TASK', config: { title: 'Remind {{name}}' } },
  ],
}

async function fill(client: Awaited<ReturnType<Context['makeWorkspace']>>['client']) {
  const rule = await client.rules.create({
    name: 'Call hot leads',
    trigger: 'LEAD_CREATED',
    conditions: [
      {
        any: [
          { field: 'score', operator: 'greater_than', value: 80 },
          { not: { field: 'tags', operator: 'contains', value: 'cold' } },
        ],
      },
      { field: 'country', operator: 'in', value: ['DE', 'AT'] },
      { field: 'age', operator: 'between', value: [18, 65] },
    ],
    actions: [
      { type: 'CREATE_TASK', config: { title: 'Call {{name}}', priority: 'high' } },
      {
        type: 'SEND_WEBHOOK',
        config: { url: 'http://127.0.0.1:9/hook', headers: { a: 'b' } },
        retry: { attempts: 1 },
      },
    ],
  })
  await client.rules.update(rule.id, { description: 'Within a day' })
  const run = await client.trigger('LEAD_CREATED', {
    name: 'Ada',
    score: 95,
    country: 'DE',
    age: 40,
    long: 'x'.repeat(300),
  })
  await client.trigger('LEAD_CREATED', { name: 'Bo', score: 5, country: 'FR' })
  const { id: secretId } = await client.developer.signingSecrets.create({ provider: 'shop' })
  const secret = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`
  await client.webhooks
    .deliver({ provider: 'shop', id: 'evt_1', body: {}, secretId, secret })
    .catch(() => undefined)
  await client.developer.apiKeys.create({ name: 'CI', scopes: ['rules:read'] })
  const subscription = await client.developer.subscriptions.create({
    url: 'https://hooks.example.com/a',
    eventTypes: ['execution.failed'],
  })
  const template = await client.emailTemplates.create({ name: 'welcome', text: 'Dear {{name}}' })
  await client.rules.create({
    name: 'Never',
    trigger: 'LEAD_CREATED',
    conditions: [
      { field: 'score', operator: 'greater_than', value: 80 },
      { field: 'score', operator: 'less_than', value: 50 },
    ],
    actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }],
  })
  const { executions } = await client.executions.list()
  const conditions = [{ field: 'score', operator: 'greater_than' as const, value: 50 }]
  const draft = {
    name: 'Call warm leads',
    trigger: 'LEAD_CREATED' as const,
    conditions,
    actions: rule.actions,
  }
  await client.rules.drafts.save(rule.id, draft)
  const backtest = await client.rules.backtests.create(
    { ruleId: rule.id, definition: { trigger: 'LEAD_CREATED', conditions, actions: rule.actions } },
    { wait: 20 },
  )
  const shadow = await client.rules.create({ ...draft, name: 'In the shadow', mode: 'shadow' })
  const guarded = await client.rules.create({ ...draft, name: 'Guarded', isActive: false })
  await client.rules.drafts.save(guarded.id, { ...draft, name: 'Guarded well' })
  await client.rules.drafts.promote(guarded.id, {
    guard: { for: '1h', maxRunsPerHour: 5, maxFailureRate: 0.2 },
  })
  const { tasks } = await client.tasks.list()
  const erasure = await client.developer.erasures.create({ path: 'phone', value: '+49 30 901820' })
  const split = await client.rules.create(saysAll)
  const timed = await client.rules.create(knowsTimes)
  const ticking = await client.rules.create({
    ...{ name: 'Figures', trigger: 'SCHEDULE', actions: saysAll.actions.slice(1) },
    schedule: { cron: '0 9 * * 1-5', timezone: 'America/Argentina/Buenos_Aires', catchUp: 'none' },
  })
  return [
    `rules/${split.id}`,
    `rules/${timed.id}`,
    `rules/${ticking.id}`,
    'rules?group=orders',
    `tasks?id=${tasks[0]?.id}`,
    `access?tab=erasures&id=${'id' in erasure ? erasure.id : ''}`,
    'nowhere',
    `rules/${rule.id}`,
    `rules/${rule.id}?tab=json`,
    `rules/${rule.id}?tab=versions`,
    `rules/${rule.id}?backtest=${backtest.id}`,
    `rules/${rule.id}?tab=rollout`,
    `rules/${shadow.id}?tab=rollout`,
    `rules/${guarded.id}?tab=rollout`,
    `events?id=${run.id}`,
    `executions?id=${executions[0]?.id}`,
    `webhooks?way=out&id=${subscription.id}`,
    `rules?tab=templates&id=${template.id}`,
  ]
}

/** Every screen and dialog, for people with other eyes and hands, on small screens, in both colours. */
export function testSweep(t: Test, { browser, makeWorkspace, consoleUrl }: Context): void {
  for (const [kind, isFull] of process.env.TEST_LONG
    ? ([
        ['an empty', false],
        ['a used', true],
      ] as const)
    : ([['a used', true]] as const))
    t.test(`every screen of ${kind} workspace has no fault of accessibility, width or console`, async (t) => {
      const { client, visit } = await makeWorkspace()
      const more = isFull ? await fill(client) : []
      // Colours that are on their way from light to dark would be measured halfway.
      const { page, hosts, complaints, at } = await visit(browser, 'admin', { reducedMotion: 'reduce' })
      for (const [place, path] of draw([...[...screens, ...more].entries()], 3, 0)) {
        // As a link leads there: each screen is loaded once, then looked at.
        await go(page, at(path))
        for (const { colorScheme, viewport } of draw(looks, 2, place)) {
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize(viewport)
          t.strictSame(await findFaults(page), [], `${path}, ${colorScheme}, ${viewport.width}`)
        }
        for (const width of draw(widths, 4, place)) {
          await page.setViewportSize({ width, height: 700 })
          t.notOk(await findExcessWidth(page), `${path} needs no sideways scrolling at ${width} px`)
          // Narrower ones show each row as a card.
          if (width >= 700)
            t.ok((await findTallestRow(page)) <= mostRowHeight, `${path} squeezes no column at ${width} px`)
        }
      }
      t.strictSame(complaints, [], 'no message in the console')
      t.strictSame([...hosts], [new URL(consoleUrl).host], 'nobody else was asked')
      await page.context().close()
    })

  t.test('every dialog has no fault, keeps the focus, and gives it back', async (t) => {
    const { client, visit } = await makeWorkspace()
    const rule = await createDrafted(client)
    await client.developer.credentials.put('CRM', {
      kind: 'text',
      hosts: ['crm.example.com'],
      value: 'secret',
    })
    const { page, complaints, at } = await visit(browser)
    const dialogs = [
      ['overview', 'Search…'],
      ['overview', 'admin-'],
      ['events', 'Send a sample event'],
      ['access', 'Add a member'],
      ['access', 'Grant support access'],
      ['access?tab=keys', 'New API key'],
      ['access?tab=secrets', 'New signing secret'],
      ['access?tab=credentials', 'New credential'],
      ['access?tab=credentials', 'Change CRM'],
      ['access?tab=erasures', 'Erase a person…'],
      ['access?tab=workspace', 'Suspend Acme'],
      ['access?tab=workspace', 'Delete Acme'],
      ['webhooks?way=out', 'New subscription'],
      ['rules?tab=templates', 'New template'],
      [`rules/${rule.id}?tab=rollout`, 'Promote…'],
      [`rules/${rule.id}?tab=rollout`, 'Discard the draft'],
      [`rules/${rule.id}?tab=rollout`, 'Put into shadow mode: Greet'],
    ] as const
    for (const [path, name] of draw(dialogs, 2, 0)) {
      await go(page, at(path))
      const opener = page.getByRole('button', { name }).first()
      await opener.click()
      await page.getByRole('dialog').waitFor()
      t.strictSame(await findFaults(page), [], name)
      t.ok(
        await page.evaluate(() => document.activeElement?.closest('dialog') !== null),
        `${name}: the focus is inside`,
      )
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      t.ok(
        await opener.evaluate((element) => element === document.activeElement),
        `${name}: the focus is back`,
      )
    }
    t.strictSame(complaints, [])
  })

  t.test('the sign-in has no fault, and the page asks the API for nothing before it', async (t) => {
    const { page, complaints } = await browser.visit()
    await page.addInitScript(noteShifts)
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.goto(`${consoleUrl}/sign-in`)
    await page.getByLabel('Token or API key').waitFor()
    t.strictSame(await findFaults(page), [])
    // Also where a link leads to a screen, and the session has ended meanwhile.
    for (const path of ['sign-in', '', `w/${newId()}/overview`])
      for (const viewport of [
        { width: 1350, height: 940 },
        { width: 360, height: 780 },
      ]) {
        await page.setViewportSize(viewport)
        await page.goto(`${consoleUrl}/${path}`)
        await page.getByLabel('Token or API key').waitFor()
        await page.waitForLoadState('networkidle')
        t.same(await readShifts(page), [], `/${path}, ${viewport.width}`)
      }
    t.strictSame(
      asked.filter((path) => path.startsWith('/api/')),
      [],
    )
    t.strictSame(complaints, [])
  })

  t.test('the page of parts has no fault, in both colours and at each width', async (t) => {
    const { page, complaints } = await browser.visit({ reducedMotion: 'reduce' })
    const directory = await buildParts(t)
    await page.route('**/*', (route) =>
      route.fulfill({ path: `${directory}${new URL(route.request().url()).pathname}` }),
    )
    await page.goto(`${consoleUrl}/parts.html`)
    await page.getByRole('heading', { name: 'Parts of the console' }).waitFor()
    for (const { colorScheme, viewport } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(viewport)
      t.strictSame(await findFaults(page), [], `${colorScheme}, ${viewport.width}`)
    }
    // It shows both colours at once.
    const appearances = await page.getByRole('group', { name: 'Appearance' }).getByRole('button').all()
    for (const appearance of appearances) {
      await appearance.click()
      const name = await appearance.innerText()
      t.strictSame(await findFaults(page), [], name)
      t.strictSame(await findLowTargets(page), [], `${name}: what is pressed is at least 24 px high`)
    }
    t.strictSame(complaints, [])
    await page.emulateMedia({ forcedColors: 'active' })
    t.strictSame(await findUnmarked(page), [], 'in the colours of the system')
  })

  t.test(
    'a screen opens with at most three requests to the API, a drawer takes one more, and hardly anything moves',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const more = await fill(client)
      const { page, at } = await visit(browser)
      await page.addInitScript(noteShifts)
      // The page is loaded anew, so it also asks who it is. What waits for new events opens nothing, nor does what is read once the screen is drawn.
      const ofNone = /\/api\/(me$|events\/newest|decisions\?status=open&limit=50$)/
      // What stands beside a screen comes once it is drawn: a draft in the head of a rule, and the counts of the sidebar.
      const beside = /\/overview\?slices=1&failures=20$/
      for (const [place, path] of draw([...[...screens, ...more].entries()], 3, 1))
        for (const { viewport } of draw(looks, 2, place)) {
          await page.setViewportSize(viewport)
          const isLater = (url: string) =>
            beside.test(url) ||
            (/\/rollouts\?ruleId=/.test(url) && !path.includes('tab=rollout')) ||
            (url.endsWith('/automation-rules/attention') && path !== 'overview')
          const asked: string[] = []
          const open = new Set<object>()
          const early: string[] = []
          const note = (request: { url(): string }) => {
            const url = request.url()
            if (!new URL(url).pathname.startsWith('/api/')) return
            asked.push(url)
            if (isLater(url) && open.size > 0) early.push(url)
            if (!ofNone.test(url) && !isLater(url)) open.add(request)
          }
          const end = (request: object) => open.delete(request)
          // The screen before may still ask for something, until this one replaces it.
          page.once('framenavigated', () => {
            asked.splice(0)
            early.splice(0)
            open.clear()
          })
          page.on('request', note)
          page.on('requestfinished', end)
          page.on('requestfailed', end)
          await page.goto(at(path))
          await settle(page)
          page.off('request', note)
          page.off('requestfinished', end)
          page.off('requestfailed', end)
          t.same(await readShifts(page), [], `${path}, ${viewport.width}`)
          t.strictSame(early, [], `${path}, ${viewport.width}: while the screen still reads`)
          const own = asked.filter((url) => !ofNone.test(url) && !isLater(url))
          // What is selected takes one more.
          const most = /[?&]id=/.test(path) ? 4 : 3
          t.ok(own.length <= most, `${path}, ${viewport.width}: ${own.length} ${own.join(' ')}`)
        }
    },
  )
}

interface Shifts {
  shifts: { value: number; what: string[] }[]
}

export function noteShifts(): void {
  const noted = window as unknown as Shifts
  noted.shifts = []
  interface Shift extends PerformanceEntry {
    value: number
    sources: { node: Element | null }[]
  }
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries() as Shift[])
      noted.shifts.push({ value, what: sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? '') })
  }).observe({ type: 'layout-shift', buffered: true })
}

/** What moved since the page was loaded, once all of it together moved too far. */
export function readShifts(page: Page): Promise<Shifts['shifts']> {
  return page.evaluate(async (most) => {
    await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)))
    const { shifts } = window as unknown as Shifts
    return shifts.reduce((sum, { value }) => sum + value, 0) > most ? shifts : []
  }, mostShift)
}
