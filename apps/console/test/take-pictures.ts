import { mkdir } from 'node:fs/promises'
import { openBrowser } from '@automation/launcher/open-browser'
import type { Page } from 'playwright-core'
import { settle } from './browser/context.js'
import { startProductWithConsole } from './fixtures/product.js'

// Takes the pictures of docs/images from a workspace that has some of everything. With a directory: each screen, large and small, light and
// dark, to look at after a change of the console.
//   node packages/launcher/dist/src/with-services.js node apps/console/dist/test/take-pictures.js [directory]

const [directory] = process.argv.slice(2)
const large = { width: 1280, height: 860 }
const small = { width: 360, height: 780 }
const hour = 3_600_000
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
const { rule, backtest, execution, task, event } = await fill(workspace)
if (directory === undefined) await takeForDocs()
else await takeAll(directory)
for (const close of closings) await close()

async function takeForDocs(): Promise<void> {
  const { page, at } = await workspace.visit(browser, 'admin', { reducedMotion: 'reduce' })
  for (const [name, path, viewport] of [
    ['today', 'today', large],
    ['rules', 'rules', large],
    ['rule', rule, large],
    ['backtest', backtest, large],
    ['rule-small', rule, small],
  ] as const) {
    await page.setViewportSize(viewport)
    await take(page, at(path), `docs/images/console-${name}.png`)
  }
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
  const screens = {
    today: 'today',
    events: 'events',
    executions: 'executions',
    tasks: 'tasks',
    rules: 'rules',
  }
  const used = {
    ...screens,
    rule,
    backtest,
    execution,
    task,
    event,
    rollout: `${rule}?tab=rollout`,
    new: 'rules/new',
  }
  const looks = [
    ['light', { width: 1440, height: 900 }],
    ['dark', { width: 1440, height: 900 }],
    ['light', small],
    ['dark', small],
  ] as const
  for (const [colorScheme, viewport] of looks)
    for (const [kind, one, paths] of [
      ['used', workspace, used],
      ['empty', empty, screens],
    ] as const) {
      const { page, at } = await one.visit(browser, 'admin', {
        reducedMotion: 'reduce',
        colorScheme,
        viewport,
      })
      for (const [name, path] of Object.entries(paths)) {
        await take(page, at(path), `${directory}/${kind}-${name}-${viewport.width}-${colorScheme}.png`)
      }
      await page.context().close()
    }
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
  const times = Array.from({ length: 90 }, (_, index) => now - 23 * hour + index * 900_000)
  await storeRuns(
    hot.id,
    times.map((at) => ({ at, isFailed: false })),
  )
  await storeRuns(
    shop.id,
    times.slice(50).map((at, index) => ({ at: at + 7, isFailed: index > 28 })),
  )
  const { id } = await client.trigger('LEAD_CREATED', { ...leadOf(7), score: 95, country: 'DE' })
  for (let index = 0; index < 5; index++) await client.trigger('LEAD_CREATED', leadOf(index))
  await client.trigger('DEAL_CREATED', { name: 'Big one', amount: 900 })
  const warm = conditions.with(0, { field: 'score', operator: 'greater_than', value: 50 })
  const definition = { trigger: 'LEAD_CREATED' as const, conditions: warm, actions }
  await client.rules.drafts.save(hot.id, { name: hot.name, ...definition })
  const { id: backtestId } = await client.rules.backtests.create({ ruleId: hot.id, definition }, { wait: 20 })
  const { tasks } = await client.tasks.list()
  const { executions } = await client.executions.list({ eventId: id } as never)
  return {
    rule: `rules/${hot.id}`,
    backtest: `rules/${hot.id}?backtest=${backtestId}`,
    execution: `executions?id=${executions.find(({ ruleId }) => ruleId === hot.id)?.id}`,
    task: `tasks?id=${tasks[0]?.id}`,
    event: `events?id=${id}`,
  }
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
