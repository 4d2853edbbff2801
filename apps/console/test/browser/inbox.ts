import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, go, settle } from './context.js'

const refusing = {
  type: 'SEND_WEBHOOK' as const,
  config: { url: 'http://127.0.0.1:9/hook', headers: { Authorization: 'Bearer secret-of-the-shop' } },
  retry: { attempts: 1 },
}

/** How many rows are wholly seen before anybody scrolls. */
function countSeenRows(page: Page): Promise<number> {
  return page.evaluate(() => {
    const bar = document.querySelector('nav.bottom')?.getBoundingClientRect()
    const end = bar && bar.height > 0 ? bar.top : innerHeight
    return [...document.querySelectorAll('.rows tbody tr')].filter((row) => {
      const { top, bottom } = row.getBoundingClientRect()
      return top >= 0 && bottom <= end
    }).length
  })
}

/** Events and executions as lists that one works through. */
export function testInbox(t: Test, { browser, makeWorkspace }: Context): void {
  t.test(
    'a list shows 18 rows at once on a desk and 5 on a phone, each with what tells it apart',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      await client.rules.create({
        name: 'Tell the shop about each lead that came in by the form on the website',
        trigger: 'LEAD_CREATED',
        actions: [refusing],
      })
      const leads = Array.from({ length: 30 }, (_, index) => index)
      for (const score of leads)
        await client.trigger('LEAD_CREATED', {
          id: `00-${score}`,
          name: `Lead ${score} of a company with a long name`,
          score,
          source: 'web',
        })
      const { page, complaints, at } = await visit(browser)
      for (const path of ['events', 'executions', 'executions?status=failed'])
        for (const [width, height, least] of [
          [1440, 900, 18],
          [360, 780, 5],
        ] as const) {
          await page.setViewportSize({ width, height })
          await page.goto(at(path))
          await settle(page)
          await page.locator('.telling', { hasText: 'Lead 29' }).waitFor()
          const seen = await countSeenRows(page)
          t.ok(seen >= least, `${path} at ${width}: ${seen}`)
        }
      t.strictSame(complaints, [])
    },
  )

  t.test('events are found by their data, and what cannot be read is said', async (t) => {
    const { client, visit } = await makeWorkspace()
    for (const [name, score] of [
      ['Ada Lovelace', 95],
      ['Bo', 12],
    ] as const)
      await client.trigger('LEAD_CREATED', { name, lead: { score } })
    const { page, complaints, at } = await visit(browser)
    await go(page, at('events'))
    const search = page.getByRole('combobox', { name: 'Data' })
    const rows = page.getByRole('table', { name: 'events' }).locator('tbody tr')
    for (const text of [
      'LOVELACE',
      'lovelace ada',
      'ada, lead.score > 80',
      'lead.score > 80',
      'name ~ ADA, lead.score != 12',
    ]) {
      await search.fill(text)
      await search.press('Enter')
      await page.waitForURL(/[?&]q=/)
      await settle(page)
      t.equal(await rows.count(), 1, text)
      t.match(await rows.first().textContent(), /Ada Lovelace/)
    }
    await search.fill('lead.score >')
    await search.press('Enter')
    await page.getByText('Must have a value after lead.score >').waitFor()
    await page.goto(at('events?q=bo'))
    await rows.first().getByText('Bo').waitFor()
    await page.getByRole('combobox', { name: 'Data' }).fill('')
    await settle(page)
    t.equal(await rows.count(), 2, 'an emptied search shows all')
    t.strictSame(complaints, [])
  })

  t.test('filters are kept as a view of this workspace, and removed', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('executions?status=failed&last=7d&error=500'))
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByLabel('Keep these filters as').fill('Server errors')
    await page.getByRole('button', { name: 'Keep' }).click()
    await go(page, at('executions'))
    await page.reload()
    await page.getByRole('button', { name: 'All executions' }).click()
    await page.getByRole('link', { name: 'Server errors' }).click()
    await page.waitForURL(at('executions?error=500&last=7d&status=failed'))
    await page.getByRole('button', { name: 'Server errors' }).click()
    await page.getByRole('button', { name: 'Remove the view Server errors' }).click()
    await page.getByRole('link', { name: 'Server errors' }).waitFor({ state: 'detached' })
    t.strictSame(complaints, [])
  })

  t.test('from a failure all of them are retried in three clicks', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create({ name: 'Tell the shop', trigger: 'DEAL_CREATED', actions: [refusing] })
    for (const id of ['d1', 'd2']) await client.trigger('DEAL_CREATED', { id })
    const { page, complaints, at } = await visit(browser)
    await go(page, at('overview'))
    await page
      .locator('.figures')
      .getByRole('link', { name: /failed/ })
      .click()
    await page.getByRole('button', { name: 'Retry all of these…' }).click()
    await page.getByRole('button', { name: 'Retry 2' }).click()
    await page.getByText('2 will continue.').waitFor()
    t.strictSame(complaints, [])
  })

  t.test('chosen rows are retried, cancelled and replayed, after a question and with progress', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create({ name: 'Tell the shop', trigger: 'DEAL_CREATED', actions: [refusing] })
    const wait = { type: 'WAIT' as const, config: { duration: '7d' } }
    await client.rules.create({ name: 'Wait a week', trigger: 'LEAD_CREATED', actions: [wait] })
    for (const id of ['d1', 'd2', 'd3']) await client.trigger('DEAL_CREATED', { id })
    await client.trigger('LEAD_CREATED', { name: 'Ada' })
    const { page, complaints, at } = await visit(browser)
    const row = (name: string) => page.getByRole('checkbox', { name })
    const bar = page.getByRole('toolbar')
    const dialog = page.getByRole('dialog')
    await go(page, at('executions'))
    await row('Choose row 1').check()
    await row('Choose row 2').check()
    await bar.getByText('2 executions chosen').waitFor()
    await bar.getByRole('button', { name: 'Cancel…' }).click()
    await dialog.getByRole('button', { name: 'Cancel 2' }).click()
    await dialog.getByText('1 of 2 cancelled. 1 was in a state that does not allow it.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    t.equal(await bar.count(), 0, 'nothing is chosen any more')
    t.equal((await client.executions.list({ status: 'cancelled' })).executions.length, 1)
    await row('Choose all rows').check()
    await bar.getByRole('button', { name: 'Retry…' }).click()
    await dialog.getByRole('button', { name: 'Retry 4' }).click()
    await dialog.getByText('3 of 4 will continue.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await go(page, at('events?type=DEAL_CREATED'))
    await row('Choose all rows').check()
    await bar.getByRole('button', { name: 'Replay…' }).click()
    await dialog.getByText('1 rule would run, which means 3 calls.').waitFor()
    await dialog.getByRole('button', { name: 'Replay 3' }).click()
    await dialog.getByText(/of 3 replayed/).waitFor()
    t.strictSame(complaints, [])
    const viewer = await visit(browser, 'viewer')
    await viewer.page.goto(viewer.at('executions'))
    await settle(viewer.page)
    t.equal(await viewer.page.getByRole('checkbox').count(), 0, 'viewers choose nothing')
  })

  t.test('an execution shows its time, what is to come, input without secrets, and a command', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create({
      name: 'Wait and tell',
      trigger: 'LEAD_CREATED',
      actions: [
        { ...refusing, continueOnError: true },
        { type: 'WAIT', config: { duration: '7d' } },
        { type: 'CREATE_TASK', config: { title: 'Call {{name}}' } },
      ],
    })
    const run = await client.trigger('LEAD_CREATED', { name: 'Ada' })
    const { page, complaints, at } = await visit(browser)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const { executions } = await client.executions.list()
    await page.goto(at(`executions?id=${executions[0]?.id}`))
    await page.getByRole('img', { name: /failed attempt/ }).waitFor()
    await page.getByRole('img', { name: 'waited 7 d' }).waitFor()
    await page.locator('.timeline > li').nth(2).getByText('not started').waitFor()
    await page.getByText('Input', { exact: true }).first().click()
    const input = page.getByRole('region', { name: 'Input of SEND_WEBHOOK' })
    t.match(await input.textContent(), '"Authorization": "•••"')
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await waitForCopied(page, "curl -X 'POST' 'http://127.0.0.1:9/hook'")
    t.notMatch(await page.content(), 'secret-of-the-shop')
    await page.getByRole('button', { name: 'Copy the link' }).click()
    await waitForCopied(page, page.url())
    await page.goto(at(`events?id=${run.id}`))
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    await waitForCopied(page, '"eventType":"LEAD_CREATED"')
    t.strictSame(complaints, [])
  })
}

/** A browser writes what is copied a moment after the click. */
function waitForCopied(page: Page, part: string): Promise<unknown> {
  return page.waitForFunction(async (part) => (await navigator.clipboard.readText()).includes(part), part)
}
