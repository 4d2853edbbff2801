import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, go } from './context.js'

const partOfExecutions = /\/assets\/executions-[^/]+\.js$/

/** All screens but the editor are fetched when the page is idle, this one last. */
const untilFetched = (page: Page) =>
  page.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => /\/access-[^/]+\.js$/.test(name)),
  )

/** Whatever cannot be had or drawn, the screen says so, and there is a way on. */
export function testNeverBlank(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('a screen whose file cannot be had has its title, says so, and is drawn once it can', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await page.route(partOfExecutions, (route) => route.abort())
    await page.goto(at('executions'))
    const problem = page.getByRole('heading', { name: 'A part of this page could not be loaded' })
    await problem.waitFor()
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Executions')
    t.equal(await page.title(), 'Executions · Automation rules')
    await go(page, at('overview'))
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await go(page, at('executions'))
    await problem.waitFor()
    await page.unroute(partOfExecutions)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: /^No executions in the/ }).waitFor()
  })

  t.test('the heading and the file of a screen do not wait for the session', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    const isAsked = new Promise<() => void>((held) =>
      page.route('**/session', (route) => held(() => void route.fallback())),
    )
    const isFetched = page.waitForResponse(partOfExecutions)
    await page.goto(at('executions'))
    const send = await isAsked
    await page.getByRole('heading', { name: 'Executions', level: 1 }).waitFor()
    t.equal((await isFetched).status(), 200)
    send()
    await page.getByRole('heading', { name: /^No executions in the/ }).waitFor()
  })

  t.test('a screen whose file comes just as it is opened is drawn', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    // Effects run late, as in a browser with much to do.
    await page.addInitScript(() => {
      const { setTimeout } = window
      Object.assign(window, {
        requestAnimationFrame: () => 0,
        setTimeout: (run: () => void, ms = 0) => setTimeout(run, ms < 50 ? 500 : ms),
      })
    })
    const isFetched = new Promise<() => void>((held) =>
      page.route(partOfExecutions, (route) => held(() => void route.fallback())),
    )
    await page.goto(at('overview'))
    const send = await isFetched
    await page.getByRole('link', { name: 'Executions' }).first().click()
    await page.getByText('Loading executions…').waitFor()
    send()
    await page.getByRole('heading', { name: /^No executions in the/ }).waitFor({ timeout: 10_000 })
    t.equal(await page.getByText('Loading executions…').count(), 0)
  })

  t.test('after a deployment a page of before loads itself anew, once', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await untilFetched(page)
    let loads = 0
    page.on('request', (request) => request.isNavigationRequest() && loads++)
    await page.route(partOfExecutions, (route) =>
      loads === 1 ? route.fulfill({ status: 404 }) : route.fallback(),
    )
    await page.goto(at('executions'))
    await page.getByRole('heading', { name: /^No executions in the/ }).waitFor()
    t.equal(loads, 2)
  })

  t.test('a lost connection is said at once, and again when it is back', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await untilFetched(page)
    await page.context().setOffline(true)
    await page.getByText('No connection. What you type is kept.').waitFor()
    await go(page, at('webhooks'))
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Webhooks')
    await go(page, at('rules/new'))
    await page.getByRole('heading', { name: 'A part of this page could not be loaded' }).waitFor()
    await page.context().setOffline(false)
    await page.getByText('The connection is back').waitFor()
    await page.getByLabel('Name', { exact: true }).waitFor()
    t.equal(await page.getByText('No connection').count(), 0)
  })

  t.test('what cannot be drawn is said in its place, and the rest of the page goes on', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await page.route(/\/api\/tasks\?/, (route) =>
      route.fulfill({ json: { tasks: [null], nextCursor: null } }),
    )
    await go(page, at('tasks')).catch(() => {})
    await page.getByRole('heading', { name: 'Something went wrong' }).waitFor()
    await page.getByRole('link', { name: 'Overview' }).first().click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    t.equal(await page.getByText('Something went wrong').count(), 0)
  })
}
