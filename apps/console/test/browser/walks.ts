import type { Test } from 'tap'
import { type Context, go, settle, stopPolling } from './context.js'

const failing = {
  name: 'Tell the shop',
  trigger: 'DEAL_CREATED' as const,
  actions: [
    {
      type: 'SEND_WEBHOOK' as const,
      config: { url: 'http://127.0.0.1:9/hook' },
      retry: { attempts: 1 },
    },
  ],
}

/** What one screen leaves for the next one. */
export function testWalks(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('event types are listed after the editor has offered them, and the other way round', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.eventTypes.create({ name: 'ORDER_SHIPPED', description: 'It is on its way' })
    const { page, complaints, at } = await visit(browser)
    for (const _ of 'twice') {
      await go(page, at('rules/new'))
      await page.getByRole('combobox', { name: 'When', exact: true }).click()
      await page.getByRole('option', { name: /ORDER_SHIPPED|order shipped/ }).waitFor()
      await page.keyboard.press('Escape')
      await go(page, at('rules?tab=types'))
      await page.getByRole('rowheader', { name: 'ORDER_SHIPPED' }).waitFor()
    }
    t.strictSame(complaints, [])
  })

  t.test('the sidebar counts what failed and needs attention, also on the first screen', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create(failing)
    for (let index = 0; index < 3; index++) await client.trigger('DEAL_CREATED', { index })
    const { page, complaints, at } = await visit(browser)
    const asked: string[] = []
    page.on('request', (request) => {
      if (/\/api\/(overview|automation-rules\/attention|decisions)/.test(request.url()))
        asked.push(request.url())
    })
    // The screen before may still ask for something, until this one replaces it.
    page.once('framenavigated', () => asked.splice(0))
    await page.goto(at('webhooks'))
    await page.getByRole('link', { name: 'Executions 3 failed in the last day' }).first().waitFor()
    await page.getByRole('link', { name: 'Overview 1 need attention' }).first().waitFor()
    await go(page, at('access'))
    await settle(page)
    await page.getByRole('link', { name: 'Executions 3 failed in the last day' }).first().waitFor()
    t.equal(asked.length, 3, 'read once, for all screens')
    t.strictSame(complaints, [])
  })

  t.test('a retry of a group counts those that fail with another error, and the screen knows', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create(failing)
    for (let index = 0; index < 3; index++) await client.trigger('DEAL_CREATED', { index })
    const { page, complaints } = await visit(browser)
    await page.addInitScript(stopPolling)
    await page.reload()
    const groups = page.getByRole('region', { name: 'Failures' }).getByRole('listitem')
    // One of them fails in another way then.
    let isRetried = false
    await page.route(/executions\/retry$/, (route) => {
      const { filter, dryRun } = route.request().postDataJSON()
      if (dryRun && isRetried && filter.error)
        return route.fulfill({ json: { matched: 2, refused: 0, dryRun } })
      isRetried ||= !dryRun
      return route.fallback()
    })
    await groups.getByRole('button', { name: 'Retry all…' }).click()
    await page.getByRole('button', { name: 'Retry 3' }).click()
    await page.getByText('3 continued: 3 failed again.').first().waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await groups.getByText('3 ×').waitFor()
    t.strictSame(complaints, [])
  })

  t.test('the first step is ticked with the rule that is on', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({
      name: 'Hot leads',
      trigger: 'LEAD_CREATED',
      actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }],
    })
    const { page } = await visit(browser)
    const steps = page.getByRole('region', { name: 'First steps' })
    await steps.getByText('Hot leads is on').waitFor()
    t.match(await steps.getByRole('link', { name: 'Hot leads' }).getAttribute('href'), `rules/${id}`)
    t.equal(await steps.getByRole('link', { name: 'Write a rule' }).count(), 0)
  })

  t.test(
    'a list keeps its first columns beside a drawer on a tablet, and each text its direction',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      await client.rules.create({
        name: 'Call',
        trigger: 'LEAD_CREATED',
        actions: [{ type: 'CREATE_TASK', config: { title: '{{name}} 12' } }],
      })
      await client.trigger('LEAD_CREATED', { name: 'محمد', company: 'Umbrella' })
      await client.trigger('LEAD_CREATED', { name: 'Ada', company: 'Initech' })
      const { tasks } = await client.tasks.list()
      const id = tasks.find(({ title }) => title.startsWith('محمد'))?.id
      const { page, at } = await visit(browser)
      await page.setViewportSize({ width: 1024, height: 768 })
      await page.goto(at(`tasks?id=${id}`))
      await settle(page)
      const drawer = page.getByRole('complementary', { name: 'Details' })
      await drawer.getByText('Umbrella').waitFor()
      const edge = (await drawer.boundingBox())?.x ?? 0
      const row = page.getByRole('table', { name: 'tasks' }).getByRole('row').nth(1)
      await row.waitFor()
      for (const cell of await row.locator('th, td').all()) {
        const box = await cell.boundingBox()
        t.ok(!box || box.x + box.width <= edge, 'no cell lies under the drawer')
      }
      t.equal(await row.locator('th, td').filter({ visible: true }).count(), 3)
      for (const heading of [
        drawer.getByRole('heading', { level: 2 }),
        page.getByRole('heading', { level: 1 }),
      ])
        t.equal(await heading.evaluate((element) => getComputedStyle(element).unicodeBidi), 'plaintext')
    },
  )
}
