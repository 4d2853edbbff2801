import type { Test } from 'tap'
import { type Context, go, settle } from './context.js'

/** Is anything wrong, since when, and what do I press? */
export function testOverview(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('failures stand together by rule and error, and two clicks retry all of a group', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create({
      name: 'Tell the shop',
      trigger: 'DEAL_CREATED',
      actions: [{ type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:9/hook' }, retry: { attempts: 1 } }],
    })
    for (let index = 0; index < 3; index++) await client.trigger('DEAL_CREATED', { index })
    const { page, complaints } = await visit(browser)
    await page.getByText('3 of 3 executions failed').waitFor()
    const failures = page.getByRole('region', { name: 'Failures' })
    const group = failures.getByRole('listitem')
    t.equal(await group.count(), 1)
    t.match(
      await group.innerText(),
      /3 ×.*Tell the shop[\s\S]*port 9[\s\S]*events from \d+:\d+:\d+ to \d+:\d+/,
    )
    t.match(
      await group.getByRole('link', { name: 'Show' }).getAttribute('href'),
      /executions\?error=.*&rule=.*&status=failed/,
    )
    await group.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByText(/^3 of 3 executions failed, all acknowledged$/).waitFor()
    t.equal(await page.getByRole('region', { name: 'Needs attention' }).count(), 0)
    await failures.getByText('1 acknowledged').click()
    t.match(await group.innerText(), /acknowledged by \w+/)
    t.notOk(await page.evaluate(() => document.activeElement === document.body), 'the focus is kept')
    await group.getByRole('button', { name: 'Take back' }).click()
    await page.getByText(/1 rule has been failing .*, 3 of 3 executions failed$/).waitFor()
    await group.getByRole('button', { name: 'Retry all…' }).click()
    await page.getByText('3 failed executions of Tell the shop. Each continues').waitFor()
    await page.getByRole('button', { name: 'Retry 3' }).click()
    await page.getByText('3 will continue.').first().waitFor()
    await page.getByText('3 continued: 3 failed again.').first().waitFor()
    // Its dialog went with the group, unless the group came back in time.
    await page.keyboard.press('Escape')
    await group.getByRole('link', { name: 'Tell the shop' }).click()
    await page.getByText(/^3 of 3 failed, last \d+:\d+:\d+: .*port 9$/).waitFor()
    t.strictSame(complaints, [])
  })

  t.test(
    'what is acknowledged is red nowhere, one at a time, and what fails then is seen soon',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const actions = [
        { type: 'SEND_WEBHOOK' as const, config: { url: 'http://127.0.0.1:9/hook' }, retry: { attempts: 1 } },
      ]
      await client.rules.create({ name: 'Tell the shop', trigger: 'DEAL_CREATED', actions })
      await client.rules.create({ name: 'Tell the CRM', trigger: 'LEAD_CREATED', actions })
      await client.rules.create({ name: 'Tell the desk', trigger: 'CONTACT_CREATED', actions })
      for (const type of ['DEAL_CREATED', 'LEAD_CREATED'] as const) await client.trigger(type, {})
      const { page, complaints } = await visit(browser)
      const failures = page.getByRole('region', { name: 'Failures' })
      const groups = failures.getByRole('listitem')
      const badge = page.getByRole('link', { name: /^Executions/ }).first()
      await failures.getByRole('button', { name: 'Acknowledge' }).nth(1).waitFor()
      await badge.filter({ hasText: /2\s+failed/ }).waitFor()
      await failures.getByRole('button', { name: 'Acknowledge' }).first().dblclick()
      await failures.getByText('1 acknowledged').waitFor()
      t.equal(await groups.filter({ visible: true }).count(), 1, 'a double click is one')
      await badge.filter({ hasText: /1\s+failed/ }).waitFor()
      t.equal(await page.locator('.figure.bad').count(), 1)
      const last = failures.getByRole('button', { name: 'Acknowledge' }).first()
      await last.click()
      await page.getByText('2 of 2 executions failed, all acknowledged').waitFor()
      const notices = page.getByRole('status', { name: 'Notices' })
      await notices.getByRole('button', { name: 'Undo' }).last().click()
      await badge.filter({ hasText: /1\s+failed/ }).waitFor()
      await last.click()
      await page.getByText('2 of 2 executions failed, all acknowledged').waitFor()
      await badge.filter({ hasNotText: 'failed' }).waitFor()
      t.equal(await page.locator('.figure.bad, .verdict.bad').count(), 0)
      await client.trigger('CONTACT_CREATED', {})
      await groups.filter({ hasText: 'Tell the desk' }).waitFor()
      await page.getByText('3 of 3 executions failed', { exact: true }).waitFor()
      await badge.filter({ hasText: /1\s+failed/ }).waitFor()
      t.strictSame(complaints, [])
    },
  )

  t.test('open decisions are named on the overview and on a phone, from the first answer', async (t) => {
    const { client, visit } = await makeWorkspace()
    const decision = { options: ['yes', 'no'], within: '36h' }
    await client.rules.create({
      name: 'Ask',
      trigger: 'DEAL_CREATED',
      actions: [{ type: 'WAIT', config: { decision } }],
    })
    for (const name of ['Ada', 'Bo']) await client.trigger('DEAL_CREATED', { name })
    const { page, complaints, at } = await visit(browser)
    const needs = page.getByRole('region', { name: 'Needs attention' })
    await needs.getByText(/^Decisions 2 are open, the first is due /).waitFor()
    await page.getByRole('link', { name: 'Decisions 2 open' }).waitFor()
    await page.setViewportSize({ width: 360, height: 780 })
    await page.getByRole('button', { name: 'More 2 open' }).waitFor()
    await needs.getByRole('link', { name: 'Decide' }).click()
    await page.getByRole('heading', { name: 'Decisions' }).waitFor()
    await page.setViewportSize({ width: 1440, height: 900 })
    await go(page, at('rules'))
    const waiting = page.getByRole('row', { name: /Ask/ }).getByRole('link', { name: 'unfinished' })
    t.match(await waiting.getAttribute('href'), /executions\?last=30d&rule=.*&status=waiting/)
    t.strictSame(complaints, [])
  })

  t.test(
    'a drag over a chart chooses the time of all that follows, also by keyboard, and can be taken back',
    async (t) => {
      const { client, visit, storeRuns } = await makeWorkspace()
      const task = { type: 'CREATE_TASK' as const, config: { title: 'x' } }
      const { id } = await client.rules.create({ name: 'Greet', trigger: 'LEAD_CREATED', actions: [task] })
      const hour = 3_600_000
      // Those of one hour are within ten minutes of the clock, and so in one bar, whenever this runs.
      const tenMinutes = hour / 6
      const run = (hoursAgo: number, minute: number, isFailed: boolean) => {
        const begin = Math.floor((Date.now() - hoursAgo * hour) / tenMinutes) * tenMinutes
        return { at: begin + minute * 60_000, isFailed }
      }
      await storeRuns(id, [
        run(20, 2, true),
        run(20, 1, false),
        run(4, 3, true),
        run(4, 2, false),
        run(4, 1, false),
      ])
      const { page, complaints, at } = await visit(browser)
      await page.getByText('2 of 5 executions failed').waitFor()
      const chart = page.getByRole('img', { name: /^Share of failures: 40 %, 2 of 5/ })
      const { x, y, width } = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0 }
      await page.mouse.move(x + width * 0.5, y + 20)
      await page.mouse.down()
      await page.mouse.move(x + width * 0.7, y + 20)
      await page.mouse.move(x + width - 2, y + 20)
      await page.mouse.up()
      await page.waitForURL(/overview\?from=/)
      await page.getByText('1 of 3 executions failed').waitFor()
      t.match(
        await page.getByRole('link', { name: /executions failed/ }).getAttribute('href'),
        /executions\?from=.*&status=failed/,
      )
      await page.getByRole('button', { name: 'Show the whole time' }).click()
      await page.getByText('2 of 5 executions failed').waitFor()
      await page.getByText('As a table').click()
      await page.getByRole('region', { name: 'By time' }).getByRole('link').first().press('Enter')
      await page.getByText('1 of 2 executions failed').waitFor()
      await page.goBack()
      await page.getByText('2 of 5 executions failed').waitFor()
      // What nobody has typed: an address is taken as far as it makes sense.
      for (const odd of ['from=x&to=y', 'from=2999-01-01T00:00:00Z', 'to=1971-01-01T00:00:00Z', 'last=9y']) {
        await go(page, at(`overview?${odd}`))
        t.equal(await page.getByRole('alert').count(), 0, odd)
      }
      t.strictSame(complaints, [])
    },
  )

  t.test('the last line says how the service is', async () => {
    const { client, visit } = await makeWorkspace()
    await client.trigger('LEAD_CREATED', {})
    const { page } = await visit(browser)
    await settle(page)
    const health = page.locator('.health')
    await health.filter({ hasText: /Queue: nothing waits[\s\S]*PostgreSQL[\s\S]*Redis/ }).waitFor()
    await page.route(/\/api\/overview/, async (route) => {
      const response = await route.fetch()
      const body = (await response.json()) as { totals: object }
      const totals = { ...body.totals, unprocessed: 7, oldestUnprocessedAt: new Date().toISOString() }
      await route.fulfill({ response, json: { ...body, totals, redis: 'away' } })
    })
    await page.reload()
    await health.getByText(/7 events wait, the oldest since \d\d:\d\d/).waitFor()
    await health.getByText('Redis is unavailable').waitFor()
    // The page reads again as long as it is open, also when its console has ended.
    await page.unrouteAll({ behavior: 'wait' })
  })
}
