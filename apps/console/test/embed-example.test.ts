import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@automation/client'
import { findFreePort } from '@automation/launcher'
import { openBrowser } from '@automation/launcher/open-browser'
import type { Frame, Page } from 'playwright-core'
import t from 'tap'
import { startProductWithConsole } from './fixtures/product.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const port = await findFreePort()
// Another site than that of the console, which is on 127.0.0.1.
const hostUrl = `http://localhost:${port}`
/** All these pages are opened from one address within some seconds. */
const plenty = '1000000/1000000'
const [browser, { product, consoleUrl }] = await Promise.all([
  openBrowser(t),
  startProductWithConsole(t, { EMBED_ORIGINS: hostUrl, RATE_LIMIT_ANONYMOUS: plenty }),
])
const baseUrl = product.apis[0]?.baseUrl ?? ''
const directory = t.testdir({ 'demo.json': JSON.stringify({ baseUrl, consoleUrl }) })
const files = [`${directory}/demo.json`, `${directory}/customers.json`] as const

/** The steps of `npm run embed`. */
async function startExample(): Promise<ChildProcess> {
  const env = { ...process.env, DATABASE_URL: product.databaseUrl }
  await run(process.execPath, ['examples/embed/sign-up.mjs', ...files], { cwd: root, env })
  const host = spawn(process.execPath, ['examples/embed/host.mjs', files[1], `${port}`], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => host.kill())
  const [line] = await once(host.stdout, 'data')
  if (!String(line).includes(hostUrl)) throw new Error(String(line))
  return host
}

async function clientOf(customer: 'Acme' | 'Globex') {
  const { keys } = JSON.parse(await readFile(files[1], 'utf8'))
  return createClient({ baseUrl, apiKey: keys[customer] })
}

/** The frame that the element shows now. */
async function frameOf(page: Page): Promise<Frame> {
  const handle = await page.waitForSelector('automation-rules iframe')
  const frame = await handle.contentFrame()
  if (frame === null) throw new Error('no frame')
  return frame
}

await startExample()

t.test('a host of at most 40 lines is enough, and a second start makes no second customers', async (t) => {
  const lines = (await readFile(`${root}examples/embed/host.mjs`, 'utf8')).trim().split('\n')
  t.ok(lines.length <= 40, `${lines.length} lines`)
  const before = await readFile(files[1], 'utf8')
  await run(process.execPath, ['examples/embed/sign-up.mjs', ...files], { cwd: root })
  t.equal(await readFile(files[1], 'utf8'), before)
})

t.test(
  'a customer writes a rule in the page of the product, evaluated on their own events at each keystroke',
  async (t) => {
    const { page, complaints, hosts } = await browser.visit()
    await page.goto(hostUrl)
    const frame = await frameOf(page)
    await frame.getByRole('heading', { name: 'Rules', level: 1 }).waitFor()
    t.equal(
      await frame.evaluate(() => {
        try {
          return String(localStorage.length)
        } catch (error) {
          return (error as Error).name
        }
      }),
      'SecurityError',
      'the browser blocks cookies and storage of third parties',
    )
    t.equal(await frame.evaluate(() => document.cookie), '')
    t.notMatch(frame.url(), '#', 'the secret is gone from the address')
    await page.evaluate(() => {
      const rules = document.querySelector('automation-rules')
      Object.assign(globalThis, { told: [] })
      for (const type of ['dirty', 'saved'])
        rules?.addEventListener(type, () => (globalThis as unknown as { told: string[] }).told.push(type))
      ;(rules as unknown as { open(path: string): void }).open('rules/new?trigger=DEAL_WON')
    })
    await frame.getByLabel('Name', { exact: true }).first().fill('Celebrate big deals')
    await frame.getByRole('button', { name: 'Condition', exact: true }).last().click()
    await frame.getByRole('combobox', { name: 'Field', exact: true }).last().fill('amount')
    const comparison = frame.getByRole('combobox', { name: 'Comparison', exact: true }).last()
    await comparison.fill('above')
    await comparison.press('Enter')
    const value = frame.getByLabel('Value', { exact: true })
    await value.fill('10000')
    await frame.locator('.matching', { hasText: '2 of 3' }).waitFor()
    await value.fill('20000')
    await frame.locator('.matching', { hasText: '1 of 3' }).waitFor()
    await frame.getByRole('textbox', { name: 'title' }).fill('Call {{name}}')
    await page.evaluate(() =>
      (document.querySelector('automation-rules') as unknown as { save(): void }).save(),
    )
    await page.waitForFunction(() => (globalThis as unknown as { told: string[] }).told.includes('saved'))
    await page.waitForURL(/#rules\/[0-9a-f-]{36}/)
    const { rules } = await (await clientOf('Acme')).rules.list()
    t.match(rules, [{ name: 'Celebrate big deals', trigger: 'DEAL_WON', isActive: true }])
    t.strictSame((await (await clientOf('Globex')).rules.list()).rules, [], 'the other customer has none')
    t.strictSame([...hosts].sort(), [new URL(consoleUrl).host, new URL(hostUrl).host].sort())
    t.strictSame(complaints, [])
  },
)

t.test('the back button takes the frame back, and a reload shows the same page again', async (t) => {
  const { page, complaints } = await browser.visit()
  await page.goto(hostUrl)
  const frame = await frameOf(page)
  await frame.getByRole('heading', { name: 'Rules', level: 1 }).waitFor()
  await frame.getByRole('link', { name: 'Events', exact: true }).click()
  await frame.getByRole('heading', { name: 'Events', level: 1 }).waitFor()
  await page.waitForURL(`${hostUrl}/#events`)
  await page.reload()
  await (await frameOf(page)).getByRole('heading', { name: 'Events', level: 1 }).waitFor()
  const again = await frameOf(page)
  await again.getByRole('link', { name: 'Rules', exact: true }).click()
  await again.getByRole('heading', { name: 'Rules', level: 1 }).waitFor()
  await page.waitForURL(`${hostUrl}/#rules`)
  await page.goBack()
  await again.getByRole('heading', { name: 'Events', level: 1 }).waitFor()
  await page.waitForURL(`${hostUrl}/#events`)
  t.strictSame(complaints, [])
})

t.test('a session that was ended is renewed by the page, and another customer sees their own', async (t) => {
  const { page } = await browser.visit()
  await page.goto(hostUrl)
  const frame = await frameOf(page)
  await frame.getByText('Celebrate big deals').first().waitFor()
  const acme = await clientOf('Acme')
  const before = await page.getAttribute('automation-rules', 'src')
  await acme.developer.embedSessions.endOfUser('ada')
  await frame.getByRole('link', { name: 'Executions', exact: true }).click()
  await page.waitForFunction(
    (before) => document.querySelector('automation-rules')?.getAttribute('src') !== before,
    before,
  )
  await frame.getByRole('heading', { name: 'Executions', level: 1 }).waitFor()
  await frame.getByText('Your session has ended.').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Bo of Globex' }).click()
  await page.getByText('Signed in: Bo of Globex').waitFor()
  await page.waitForLoadState()
  await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Win a deal' }).click()])
  const other = await frameOf(page)
  await other.getByRole('heading', { level: 1 }).waitFor()
  await page.evaluate(() =>
    (document.querySelector('automation-rules') as unknown as { open(path: string): void }).open('events'),
  )
  await other.getByText('A new deal').first().waitFor()
  t.equal(await other.getByText('Celebrate big deals').count(), 0)
})
