import { openBrowser } from '@automation/browser'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startProductWithConsole } from './fixtures/product.js'

const browser = await openBrowser(t)
const { makeWorkspace, consoleUrl } = await startProductWithConsole(t)
const host = new URL(consoleUrl).host

const focused = (page: Page) => page.evaluate(() => document.activeElement?.tagName)

/** Presses Tab until a control with this name has the focus. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    const label = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null
      const labels = [...(element?.labels ?? [])].map(
        (one) => one.querySelector('.label')?.textContent ?? one.textContent,
      )
      return element?.getAttribute('aria-label') ?? labels[0] ?? element?.textContent ?? ''
    })
    if (typeof name === 'string' ? label.trim() === name : name.test(label)) return
  }
  throw new Error(`No control ${name} within 60 tabs`)
}

t.test(
  'a newcomer writes a rule by keyboard alone, sees its verdicts, and its event becomes a task',
  async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, hosts, complaints, at } = await visit(browser)
    t.notMatch(page.url(), '#', 'the key of the link is gone from the address')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Find or do' }).waitFor()
    await page.keyboard.type('new rule')
    await page.keyboard.press('Enter')
    await page.waitForURL(at('rules/new'))
    await page.getByLabel('Name', { exact: true }).waitFor()
    await page.waitForFunction(() => document.activeElement?.id === 'rule-name')
    await page.keyboard.type('Call hot leads')
    await page.getByText('1 of 1').first().waitFor()
    await tabTo(page, '+ Condition')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Field')
    await page.keyboard.type('score')
    await page.keyboard.press('Tab')
    await page.keyboard.type('greater than')
    await page.keyboard.press('Tab')
    await page.keyboard.type('800')
    await page
      .getByText(/score > 800, is \d+ \(\d+ short\)/)
      .first()
      .waitFor()
    for (let count = 0; count < 3; count++) await page.keyboard.press('Backspace')
    await page.keyboard.type('8')
    await page.locator('.matching', { hasText: '1 of 1' }).waitFor()
    await tabTo(page, 'title')
    await page.keyboard.type('Call {{name}}')
    await page.getByText('"Call ').first().waitFor()
    for (let presses = 0; presses < 60; presses++) {
      await page.keyboard.press('Shift+Tab')
      if ((await page.evaluate(() => document.activeElement?.textContent)) === 'Save and switch on') break
    }
    await page.keyboard.press('Enter')
    await page.waitForURL(/rules\/[0-9a-f-]{36}$/)
    await page.getByRole('switch', { name: 'Call hot leads is on' }).waitFor()
    t.not(await focused(page), 'BODY', 'the focus is not lost after saving')

    await client.trigger('LEAD_CREATED', { name: 'Ada', score: 95 })
    t.match(await client.tasks.list(), { tasks: [{ title: 'Call Ada' }] })
    t.strictSame([...hosts], [host], 'nobody else was asked')
    t.strictSame(complaints, [])
  },
)

t.test('an event says which rules looked at it and what stopped one', async (t) => {
  const { client, visit } = await makeWorkspace()
  await client.rules.create({
    name: 'Hot',
    trigger: 'LEAD_CREATED',
    conditions: [{ field: 'lead.scor', operator: 'equals', value: 1 }],
    actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }],
  })
  const run = await client.trigger('LEAD_CREATED', { lead: { score: 1 } })
  const { page, complaints, at } = await visit(browser)
  await page.goto(at(`events?type=LEAD_CREATED&id=${run.id}`))
  await page.getByText('0 of 1 ran.').waitFor()
  await page.getByRole('link', { name: 'what stopped it' }).click()
  await page.getByText('no such field; did you mean lead.score?').first().waitFor()
  await page.goBack()
  await page.getByText('0 of 1 ran.').waitFor()
  t.equal(
    await page.getByLabel('Type', { exact: true }).inputValue(),
    'LEAD_CREATED',
    'back restores the filter',
  )
  t.strictSame(complaints, [])
})

t.test('a failed run shows its attempts, and is retried', async (t) => {
  const { client, visit } = await makeWorkspace()
  await client.rules.create({
    name: 'Tell the shop',
    trigger: 'DEAL_CREATED',
    conditions: [],
    actions: [{ type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:9/hook' }, retry: { attempts: 1 } }],
  })
  await client.trigger('DEAL_CREATED', { id: 'd1' })
  const { page, complaints, at } = await visit(browser)
  await page.goto(at('runs?status=failed'))
  await page.getByRole('link', { name: 'Tell the shop' }).click()
  await page.getByRole('heading', { name: 'What it did' }).waitFor()
  await page.getByText('attempt 1').waitFor()
  await page.getByRole('button', { name: 'Retry from here' }).click()
  await page.getByText('It runs again, from the action that failed.').waitFor()
  t.strictSame(complaints, [])
})

t.test('a refused webhook says what the sender must change', async (t) => {
  const { client, visit } = await makeWorkspace()
  const { id: secretId } = await client.developer.signingSecrets.create({ provider: 'shop' })
  const stranger = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`
  await client.webhooks
    .deliver({ provider: 'shop', id: 'evt_1', body: { a: 1 }, secretId, secret: stranger })
    .catch(() => undefined)
  const { page, complaints, at } = await visit(browser)
  await page.goto(at('webhooks?state=rejected'))
  await page
    .getByRole('link')
    .filter({ has: page.locator('time') })
    .first()
    .click()
  await page.getByRole('heading', { name: 'What the sender must change' }).waitFor()
  t.ok((await page.locator('.findings li').count()) > 0)
  t.strictSame(complaints, [])
})

t.test(
  'somebody else’s change is never overwritten: the draft stays, and the difference is shown',
  async (t) => {
    const { client, visit } = await makeWorkspace()
    const rule = await client.rules.create({
      name: 'Mine',
      trigger: 'LEAD_CREATED',
      conditions: [],
      actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }],
    })
    const { page, at } = await visit(browser)
    await page.goto(at(`rules/${rule.id}`))
    await page.getByLabel('Name', { exact: true }).fill('Mine, changed here')
    await client.rules.update(rule.id, { description: 'changed by somebody else' })
    await page.reload()
    t.equal(
      await page.getByLabel('Name', { exact: true }).inputValue(),
      'Mine, changed here',
      'a reload keeps the draft',
    )
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'The rule has changed meanwhile' })
    await dialog.getByText('changed by somebody else').waitFor()
    await dialog.getByRole('button', { name: 'Keep my draft' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/^v3, changed/).waitFor()
    t.match(await client.rules.get(rule.id), { name: 'Mine, changed here', version: 3 })
  },
)

t.test('a fault of the API stands at its field, which has the focus', async (t) => {
  const { visit } = await makeWorkspace()
  const { page, at } = await visit(browser)
  await page.goto(at('rules/new'))
  await page.getByLabel('Name', { exact: true }).fill('x')
  await page.getByRole('button', { name: 'Save and switch on' }).click()
  await page.getByText('Not saved: 1 field needs a change.').waitFor()
  t.equal(
    await page.evaluate(() => document.activeElement?.closest('[data-path]')?.getAttribute('data-path')),
    'actions[0].config.title',
  )
})

t.test('a session that ends while somebody types loses nothing', async (t) => {
  const { visit } = await makeWorkspace()
  const { page, at } = await visit(browser)
  await page.goto(at('rules/new'))
  await page.getByLabel('Name', { exact: true }).fill('Typed before the end')
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Save and switch on' }).click()
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
  t.equal(await page.locator('#rule-name').inputValue(), 'Typed before the end')
})

t.test('a viewer reads, and is offered nothing that would be refused', async (t) => {
  const { visit } = await makeWorkspace()
  const { page, complaints, at } = await visit(browser, 'viewer')
  await page.goto(at('rules'))
  await page.getByText('No rules yet').waitFor()
  t.equal(await page.getByRole('link', { name: /New rule|Write the first rule/ }).count(), 0)
  await page.goto(at('access'))
  await page.getByText('Members, keys and the audit log are for admins').waitFor()
  await page.goto(at('books'))
  await page.getByText('The books are for admins').waitFor()
  t.strictSame(complaints, [])
})
