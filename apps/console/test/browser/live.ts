import type { Test } from 'tap'
import { type Context, go, settle } from './context.js'
import { noteShifts, readShifts } from './sweep.js'

const soonMs = 2_000

/** What comes in is announced, and moves nothing. */
export function testLive(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('new events are announced within two seconds, and come when the reader wants them', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.trigger('LEAD_CREATED', { name: 'Ada' }, { wait: 10 })
    const { page, complaints, at } = await visit(browser)
    await page.addInitScript(noteShifts)
    const waiting = page.waitForRequest(/\/api\/events\/newest/)
    await page.goto(at('events'))
    await settle(page)
    await waiting
    const table = page.getByRole('table', { name: 'events' })
    t.equal(await table.getAttribute('aria-rowcount'), '1')
    const data = ['Bo', 'Cleo', 'Dee'].map((name) => ({ eventType: 'DEAL_CREATED', data: { name } }))
    await client.events.sendMany(data as never)
    const begin = performance.now()
    const announced = page.getByRole('button', { name: '3 new events' })
    await announced.waitFor({ timeout: soonMs })
    t.comment(`announced after ${Math.round(performance.now() - begin)} ms`)
    t.equal(await table.getAttribute('aria-rowcount'), '1', 'nothing is inserted under the reader')
    t.same(await readShifts(page), [], 'and nothing moves')
    await announced.click()
    await page.locator('table[aria-rowcount="4"]').waitFor()
    t.equal(await announced.count(), 0)

    // The overview is read again by itself.
    await go(page, at('overview'))
    await page.getByRole('link', { name: '4 events accepted' }).waitFor()
    await client.events.sendMany(data.slice(0, 1) as never)
    await page.getByRole('link', { name: '5 events accepted' }).waitFor({ timeout: 15_000 })
    t.strictSame(complaints, [])
  })

  t.test('the first steps say that the first event is here', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints } = await visit(browser)
    await page.getByText('Waiting for the first event…').waitFor()
    await client.trigger('LEAD_CREATED', { name: 'Ada' })
    await page.getByText(/LEAD_CREATED arrived \d\d:\d\d/).waitFor({ timeout: soonMs })
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
      const becomes = async (count: number) => {
        for (let looks = 0; open.size !== count && looks < 100; looks++) await page.waitForTimeout(50)
        t.equal(open.size, count)
      }
      await go(page, at('executions'))
      await becomes(1)
      await go(page, at('rules'))
      await becomes(0)
      await go(page, at('events'))
      await becomes(1)
      t.equal(most, 1)
      await page.context().clearCookies()
      await client.trigger('LEAD_CREATED', {})
      await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ timeout: 10_000 })
      await becomes(0)
    },
  )
}
