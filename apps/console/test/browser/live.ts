import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { until } from '../fixtures/api-in-trouble.js'
import { type Context, go, stopPolling } from './context.js'
import { noteShifts, readShifts } from './sweep.js'

/**
 * Sends a first event, and waits until the page was told of an event: from then on it knows which one is the newest. The first may be
 * committed before its request reaches the API.
 */
async function listens(page: Page, send: () => Promise<unknown>): Promise<void> {
  const told = page.waitForResponse(/\/api\/events\/newest/)
  await send()
  await told
}

/** What comes in is announced, and moves nothing. */
export function testLive(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('new events are announced as soon as they come, and shown when the reader wants them', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.trigger('LEAD_CREATED', { name: 'Ada' })
    const { page, complaints, at } = await visit(browser)
    await page.addInitScript(stopPolling)
    await page.addInitScript(noteShifts)
    await page.goto(at('events'))
    // The heading is there before the list is.
    await page.locator('table[aria-rowcount="1"]').waitFor()
    const send = async (...names: string[]) =>
      await client.events.sendMany(
        names.map((name) => ({ eventType: 'DEAL_CREATED', data: { name } })) as never,
      )
    await listens(page, () => send('Bo'))
    const table = page.getByRole('table', { name: 'events' })
    t.equal(await table.getAttribute('aria-rowcount'), '1')
    await send('Cleo', 'Dee')
    const announced = page.getByRole('button', { name: '3 new events' })
    await announced.waitFor()
    t.equal(await table.getAttribute('aria-rowcount'), '1', 'nothing is inserted under the reader')
    t.same(await readShifts(page), [], 'and nothing moves')
    await announced.click()
    await page.locator('table[aria-rowcount="4"]').waitFor()
    t.equal(await announced.count(), 0)

    // The overview is read again by itself.
    await go(page, at('overview'))
    await page.getByRole('link', { name: '4 events accepted' }).waitFor()
    await listens(page, () => send('Eve'))
    await send('Fay')
    await page.getByRole('link', { name: '6 events accepted' }).waitFor()
    t.strictSame(complaints, [])
  })

  t.test('the first steps say that the first event is here', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints } = await visit(browser)
    await page.addInitScript(stopPolling)
    await page.reload()
    await page.getByText('Waiting for the first event…').waitFor()
    await listens(page, () => client.trigger('LEAD_CREATED', { name: 'Ada' }))
    await client.trigger('LEAD_CREATED', { name: 'Ada' })
    await page.getByText(/LEAD_CREATED arrived \d\d:\d\d/).waitFor()
    await page.getByRole('link', { name: 'See what came of it' }).click()
    await page.getByRole('complementary', { name: 'Details' }).getByText('Ada').waitFor()
    t.strictSame(complaints, [])
  })

  t.test(
    'one request waits at a time, none on a screen without events, when paused, or after the session',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const { page, at } = await visit(browser)
      const open = new Set<object>()
      let most = 0
      page.on('request', (request) => {
        if (request.url().includes('/api/events/newest')) open.add(request)
        most = Math.max(most, open.size)
      })
      page.on('requestfinished', (request) => open.delete(request))
      page.on('requestfailed', (request) => open.delete(request))
      const becomes = (count: number) => until(() => open.size === count)
      await go(page, at('executions'))
      await becomes(1)
      await go(page, at('rules'))
      await becomes(0)
      await go(page, at('events'))
      await becomes(1)
      t.equal(most, 1)
      await page.context().clearCookies()
      await client.trigger('LEAD_CREATED', {})
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
      await becomes(0)
    },
  )
}
