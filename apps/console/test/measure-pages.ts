import { openBrowser } from '@automation/launcher/open-browser'
import type { Page } from 'playwright-core'
import { startProductWithConsole } from './fixtures/product.js'

// What Lighthouse measures, by the performance APIs of Chromium itself: each screen, loaded cold. Prints one line a screen, how long a
// rule takes on a slow line, how long a backtest takes until its picture is drawn, and the frames of a list of 100,000 rows while it is scrolled.
//   node packages/launcher/dist/src/with-services.js node apps/console/dist/test/measure-pages.js

const visits = 3
const testedEvents = 10_000
const listedEvents = 100_000
const screens = [
  'overview',
  'events',
  'executions',
  'rules',
  'rules/new',
  'webhooks',
  'reconciliation',
  'access',
]

interface Figures {
  /** First and largest contentful paint, ms. */
  fcp: number
  lcp: number
  /** Total blocking time: of each task what is above 50 ms. */
  tbt: number
  /** Cumulative layout shift. */
  cls: number
}

const closings: (() => Promise<unknown>)[] = []
const owner = {
  teardown: (close: () => Promise<unknown>) => {
    closings.unshift(close)
  },
}
const browser = await openBrowser(owner)
const { makeWorkspace } = await startProductWithConsole(owner)
const { client, visit } = await makeWorkspace()
for (let index = 0; index < 50; index++) await client.trigger('LEAD_CREATED', { name: `Lead ${index}` })
const { page, at } = await visit(browser)
await page.addInitScript(observe)
console.log(`screen         FCP ms  LCP ms  TBT ms  CLS    (median of ${visits})`)
for (const screen of screens) {
  const found: Figures[] = []
  for (let count = 0; count < visits; count++) found.push(await measure(page, at(screen)))
  const middle = (name: keyof Figures) =>
    found.map((one) => one[name]).sort((one, other) => one - other)[Math.floor(visits / 2)] ?? 0
  const line = (['fcp', 'lcp', 'tbt'] as const).map((name) => `${Math.round(middle(name))}`.padStart(8))
  console.log(`${screen.padEnd(12)}${line.join('')}  ${middle('cls').toFixed(4)}`)
}
const slow: { drawn: number; usable: number }[] = []
for (let count = 0; count < visits; count++) slow.push(await measureSlowLine())
const seconds = slow.map(
  ({ drawn, usable }) => `${(drawn / 1_000).toFixed(1)} and ${(usable / 1_000).toFixed(1)}`,
)
console.log(
  `rule at 400 ms and 50 KB/s, s until its screen is drawn, and until it can be edited: ${seconds.join(', ')}`,
)
const waits: number[] = []
for (let count = 0; count < visits; count++) waits.push(await measureBacktest())
const waited = waits.map((ms) => `${Math.round(ms)}`).join(', ')
console.log(`backtest of ${testedEvents} events, ms until its picture is drawn: ${waited}`)
console.log(`list of ${listedEvents} rows: ${await measureLongList()}`)
for (const close of closings) await close()

/** A rule that nobody opened before in this browser: from the address to its heading, and to the button that adds a condition. */
async function measureSlowLine(): Promise<{ drawn: number; usable: number }> {
  const { client, visit } = await makeWorkspace()
  const { id } = await client.rules.create({
    name: 'Hot',
    trigger: 'LEAD_CREATED',
    conditions: [{ field: 'score', operator: 'greater_than', value: 50 }],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
  })
  const { page, at } = await visit(browser)
  await page.goto('about:blank')
  const line = await page.context().newCDPSession(page)
  await line.send('Network.enable')
  await line.send('Network.setCacheDisabled', { cacheDisabled: true })
  const bytes = 50 * 1_024
  const speed = { offline: false, latency: 400, downloadThroughput: bytes, uploadThroughput: bytes }
  await line.send('Network.emulateNetworkConditions', speed)
  const begunAt = performance.now()
  const since = () => performance.now() - begunAt
  const waiting = { timeout: 60_000 }
  await page.goto(at(`rules/${id}`), { waitUntil: 'commit', ...waiting })
  await page.getByRole('heading', { level: 1 }).waitFor(waiting)
  const drawn = since()
  await page.getByRole('button', { name: 'Condition', exact: true }).first().waitFor(waiting)
  const usable = since()
  await page.close()
  return { drawn, usable }
}

