import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { addCondition, type Context, choose, go, holdRequests, openPreview, waitForFocus } from './context.js'

const task = { type: 'CREATE_TASK' as const, config: { title: 'Call {{name}}' } }

/** The sentence of a rule, and that nothing typed into it is lost. */
export function testEditor(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('what was removed comes back, by its notice and by Ctrl Z', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({
      name: 'Hot',
      trigger: 'LEAD_CREATED',
      conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
      actions: [task, { type: 'WAIT', config: { duration: '1d' } }],
    })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    await page.getByRole('button', { name: 'Remove the condition on score' }).click()
    await page.getByText('Removed the condition on score').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Hotter')
    await page.getByRole('status', { name: 'Notices' }).getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('group', { name: 'Condition: score is above 80' }).waitFor()
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Hotter', 'what came after it stays')
    await page.getByRole('button', { name: 'Remove action 2' }).click()
    await page.getByRole('group', { name: /^Action 2/ }).waitFor({ state: 'detached' })
    await page.keyboard.press('Control+z')
    await page.getByRole('group', { name: 'Action 2: wait "1d"' }).waitFor()
    await page.keyboard.press('Control+Shift+z')
    await page.getByRole('group', { name: /^Action 2/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByText('Your changes were discarded').waitFor()
    await page.getByRole('status', { name: 'Notices' }).getByRole('button', { name: 'Undo' }).last().click()
    await page.getByRole('button', { name: 'Discard' }).waitFor()
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Hotter')
    t.strictSame(complaints, [])
  })

  t.test('what is typed while the rule is being saved stays, on top of what was saved', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    const held = await holdRequests(page, /automation-rules(\/[0-9a-f-]+)?$/)
    const { id } = await client.rules.create({ name: 'Cold', trigger: 'LEAD_CREATED', actions: [task] })
    await go(page, at(`rules/${id}`))
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Warm')
    await page.getByText('Changes to v1').waitFor()
    await page.keyboard.press('Control+Enter')
    await name.fill('Warmer')
    await held.release()
    await page.waitForURL((url) => url.searchParams.has('saved'))
    t.equal(await name.inputValue(), 'Warmer')
    await page.getByText('Changes to v2').waitFor()
    await page.keyboard.press('Control+Enter')
    await held.release()
    await page.waitForURL((url) => url.searchParams.get('saved') === '3')
    t.equal((await client.rules.get(id)).name, 'Warmer')
    await page.getByText('Changes to').waitFor({ state: 'detached' })
  })

  t.test('another type of action keeps the fields of the former', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules/new'))
    await page.getByRole('textbox', { name: 'title' }).fill('Call Ada')
    const type = page.getByRole('combobox', { name: 'Action 1' })
    await type.fill('wait')
    await type.press('Enter')
    await page.getByRole('textbox', { name: 'duration' }).fill('3d')
    await type.fill('create a task')
    await type.press('Enter')
    t.equal(await page.getByRole('textbox', { name: 'title' }).inputValue(), 'Call Ada')
    await type.fill('wait')
    await type.press('Enter')
    t.equal(await page.getByRole('textbox', { name: 'duration' }).inputValue(), '3d')
    t.strictSame(complaints, [])
  })

  t.test(
    'unfinished JSON survives another tab and a reload, and is not saved as something else',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const { id } = await client.rules.create({ name: 'Hot', trigger: 'LEAD_CREATED', actions: [task] })
      const { page, at } = await visit(browser)
      await page.goto(at(`rules/${id}?tab=json`))
      const text = page.getByLabel('Definition')
      await text.fill('{ "name": "Hott')
      await openTab(page, 'Editor')
      await page.getByLabel('Name', { exact: true }).fill('Other')
      await openTab(page, 'JSON')
      t.equal(await text.inputValue(), '{ "name": "Hott')
      await page.reload()
      t.equal(await text.inputValue(), '{ "name": "Hott')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Not saved: the JSON tab has unfinished text.').waitFor()
      await page.getByRole('button', { name: 'Discard the unfinished text' }).click()
      t.match(await text.inputValue(), /"name": "Other"/)
      t.equal((await client.rules.get(id)).version, 1)
    },
  )

  t.test('options of an action are forms, and a part that the sentence does not know is kept', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({
      name: 'Tell',
      trigger: 'LEAD_CREATED',
      actions: [{ type: 'SEND_WEBHOOK', config: { url: 'https://shop.example/hook', headers: { a: 'b' } } }],
    })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    await page.locator('.options summary').first().click()
    await page.getByRole('button', { name: 'only if' }).click()
    await page.getByRole('combobox', { name: 'Field', exact: true }).fill('score')
    await page.getByRole('combobox', { name: 'Comparison', exact: true }).fill('is above')
    await page.keyboard.press('Enter')
    await page.keyboard.type('80')
    await page.getByRole('button', { name: 'retry with' }).click()
    await page.getByRole('spinbutton', { name: 'attempts' }).fill('3')
    await page.getByRole('button', { name: 'go on after a failure' }).click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as v2.').waitFor()
    t.match(await client.rules.get(id), {
      actions: [
        {
          config: { url: 'https://shop.example/hook', headers: { a: 'b' } },
          when: { field: 'score', operator: 'greater_than', value: 80 },
          retry: { attempts: 3 },
          continueOnError: true,
        },
      ],
    })
    await page.getByText('More: only if score is above 80, 3 attempts, go on after a failure').waitFor()
    t.strictSame(complaints, [])
  })

  t.test('a rule is made of an event of an own type, with what tells that event from others', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.eventTypes.create({ name: 'INVOICE_OVERDUE' } as never)
    for (let index = 0; index < 8; index++)
      await client.trigger('INVOICE_OVERDUE' as never, {
        country: index === 7 ? 'AT' : 'DE',
        amount: 100 * index,
      })
    const { id } = await client.trigger('INVOICE_OVERDUE' as never, { country: 'AT', amount: 900 })
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules/new'))
    await page.getByLabel('Name', { exact: true }).fill('Half done')
    await page.getByText('kept in this browser').waitFor()
    await go(page, at(`events?id=${id}`))
    await page.getByRole('link', { name: 'Create a rule for this' }).click()
    await page.getByRole('heading', { name: 'Another new rule is unfinished' }).waitFor()
    await page.getByRole('button', { name: 'Begin a rule for this event' }).click()
    t.equal(await page.getByRole('combobox', { name: 'When' }).inputValue(), 'invoice overdue')
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), '')
    await page.getByRole('button', { name: 'amount is at least 900' }).click()
    await waitForFocus(page, 'Field')
    await page.getByRole('button', { name: 'country is "AT"' }).click()
    await page
      .getByRole('group', { name: 'Condition: amount is at least 900' })
      .getByText('1 of 9 pass')
      .waitFor()
    await page.getByRole('group', { name: 'Condition: country is "AT"' }).getByText('2 of 9 pass').waitFor()
    t.strictSame(complaints, [])
  })

  t.test('a rule is duplicated, and deleted after a question', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({ name: 'Hot', trigger: 'LEAD_CREATED', actions: [task] })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    await page.getByRole('button', { name: 'More for Hot' }).click()
    await page.getByRole('menuitem', { name: 'Duplicate' }).click()
    await page.getByText('This is the copy of Hot. It is off.').waitFor()
    t.equal((await client.rules.list()).rules.length, 2)
    await page.getByRole('button', { name: /^More for .*Hot/ }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    const dialog = page.getByRole('dialog', { name: /^Delete .*Hot/ })
    await dialog.getByText('A deleted rule cannot be restored').waitFor()
    t.equal((await client.rules.list()).rules.length, 2, 'nothing happens before the answer')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(at('rules'))
    t.match(await client.rules.list(), { rules: [{ id }] })
    t.strictSame(complaints, [])
  })

  t.test('a version is told in words, and unchanged lines are folded', async (t) => {
    const { client, visit } = await makeWorkspace()
    const conditions = [{ field: 'score', operator: 'greater_than' as const, value: 80 }]
    const { id } = await client.rules.create({
      name: 'Hot',
      trigger: 'LEAD_CREATED',
      conditions,
      actions: [task],
    })
    await client.rules.update(id, { conditions: [{ field: 'score', operator: 'greater_than', value: 90 }] })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}?tab=versions`))
    await page.getByText('Condition 1: score is above 80 → score is above 90.').waitFor()
    await page.getByText('Line by line').click()
    await page
      .getByText(/⋯ \d+ unchanged lines/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Show all lines' }).click()
    await page.getByRole('region', { name: 'Line by line' }).getByText('"Call {{name}}"').waitFor()
    t.strictSame(complaints, [])
  })

  t.test('a text of a call completes the credentials of the workspace', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.developer.credentials.put('CRM', {
      kind: 'text',
      hosts: ['crm.example.com'],
      value: 'secret',
    })
    const { page, complaints, at } = await visit(browser, 'editor')
    await go(page, at('rules/new'))
    await choose(page, 'Action 1', 'post to a chat')
    await page.getByRole('textbox', { name: 'at' }).click()
    await page.keyboard.type('{{cred')
    await page.getByRole('option', { name: /credentials\.CRM.*credential for crm\.example\.com/ }).waitFor()
    await page.keyboard.press('Enter')
    t.equal(await page.getByRole('textbox', { name: 'at' }).inputValue(), '{{credentials.CRM}}')
    t.strictSame(complaints, [])
  })

  t.test('a condition in a group is added, moved and put into another group by keyboard', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules/new'))
    await page.getByLabel('Name', { exact: true }).fill('Any')
    await page.getByRole('textbox', { name: 'title' }).fill('x')
    await addCondition(page, 'score', 'is above', '80')
    await page.getByRole('button', { name: 'More for the condition on score' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Put into "at least one of these"' }).press('Enter')
    await page.getByRole('group', { name: 'Condition: score is above 80' }).last().waitFor()
    // A busy browser draws a frame after many keys.
    await page.evaluate(() => {
      const held: ((time: number) => void)[] = []
      window.requestAnimationFrame = (draw) => held.push(draw)
      window.addEventListener('frames', () => {
        for (const draw of held.splice(0)) draw(performance.now())
      })
    })
    const inner = page.getByRole('button', { name: 'Condition', exact: true }).first()
    await inner.press('Enter')
    await page.keyboard.type('status')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.evaluate(() => dispatchEvent(new Event('frames')))
    await page.keyboard.type('new')
    await page.keyboard.press('Alt+ArrowUp')
    await page.getByRole('button', { name: 'Save, switched off' }).click()
    await page.getByText('Saved as v1. Off.').waitFor()
    await openPreview(page, 'Events')
    t.match((await client.rules.list()).rules[0]?.conditions, [
      {
        any: [
          { field: 'status', operator: 'equals', value: 'new' },
          { field: 'score', operator: 'greater_than', value: 80 },
        ],
      },
    ])
    t.strictSame(complaints, [])
  })
}

function openTab(page: Page, name: string): Promise<void> {
  return page
    .getByRole('group', { name: 'Parts of the rule' })
    .getByRole('button', { name, exact: true })
    .click()
}
