import type { RuleToCreate } from '@automation/client'
import type { Test } from 'tap'
import { type Context, choose, go } from './context.js'

const task = { type: 'CREATE_TASK' as const, config: { title: 'Look at the figures' } }

/** Rules that know the time. */
export function testTimes(t: Test, { browser, makeWorkspace }: Context): void {
  t.test(
    'a rule runs every weekday at nine: by chips alone, with its next times before it is saved',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const { page, complaints, at } = await visit(browser, 'editor')
      await go(page, at('rules/new'))
      await page.getByLabel('Name', { exact: true }).fill('Figures')
      await choose(page, 'When', 'on a schedule')
      await page.getByRole('textbox', { name: 'title' }).fill('Look at the figures')
      await page.getByText(/Next: (Mon|Tue|Wed|Thu|Fri), .* 09:00/).waitFor()
      t.equal(
        await page.getByRole('button', { name: 'group', exact: true }).count(),
        0,
        'a tick is for one rule',
      )
      await page.getByRole('button', { name: 'Friday' }).press('Enter')
      await page.getByLabel('Time', { exact: true }).fill('8:30')
      await page.getByRole('combobox', { name: 'Time zone' }).fill('Asia/Tokyo')
      await page.getByRole('button', { name: 'after an outage' }).click()
      await page.getByText(/Next: .* 08:30, Tokyo time$/).waitFor()
      await page.getByRole('button', { name: 'Save and switch on' }).click()
      await page.getByText(/Saved as v1\. On\. It runs next .* 08:30, Tokyo time/).waitFor()
      const [rule] = (await client.rules.list()).rules
      t.strictSame(rule?.schedule, { cron: '30 8 * * 1-4', timezone: 'Asia/Tokyo', catchUp: 'none' })
      await go(page, at('rules'))
      const row = page.getByRole('row', { name: /Figures/ })
      await row.getByText('every Monday, Tuesday, Wednesday and Thursday at 08:30, Asia/Tokyo').waitFor()
      await row.getByText(/^next .* 08:30, Tokyo time$/).waitFor()
      await go(page, at(`rules/${rule?.id}`))
      await choose(page, 'How often', 'by a cron')
      await page.getByLabel('Cron expression').fill('0 9 31 2 *')
      await page.getByText('this day does not exist').waitFor()
      await choose(page, 'How often', 'at an interval')
      await page.getByText(/Next: /).waitFor()
      await choose(page, 'When', 'lead created')
      await page.getByRole('button', { name: 'group', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Saved as v2.').waitFor()
      t.match(await client.rules.get(rule?.id ?? ''), { trigger: 'LEAD_CREATED', schedule: null })
      t.strictSame(complaints, [])
    },
  )

  t.test('an execution that waits is cancelled, and those of a filter after they are counted', async (t) => {
    const { client, visit } = await makeWorkspace()
    const wait = { type: 'WAIT' as const, config: { duration: '7d' } }
    await client.rules.create({ name: 'Later', trigger: 'LEAD_CREATED', actions: [wait, task] })
    for (const name of ['Ada', 'Bo', 'Cleo']) await client.trigger('LEAD_CREATED', { name })
    const { page, complaints, at } = await visit(browser, 'operator')
    const { executions } = await client.executions.list({ status: 'waiting' })
    await go(page, at(`executions?id=${executions[0]?.id}`))
    await page.getByRole('button', { name: 'Cancel this execution' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel this execution' }).click()
    await page.getByText('The execution was cancelled').waitFor()
    await page.getByRole('complementary').getByText('cancelled', { exact: true }).waitFor()
    await page.getByText('What was cancelled cannot be retried').waitFor()
    t.equal(await page.getByRole('button', { name: /^Retry/ }).count(), 0)
    t.equal((await client.executions.get(executions[0]?.id ?? '')).status, 'cancelled')
    await go(page, at('executions?status=waiting%2Cretrying%2Crunning'))
    await page.getByRole('button', { name: 'Cancel those that wait…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('2 executions match').waitFor()
    await dialog.getByRole('button', { name: 'Cancel 2' }).click()
    await dialog.getByText('2 cancelled.').waitFor()
    t.equal((await client.executions.list({ status: 'waiting' })).executions.length, 0)
    t.strictSame(complaints, [])
  })

  t.test(
    'a rule runs at most once a week for each customer, and says which execution reached the limit',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      await client.trigger('LEAD_CREATED', { name: 'Ada', customer: 'c1' })
      const { page, complaints, at } = await visit(browser, 'editor')
      await go(page, at('rules/new'))
      await page.getByLabel('Name', { exact: true }).fill('Greet once')
      await page.getByRole('textbox', { name: 'title' }).fill('Greet')
      await page.getByRole('button', { name: 'limit', exact: true }).press('Enter')
      await page.waitForFunction(() => document.activeElement?.getAttribute('data-path') === 'perKey.key')
      await page.keyboard.type('{{cust')
      await page.getByRole('option', { name: /customer/ }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByText('Its limit is not asked here').waitFor()
      await page.getByRole('button', { name: 'Save and switch on' }).click()
      await page
        .getByText('Saved as v1. On. The last event would have run it, apart from its limit.')
        .waitFor()
      const [rule] = (await client.rules.list()).rules
      t.strictSame(rule?.perKey, { key: '{{customer}}', atMost: { runs: 1, per: '7d' } })
      const first = await client.trigger('LEAD_CREATED', { name: 'Bo', customer: 'c2' })
      const second = await client.trigger('LEAD_CREATED', { name: 'Bo', customer: 'c2' })
      await go(page, at(`events?id=${second.id}`))
      await page.getByText('Suppressed: the limit for “c2” is reached until').waitFor()
      await page.getByText('0 of 1 ran, 1 suppressed.').waitFor()
      await page.locator('tbody').getByText('0 of 1 ran, 1 suppressed').waitFor()
      await page.getByRole('link', { name: 'this execution' }).click()
      await page.getByRole('heading', { name: 'Greet once' }).waitFor()
      await page.getByRole('heading', { name: 'What it did' }).waitFor()
      t.match(
        page.url(),
        (await client.executions.list({ eventId: first.id } as never)).executions[0]?.id ?? 'none',
      )
      await go(page, at('executions?status=suppressed'))
      await page.getByRole('row', { name: /Greet once.*suppressed/ }).waitFor()
      await page.getByRole('link', { name: 'Greet once' }).click()
      await page.getByRole('heading', { name: 'Why it matched' }).waitFor()
      t.equal(await page.getByRole('heading', { name: 'What it did' }).count(), 0, 'it did nothing')
      t.strictSame(complaints, [])
    },
  )

  t.test('limits, hours and a WAIT for an event open without JSON, and save as they were', async (t) => {
    const { client, visit } = await makeWorkspace()
    const time = { days: 'mon-thu,sat', from: '22:00', to: '06:00', timezone: 'Europe/Berlin' }
    const definition = {
      trigger: 'LEAD_CREATED',
      conditions: [{ any: [{ time }, { field: 'score', operator: 'greater_than', value: 80 }] }],
      perKey: {
        key: '{{lead.id}}',
        atLeast: { events: 3, within: '24h' },
        atMost: { runs: 2, per: '30d' },
        whileRunning: 'queue',
      },
      actions: [
        { type: 'WAIT', config: { until: '{{renewal}}', offset: '-3d', time } },
        {
          type: 'WAIT',
          config: {
            duration: '3d',
            for: {
              eventType: 'DEAL_WON',
              match: { 'deal.id': '{{deal.id}}', count: 3 },
              conditions: [{ field: 'amount', operator: 'greater_than', value: 5 }],
              then: 'stop',
            },
          },
        },
        task,
      ],
    }
    const { id } = await client.rules.create({ name: 'All of it', ...definition } as never)
    const before = await client.rules.get(id)
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    t.equal(await page.getByText('in JSON').count(), 0)
    t.equal(await page.locator('.code-chip').count(), 0)
    await page.getByLabel('Name', { exact: true }).fill('All of it!')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as v2.').waitFor()
    const { conditions, actions, perKey } = await client.rules.get(id)
    t.strictSame(
      { conditions, actions, perKey },
      { conditions: before.conditions, actions: before.actions, perKey: before.perKey },
    )
    t.strictSame(complaints, [])
  })

  t.test(
    'how often a rule should match is set from its menu, makes no version, and is taken back',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const { id } = await client.rules.create({
        name: 'Heartbeat',
        trigger: 'LEAD_CREATED',
        actions: [task],
      })
      const { page, complaints, at } = await visit(browser, 'editor')
      await go(page, at(`rules/${id}`))
      await page.getByRole('button', { name: 'More for Heartbeat' }).click()
      await page.getByRole('menuitem', { name: 'Expect a match…' }).click()
      await page.getByLabel('At least once in').fill('24h')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByText('Heartbeat should match every 24h').waitFor()
      t.match(await client.rules.get(id), { expectEvery: '24h', version: 1 })
      const undone = page.waitForResponse((response) => response.request().method() !== 'GET')
      const readAgain = undone.then(() => page.waitForResponse((response) => response.url().endsWith(id)))
      await page.getByRole('button', { name: 'Undo' }).last().click()
      await page.getByText('Heartbeat should match every 24h').waitFor({ state: 'detached' })
      await undone
      t.equal((await client.rules.get(id)).expectEvery, null)
      await readAgain
      await client.rules.update(id, { description: 'Changed meanwhile' })
      await page.getByRole('button', { name: 'More for Heartbeat' }).click()
      await page.getByRole('menuitem', { name: 'Expect a match…' }).click()
      await page.getByLabel('At least once in').fill('48h')
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
      await page.getByRole('dialog').getByText('The rule has changed since you read it').waitFor()
      t.equal((await client.rules.get(id)).expectEvery, null)
      t.equal(complaints.length, 1)
      t.match(complaints[0], /412/)
    },
  )

  t.test('every schedule opens without JSON, and saves as it was', async (t) => {
    const { client, storeEvents, visit } = await makeWorkspace()
    // A tick of another rule, which is nothing to try a rule on.
    await storeEvents('SCHEDULE', [
      { at: Date.now() - 60_000, data: { scheduledAt: '2026-11-02T08:00:00.000Z' } },
    ])
    const { page, complaints, at } = await visit(browser)
    const timezone = 'America/Sao_Paulo'
    for (const schedule of [
      { cron: '0 9 * * 1-5', timezone },
      { cron: '*/20 8-18 1,15 * MON#2', timezone, catchUp: 'none' },
      { cron: '5 0 28 * *', timezone, catchUp: 'latest' },
      { every: '90m' },
    ] as RuleToCreate['schedule'][]) {
      const { id } = await client.rules.create({
        name: 'Tick',
        trigger: 'SCHEDULE',
        schedule,
        actions: [task],
      } as never)
      await go(page, at(`rules/${id}`))
      await page.getByText('Next: ').waitFor()
      await page.getByText('match: the example of this type').waitFor()
      await page.getByLabel('Name', { exact: true }).fill('Tock')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Saved as v2.').waitFor()
      t.strictSame((await client.rules.get(id)).schedule, schedule)
    }
    t.strictSame(complaints, [])
  })
}