/** From the click to the picture, with events of a type that only this rule has. */
async function measureBacktest(): Promise<number> {
  const { client, visit, storeEvents } = await makeWorkspace()
  const { id } = await client.rules.create({
    name: 'Hot',
    trigger: 'LEAD_CREATED',
    conditions: [{ field: 'score', operator: 'greater_than', value: 50 }],
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
  })
  const dayAgo = Date.now() - 86_400_000
  await storeEvents(
    'LEAD_CREATED',
    Array.from({ length: testedEvents }, (_, index) => ({
      at: dayAgo + 5_000 * index,
      data: { name: `Lead ${index}`, score: index % 100 },
    })),
  )
  const { page, at } = await visit(browser)
  await page.goto(at(`rules/${id}`))
  await page.getByRole('button', { name: 'Backtest', exact: true }).click()
  const button = page.getByRole('button', { name: 'Run a backtest' })
  await button.waitFor()
  const begunAt = performance.now()
  await button.click()
  const card = page.getByRole('region', { name: 'Backtest' })
  await card.getByText(`${testedEvents.toLocaleString('en-US')} LEAD_CREATED events`).waitFor()
  await card.getByRole('img').first().waitFor()
  const milliseconds = performance.now() - begunAt
  await page.close()
  return milliseconds
}

/** A page of the API has fewer rows: here it gets as many as if the reader had loaded all of them. */
async function measureLongList(): Promise<string> {
  const { client, visit } = await makeWorkspace()
  await client.trigger('LEAD_CREATED', { name: 'Lead' })
  const { page, at } = await visit(browser)
  await page.route(
    ({ pathname }) => pathname === '/api/events',
    async (route) => {
      const response = await route.fetch()
      const { events } = await response.json()
      const rows = Array.from({ length: listedEvents }, (_, index) => ({
        ...events[0],
        id: `${index}`.padStart(8, '0') + events[0].id.slice(8),
      }))
      await route.fulfill({ response, json: { events: rows, nextCursor: null } })
    },
  )
  await page.goto(at('events'))
  await page.locator(`table[aria-rowcount="${listedEvents}"]`).waitFor()
  const { frames, rows } = await page.evaluate(scrollThrough)
  await page.close()
  const p95 = frames.sort((one, other) => one - other)[Math.floor(0.95 * frames.length)] ?? 0
  return `p95 of ${frames.length} frames ${p95.toFixed(1)} ms, at most ${rows} rows in the document`
}

/** Scrolls a list from its beginning to its end, a few rows in each frame, then in leaps. */
async function scrollThrough(): Promise<{ frames: number[]; rows: number }> {
  const frames: number[] = []
  let rows = 0
  const nextFrame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve))
  let last = await nextFrame()
  for (let frame = 0; frame < 600; frame++) {
    scrollBy(0, frame < 300 ? 200 : document.documentElement.scrollHeight / 300)
    const now = await nextFrame()
    frames.push(now - last)
    last = now
    rows = Math.max(rows, document.querySelectorAll('table.rows tbody tr').length)
  }
  return { frames, rows }
}

async function measure(page: Page, url: string): Promise<Figures> {
  await page.goto(url)
  await page.locator('h1').first().waitFor()
  await page.waitForFunction(() => document.querySelector('.loading, .first, .bars.pending') === null)
  // The observers report after the next frame.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn, 100))))
  return page.evaluate(() => (window as unknown as { figures: Figures }).figures)
}

function observe(): void {
  const figures: Figures = { fcp: 0, lcp: 0, tbt: 0, cls: 0 }
  Object.assign(window, { figures })
  const watch = (type: string, note: (entry: PerformanceEntry & { value: number }) => void) =>
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) note(entry as PerformanceEntry & { value: number })
    }).observe({ type, buffered: true })
  watch('paint', ({ name, startTime }) => {
    if (name === 'first-contentful-paint') figures.fcp = startTime
  })
  watch('largest-contentful-paint', ({ startTime }) => {
    figures.lcp = startTime
  })
  watch('longtask', ({ duration }) => {
    figures.tbt += Math.max(0, duration - 50)
  })
  watch('layout-shift', ({ value }) => {
    figures.cls += value
  })
}
