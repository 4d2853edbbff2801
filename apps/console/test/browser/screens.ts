import type { Test } from 'tap'
import { addCondition, type Context, go, openPreview, readFocused, settle } from './context.js'

/** What people do on each screen. */
export function testScreens(t: Test, { browser, makeWorkspace }: Context): void {
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
    await page.getByText('lead.scor = 1, ').waitFor()
    await page.getByText('It would have matched if lead.scor is 1.').waitFor()
    await page.locator('.verdicts').getByRole('link', { name: 'Hot' }).click()
    await page.getByText('no such field; did you mean lead.score?').first().waitFor()
    await page.goBack()
    await page.getByText('0 of 1 ran.').waitFor()
    t.equal(
      await page.locator('select[data-filter]').inputValue(),
      'LEAD_CREATED',
      'back restores the filter',
    )
    t.strictSame(complaints, [])
  })

  t.test('no digit that is typed into a sample or a rule is lost', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({
      name: 'Long',
      trigger: 'LEAD_CREATED',
      conditions: [
        { field: 'id', operator: 'equals', value: 'x' },
        { field: 'amount', operator: 'greater_than', value: 1 },
      ],
      actions: [{ type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:9/hook', body: {} } }],
    })
    const { page, complaints, at } = await visit(browser)
    const typed = '8202522731445525542'
    await go(page, at('events'))
    await page.getByRole('button', { name: 'Send a sample event' }).first().click()
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('dialog textarea')?.value)
    await page.locator('dialog textarea').fill(`{"id":${typed}}`)
    await page.getByText('id: Has more digits than a number can keep, so it was stored as a string').waitFor()
    await page.locator('dialog').getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText(`"${typed}"`).first().waitFor()
    await go(page, at(`rules/${id}`))
    const value = page.locator('input[data-path="conditions[0].value"]')
    await value.fill(typed)
    t.equal(await value.inputValue(), typed)
    const amount = page.locator('input[data-path="conditions[1].value"]')
    await amount.fill(typed)
    t.equal(await amount.inputValue(), typed)
    await amount.fill('2')
    await page.getByRole('button', { name: 'As JSON' }).click()
    await page.locator('textarea').last().fill(`{"id":${typed}}`)
    await page.getByText('id Has more digits than a number can keep. Write it as a string').waitFor()
    await page.locator('textarea').last().fill(`{"id":"${typed}"}`)
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as v2.').waitFor()
    t.match(await client.rules.get(id), {
      conditions: [{ value: typed }, { value: 2 }],
      actions: [{ config: { body: { id: typed } } }],
    })
    t.strictSame(complaints, [])
  })

  t.test('the oldest of many rules is found and named like any other', async (t) => {
    const { client, visit, copyRule } = await makeWorkspace()
    const task = { type: 'CREATE_TASK' as const, config: { title: 'x' } }
    await client.rules.create({ name: 'Oldest', trigger: 'LEAD_CREATED', conditions: [], actions: [task] })
    const { id } = await client.rules.create({ name: 'Copy', trigger: 'DEAL_CREATED', actions: [task] })
    await copyRule(id, 300)
    await client.trigger('LEAD_CREATED', {})
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules?q=oldest'))
    await page.getByRole('table', { name: 'rules' }).getByRole('link', { name: 'Oldest' }).waitFor()
    await go(page, at('rules'))
    t.equal(await page.getByRole('table', { name: 'rules' }).getAttribute('aria-rowcount'), '302')
    await go(page, at('executions'))
    await page.getByRole('link', { name: 'Oldest' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('oldest')
    await page
      .locator('.choices')
      .getByRole('option', { name: /^Oldest/ })
      .waitFor()
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('Initech')
    await page.getByRole('option', { name: 'Search events for “Initech”' }).click()
    await page.waitForURL(at('events?q=Initech'))
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
    await go(page, at('executions?status=failed'))
    await page.getByRole('link', { name: 'Tell the shop' }).click()
    await page.getByRole('heading', { name: 'What it did' }).waitFor()
    await page.getByText('attempt 1', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Retry from here' }).click()
    await page.getByText('It continues from the action that failed.').waitFor()
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
    // From the menu, both kinds are listed.
    await page.goto(at('webhooks'))
    await page.getByRole('row', { name: /shop.*refused/ }).waitFor()
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

  t.test('changes of two people that do not meet are both saved', async (t) => {
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
      'a reload keeps what was typed',
    )
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'The rule has changed in the meantime' })
    await dialog.getByText('Description is "changed by somebody else" now.').waitFor()
    await dialog.getByText('Name: "Mine" → "Mine, changed here".').waitFor()
    await dialog.getByRole('button', { name: 'Save both changes' }).click()
    await page.getByText('Saved as v3.').waitFor()
    t.match(await client.rules.get(rule.id), {
      name: 'Mine, changed here',
      description: 'changed by somebody else',
      version: 3,
    })
  })

  t.test('what two people changed at the same place is asked for', async (t) => {
    const { client, visit } = await makeWorkspace()
    const score = (value: number) => [{ field: 'score', operator: 'greater_than' as const, value }]
    const rule = await client.rules.create({
      name: 'Hot',
      trigger: 'LEAD_CREATED',
      conditions: score(80),
      actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }],
    })
    const { page, at } = await visit(browser)
    await page.goto(at(`rules/${rule.id}`))
    await page.getByRole('spinbutton', { name: 'Value' }).fill('90')
    await client.rules.update(rule.id, { conditions: score(70), name: 'Warm' })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'The rule has changed in the meantime' })
    const both = dialog.getByRole('button', { name: 'Save both changes' })
    await both.waitFor()
    t.ok(await both.isDisabled(), 'nothing is saved before somebody chooses')
    await dialog.getByRole('radio', { name: 'v2: score is above 70' }).check()
    await dialog.getByRole('radio', { name: 'Yours: score is above 90' }).check()
    await both.click()
    await page.getByText('Saved as v3.').waitFor()
    t.match(await client.rules.get(rule.id), { name: 'Warm', conditions: score(90) })
  })

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
    await page.goto(at('reconciliation'))
    await page.getByText('The reconciliation is for admins').waitFor()
    t.strictSame(complaints, [])
  })

  t.test('what is odd about a rule is said as one types, as the service says it', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create({
      name: 'Hot',
      trigger: 'LEAD_CREATED',
      conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
      actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
    })
    const { page, complaints, at } = await visit(browser)
    const asked: string[] = []
    await go(page, at('rules/new'))
    await page.getByLabel('Name', { exact: true }).fill('Hotter')
    await page.getByRole('textbox', { name: 'title' }).fill('Call {{name}}')
    await addCondition(page, 'score', 'is above', '90')
    await openPreview(page, 'Findings')
    const findings = page.getByRole('region', { name: 'Findings' })
    await findings.getByRole('link', { name: 'Hot' }).waitFor()
    // What the page shows beside the rule is read again from time to time.
    page.on('request', (request) => request.method() !== 'GET' && asked.push(request.url()))
    const { findings: said } = await client.rules.check([
      (await client.rules.list()).rules.map(({ name, trigger, conditions, actions }) => ({
        name,
        trigger,
        conditions,
        actions,
      }))[0] as never,
      {
        name: 'Hotter',
        trigger: 'LEAD_CREATED',
        conditions: [{ field: 'score', operator: 'greater_than', value: 90 }],
        actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
      },
    ])
    t.ok(said.length > 0)
    await addCondition(page, 'score', 'is below', '50')
    await findings.getByText(/Never runs: score is above 90 and score is below 50/).waitFor()
    t.strictSame(asked, [], 'without sending what is typed')
    t.strictSame(complaints, [])
  })

  t.test('a field is completed from what events have', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.trigger('LEAD_CREATED', { score: 95, lead: { country: 'DE' } })
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules/new'))
    await page.getByRole('button', { name: 'Condition', exact: true }).click()
    const field = page.getByRole('combobox', { name: 'Field', exact: true })
    await field.pressSequentially('coun')
    await page.getByRole('option', { name: /lead\.country/ }).waitFor()
    await page.keyboard.press('Enter')
    t.equal(await field.inputValue(), 'lead.country')
    await page.keyboard.press('Tab')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    t.equal(await page.getByRole('combobox', { name: 'Value' }).inputValue(), 'DE')
    await field.fill('scor')
    await page.getByText('No event has scor so far.').waitFor()
    await page.getByRole('button', { name: 'Use score' }).click()
    t.equal(await field.inputValue(), 'score')
    t.strictSame(complaints, [])
  })

  t.test('a subscription is created, changed, and deleted after a question', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('webhooks?way=out'))
    await page.getByRole('button', { name: 'New subscription' }).click()
    await page.getByLabel('URL').fill('https://hooks.example.com/a')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('link', { name: 'https://hooks.example.com/a' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByLabel('Description').fill('Pager')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Pager').waitFor()
    t.match(await client.developer.subscriptions.list(), { data: [{ description: 'Pager' }] })
    await page.getByRole('button', { name: /^Delete/ }).click()
    const dialog = page.getByRole('dialog', { name: /^Delete the subscription/ })
    t.equal((await client.developer.subscriptions.list()).data.length, 1, 'nothing happens before the answer')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No subscriptions').waitFor()
    t.not(await readFocused(page), '', 'the focus is not lost after a delete')
    t.strictSame(complaints, [])
  })

  t.test('a mail template is created, changed, and deleted after a question', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser, 'editor')
    await go(page, at('rules?tab=templates'))
    await page.getByRole('button', { name: 'New template' }).click()
    await page.getByLabel('Name').fill('welcome')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').filter({ hasText: 'text' }).waitFor()
    t.equal(await page.getByLabel('Name').inputValue(), 'welcome', 'a refusal takes nothing away')
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Dear {{name}}')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('link', { name: 'welcome' }).click()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('textbox', { name: 'Text', exact: true }).fill('Hello {{name}}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.detail').getByText('Hello {{name}}').waitFor()
    await page.getByRole('button', { name: /^Delete/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No email templates').waitFor()
    t.equal((await client.emailTemplates.list()).emailTemplates.length, 0)
    t.not(await readFocused(page), '', 'the focus is not lost after a delete')
    t.strictSame(
      complaints.filter((text) => !text.includes('422')),
      [],
    )
  })

  t.test(
    'a list is walked by j and k, a row opens beside it, and Escape leads back to the row',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      for (const name of ['Ada', 'Bo']) await client.trigger('LEAD_CREATED', { name })
      const { page, at } = await visit(browser)
      await go(page, at('events'))
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      const second = await page.evaluate(() => document.activeElement?.getAttribute('href'))
      await page.keyboard.press('k')
      t.not(await page.evaluate(() => document.activeElement?.getAttribute('href')), second)
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page
        .getByRole('complementary', { name: 'Details' })
        .getByRole('heading', { name: 'Data' })
        .waitFor()
      await settle(page)
      await page.keyboard.press('Escape')
      await page.getByRole('complementary', { name: 'Details' }).waitFor({ state: 'detached' })
      t.ok(await page.evaluate(() => document.activeElement?.closest('tbody tr') !== null))
    },
  )

  t.test('every state of a list is a text', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    const answers = [
      [429, 'Too many requests', { 'retry-after': '42' }],
      [503, 'The service is temporarily unavailable', {}],
      [403, 'No permission', {}],
      [500, 'Internal server error', {}],
    ] as const
    for (const [status, title, headers] of answers) {
      await page.route(/\/api\/events/, (route) =>
        route.fulfill({ status, headers, json: { error: 'Internal server error' } }),
      )
      await page.goto(at('events'))
      await page.getByRole('alert').getByRole('heading', { name: title }).waitFor()
      await page.unroute(/\/api\/events/)
    }
    await page.route(/\/api\/events/, (route) => route.abort())
    await page.goto(at('events'))
    await page.getByRole('alert').getByRole('heading', { name: 'No connection' }).waitFor()
    await page.unroute(/\/api\/events/)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No events in the last 24 hours').waitFor()
    t.not(await readFocused(page), '', 'the focus is not lost with the button that was pressed')
  })
}
