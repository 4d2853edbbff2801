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
        // Nor does a file that takes long redraw the screen.
        setTimeout: (run: () => void, ms = 0) => ms < 20_000 && setTimeout(run, ms < 50 ? 500 : ms),
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
    await page.getByRole('heading', { name: /^No executions in the/ }).waitFor()
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

  t.test('after each deployment “Try again” loads the page anew, at most once a minute', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await untilFetched(page)
    await page.clock.install()
    const loads = countLoads(page)
    let isGone = true
    await page.route(partOfExecutions, (route) =>
      isGone ? route.fulfill({ status: 404 }) : route.fallback(),
    )
    await page.goto(at('executions'))
    const problem = page.getByRole('heading', { name: 'A part of this page could not be loaded' })
    const again = page.getByRole('button', { name: 'Try again' })
    await problem.waitFor()
    t.equal(loads.count, 2)
    await again.click()
    await problem.waitFor()
    t.equal(loads.count, 2, 'no second time within a minute')
    await page.clock.fastForward(61_000)
    // The files of the page that is loaded next are there.
    page.once('framenavigated', () => {
      isGone = false
    })
    await again.click()
    await page.getByRole('heading', { name: /^No executions in the/ }).waitFor()
    t.equal(loads.count, 3)
  })

  t.test('a file that never comes is said so after a while, and a late one is drawn', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await untilFetched(page)
    await page.clock.install()
    let isStuck = true
    const held: (() => void)[] = []
    await page.route(partOfExecutions, (route) => {
      if (!isStuck) return route.fallback()
      held.push(() => void route.fallback())
    })
    await page.goto(at('executions'))
    await page.getByText('Loading executions…').waitFor()
    const slow = page.getByRole('heading', { name: 'A part of this page takes long to load' })
    t.equal(await slow.count(), 0)
    await page.clock.fastForward(20_000)
    await slow.waitFor()
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Executions')
    for (const send of held.splice(0)) send()
    await page.getByRole('heading', { name: /^No executions in the/ }).waitFor()
    await page.goto(at('overview'))
    await page.goto(at('executions'))
    await page.getByText('Loading executions…').waitFor()
    await page.clock.fastForward(20_000)
    await slow.waitFor()
    isStuck = false
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: /^No executions in the/ }).waitFor()
  })

  t.test('a part that nothing waits for is left out until it can be had', async (t) => {
    const { client, visit } = await makeWorkspace()
    for (const source of ['Fair', 'Fair', 'Fair', 'Web'])
      await client.trigger('LEAD_CREATED', { name: 'Grace', source })
    const { events } = await client.events.list({ limit: 1 })
    const { page, at } = await visit(browser)
    await untilFetched(page)
    const loads = countLoads(page)
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`))
    const part = /\/assets\/proposals-[^/]+\.js$/
    await page.route(part, (route) => route.fulfill({ status: 404 }))
    const failed = page.waitForResponse(part)
    await go(page, at(`rules/new?event=${events[0]?.id}`))
    await failed
    await page.getByLabel('Name', { exact: true }).fill('Leads of the web')
    await page.getByText('kept in this browser').waitFor()
    await page.getByText('4 of 4').waitFor()
    t.equal(loads.count, 0)
    t.notOk(asked.includes('HEAD /icon.svg'), 'nor is it asked whether the page could be loaded anew')
    t.equal(await page.getByText('could not be loaded').count(), 0)
    await page.unroute(part)
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await page.getByRole('group', { name: 'Conditions that this event suggests' }).waitFor()
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Leads of the web')
    t.equal(loads.count, 0)
  })

  t.test('the page does not load itself anew while something typed stands in an open form', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await untilFetched(page)
    await page.route(/\/assets\/rule-screen-[^/]+\.js$/, (route) => route.fulfill({ status: 404 }))
    const loads = countLoads(page)
    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: /^Send a sample event/ }).click()
    const dialog = page.getByRole('dialog', { name: /sample/i })
    // The example comes first: it would stand beside what is filled in.
    await page.waitForFunction(() => document.querySelector('textarea')?.value.startsWith('{'))
    await dialog.getByRole('textbox').first().fill('{"name":"Grace Hopper"}')
    const asked = page.waitForRequest(/\/assets\/rule-screen-/)
    await page.evaluate((target) => {
      history.pushState(null, '', target)
      dispatchEvent(new PopStateEvent('popstate'))
    }, at('rules/new'))
    await asked
    await page.getByText('what you typed in the open form would be lost').waitFor()
    t.equal(await dialog.getByRole('textbox').first().inputValue(), '{"name":"Grace Hopper"}')
    t.equal(loads.count, 0)
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await page.unroute(/\/assets\/rule-screen-[^/]+\.js$/)
    await page.getByRole('button', { name: 'Reload the page' }).click()
    await page.getByLabel('Name', { exact: true }).waitFor()
    t.equal(loads.count, 1)
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

function countLoads(page: Page): { count: number } {
  const loads = { count: 0 }
  page.on('request', (request) => {
    if (request.isNavigationRequest()) loads.count++
  })
  return loads
}
