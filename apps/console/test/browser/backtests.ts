import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, go, openPreview } from './context.js'

/** What a rule would have done, beside its editor. */
export function testBacktests(t: Test, { browser, makeWorkspace }: Context): void {
  t.test(
    'a backtest says what is new and what is gone against the version, and survives a reload',
    async (t) => {
      const { client, visit, storeEvents } = await makeWorkspace()
      const { id } = await createHot(client)
      const hourAgo = Date.now() - 3_600_000
      await storeEvents(
        'LEAD_CREATED',
        [95, 85, 75, 20].map((score, index) => ({
          at: hourAgo + index,
          data: { score, email: `ada+${score}@mail.example` },
        })),
      )
      const { page, complaints, at } = await visit(browser, 'editor')
      await page.goto(at(`rules/${id}`))
      await page.getByRole('spinbutton', { name: 'Value' }).fill('50')
      await openPreview(page, 'Backtest')
      await page.getByRole('button', { name: 'Run a backtest' }).click()
      const card = page.getByRole('region', { name: 'Backtest' })
      await card.getByText('4 LEAD_CREATED events').waitFor()
      await page.waitForFunction(() => document.querySelector('progress') === null)
      t.same(await card.getByRole('list', { name: 'Matches' }).innerText().then(words), [
        '3',
        'matches',
        'of',
        'your',
        'version',
        '2',
        'matches',
        'of',
        'v1',
        '+1',
        'new',
        '−0',
        'gone',
      ])
      await card.getByText('3 mails to 3 addresses').waitFor()
      await card.getByText('Compared with v1: +1 mail to 1 address').waitFor()
      await card.getByText('nam is missing').waitFor()
      await card.getByRole('img', { name: /3 by your version, 2 by v1/ }).waitFor()
      await card.getByText('Where it stops').click()
      await card.getByRole('row', { name: /score > 50 3 of 4 1/ }).waitFor()
      t.equal((await client.tasks.list()).tasks.length, 0, 'nothing was done')

      t.match(page.url(), /backtest=[0-9a-f-]{36}/)
      await page.reload()
      await card.getByText('3 mails to 3 addresses').waitFor()
      await page.getByRole('spinbutton', { name: 'Value' }).fill('60')
      await card.getByText('You have changed the rule since then.').waitFor()
      await card.getByRole('button', { name: 'Close the result' }).click()
      t.notMatch(page.url(), /backtest=/)
      t.strictSame(complaints, [])
    },
  )

  t.test('a running backtest is looked at seldom, and cancelled', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await createHot(client)
    const { page, at } = await visit(browser)
    const asked: string[] = []
    await hold(page, asked)
    await page.clock.install()
    await page.goto(at(`rules/${id}`))
    await openPreview(page, 'Backtest')
    await page.getByRole('button', { name: 'Run a backtest' }).click()
    await page.getByText('62 % done.').waitFor()
    for (let second = 0; second < 59; second++) {
      await page.clock.runFor(1_000)
      await page.waitForLoadState('networkidle')
    }
    t.ok(asked.length <= 6, `${asked.length} requests within a minute`)
    t.ok(asked.length >= 4, `${asked.length} requests within a minute`)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Cancelled at 70 %.').waitFor()
  })

  t.test('what cannot be tested is said at its field, and every refusal is a text', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await page.goto(at('rules/new'))
    await openPreview(page, 'Backtest')
    await page.getByRole('button', { name: 'Run a backtest' }).click()
    await page.getByText('Not tested: 1 field needs a change.').waitFor()
    t.equal(
      await page.evaluate(() => document.activeElement?.closest('[data-path]')?.getAttribute('data-path')),
      'actions[0].config.title',
    )
    const { id } = await createHot(client)
    for (const [status, title] of [
      [409, 'Cancel one below, or wait.'],
      [429, 'Too many requests'],
      [503, 'The service is temporarily unavailable'],
    ] as const) {
      await page.route(/backtests$/, (route) => route.fulfill({ status, json: { error: 'Too many' } }))
      await page.goto(at(`rules/${id}`))
      await openPreview(page, 'Backtest')
      await page.getByRole('button', { name: 'Run a backtest' }).click()
      await page.getByRole('alert').getByText(title).waitFor()
      await page.unroute(/backtests$/)
    }
    await page.getByText('Earlier backtests').click()
    await page.getByText('None of this rule in the last 30 days.').waitFor()
    await go(page, at(`rules/${id}?backtest=0199aaaa-0000-7000-8000-000000000000`))
    await page.getByText('This backtest is no longer available.').waitFor()
  })
}

function createHot(client: Awaited<ReturnType<Context['makeWorkspace']>>['client']) {
  return client.rules.create({
    name: 'Hot',
    trigger: 'LEAD_CREATED',
    conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
    actions: [
      { type: 'SEND_EMAIL', config: { to: '{{email}}', subject: 'Hello {{nam}}', template: 'welcome' } },
    ],
  })
}

const words = (text: string) => text.split(/\s+/)

/** A backtest that runs until it is cancelled. Each request for it is noted. */
async function hold(page: Page, asked: string[]): Promise<void> {
  let shown = { status: 'running', progress: 0.62 }
  await page.route(/backtests/, async (route) => {
    if (route.request().method() === 'DELETE') {
      shown = { status: 'cancelled', progress: 0.7 }
      return route.fulfill({ status: 204 })
    }
    asked.push(route.request().url())
    const response = await route.fetch()
    const stored = (await response.json()) as object
    return route.fulfill({ response, json: { ...stored, ...shown } })
  })
}
