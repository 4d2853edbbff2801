import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { RuleToCreate } from '@automation/client'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, choose, draw, go, take, waitForFocus } from './context.js'

const root = new URL('../../../../../', import.meta.url)

/** What the commands of docs/guides/recipes post to an address. */
async function readRecipes<Posted>(address: string): Promise<Posted[]> {
  const directory = fileURLToPath(new URL('docs/guides/recipes/', root))
  const pages = (await readdir(directory)).map((name) => readFile(directory + name, 'utf8'))
  return (await Promise.all(pages))
    .join('\n')
    .split(`\napi ${address} -d '`)
    .slice(1)
    .map((rest) =>
      JSON.parse(rest.slice(0, rest.search(/}'$/m) + 1).replace(/'"[^']*"'/g, 'http://127.0.0.1:9')),
    )
}

const order = {
  name: 'Acme',
  limit: 5,
  items: [
    { sku: 'A', qty: 1 },
    { sku: 'B', qty: 6 },
  ],
  tags: ['new', 'vip'],
}

/** All that a rule can say is chips. */
export function testChips(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('each recipe opens without JSON in its conditions, and saves as it was', async (t) => {
    const { client, visit } = await makeWorkspace()
    const recipes = await readRecipes<RuleToCreate>('$rules')
    for (const { name } of await readRecipes<{ name: string }>('$(demo baseUrl)/api/event-types'))
      await client.eventTypes.create({ name } as never)
    t.ok(recipes.length > 14, `${recipes.length} rules`)
    const { page, complaints, at } = await visit(browser)
    for (const recipe of draw(recipes, 3, 0)) {
      const { id } = await client.rules.create({ ...recipe, isActive: false })
      const before = await client.rules.get(id)
      await go(page, at(`rules/${id}`))
      t.equal(await page.getByText('in JSON').count(), 0, recipe.name)
      await page.getByLabel('Name', { exact: true }).fill(`${recipe.name}!`)
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Saved as v2.').waitFor()
      const { conditions, actions, trigger, name } = await client.rules.get(id)
      t.strictSame(
        { conditions, actions, trigger, name },
        {
          conditions: before.conditions,
          actions: before.actions,
          trigger: before.trigger,
          name: `${recipe.name}!`,
        },
      )
    }
    t.strictSame(complaints, [])
  })

  t.test('a condition on a list is written by keyboard, with the fields of its items', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.trigger('DEAL_WON', order)
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules/new'))
    await page.getByLabel('Name', { exact: true }).fill('Large')
    await choose(page, 'When', 'deal won')
    await page.getByText('of the latest event').waitFor()
    await page.getByRole('textbox', { name: 'title' }).fill('x')
    await page.getByRole('button', { name: 'List', exact: true }).press('Enter')
    await waitForFocus(page, 'List')
    await take(page, 'ite', 'items')
    await waitForFocus(page, 'Field')
    await take(page, 'qt', 'qty')
    await waitForFocus(page, 'Comparison')
    await page.keyboard.type('is above')
    await page.keyboard.press('Enter')
    await waitForFocus(page, 'Value')
    await page.keyboard.type('5')
    await page.getByRole('group', { name: 'at least one of items with qty is above 5' }).waitFor()
    await page.getByText('1 of 1 pass').waitFor()
    t.equal(
      await page.locator('.nested').getByRole('button', { name: 'List', exact: true }).count(),
      0,
      'there are no lists within lists',
    )
    await choose(page, 'How many', 'the number of')
    await page.getByRole('group', { name: /with qty is above 5 is at least 1$/ }).waitFor()
    await page.getByRole('spinbutton', { name: 'Value' }).first().fill('2')
    await page.getByText('0 of 1 pass').waitFor()
    await page.keyboard.press('Control+z')
    await page.getByText('1 of 1 pass').waitFor()
    await page.keyboard.press('Control+Shift+z')
    await page.getByRole('button', { name: 'Save, switched off' }).click()
    await page.getByText('Saved as v1. Off.').waitFor()
    t.match((await client.rules.list()).rules[0]?.conditions, [
      {
        count: 'items',
        that: [{ field: 'qty', operator: 'greater_than', value: 5 }],
        operator: 'greater_than_or_equal',
        value: 2,
      },
    ])
    t.strictSame(complaints, [])
  })

  t.test('a comparison is one with another field, of the event or of the item', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.trigger('DEAL_WON', order)
    const { id } = await client.rules.create({
      name: 'Above the limit',
      trigger: 'DEAL_WON',
      conditions: [{ some: 'items', that: [{ field: 'qty', operator: 'greater_than', value: 100 }] }],
      actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }],
    })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    await page.getByText('of the latest event').waitFor()
    const source = page.getByRole('button', { name: 'Compare with something else' })
    await source.press('Enter')
    await page.getByRole('menuitem', { name: 'Compare with a field of the event' }).press('Enter')
    await waitForFocus(page, 'Other field')
    await page.getByText('Choose a field', { exact: true }).waitFor()
    await take(page, 'lim', 'limit')
    await page.getByRole('group', { name: 'at least one of items with qty is above limit' }).waitFor()
    await page.getByText('1 of 1 pass').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as v2.').waitFor()
    const that = (value: unknown) => [
      { some: 'items', that: [{ field: 'qty', operator: 'greater_than', value }] },
    ]
    t.match((await client.rules.get(id)).conditions, that({ root: 'limit' }))
    await page.getByRole('button', { name: 'of the event' }).click()
    await page.getByRole('menuitem', { name: 'Compare with another field of the item' }).click()
    await page.getByRole('combobox', { name: 'Other field' }).fill('sku[')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await waitForFocus(page, 'Other field')
    const other = page.getByRole('combobox', { name: 'Other field' })
    t.equal(await other.getAttribute('aria-invalid'), 'true', 'the fault stands at its chip')
    await page.getByRole('button', { name: 'of the item' }).click()
    await page.getByRole('menuitem', { name: 'Compare with a value' }).click()
    await waitForFocus(page, 'Value')
    await page.keyboard.type('7')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as v3.').waitFor()
    t.match((await client.rules.get(id)).conditions, that(7))
    t.strictSame(
      complaints.filter((one) => !one.includes('422')),
      [],
    )
  })

  t.test(
    'an event for each item of a list, with conditions on the item and its fields as data',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      await client.trigger('DEAL_WON', order)
      const { id } = await client.rules.create({
        name: 'Split',
        trigger: 'DEAL_WON',
        actions: [{ type: 'EMIT_EVENT', config: { eventType: 'DEAL_CREATED', data: {} } }],
      })
      const { page, complaints, at } = await visit(browser)
      await go(page, at(`rules/${id}`))
      await page.getByText('of the latest event').waitFor()
      await page.getByRole('button', { name: 'field', exact: true }).press('Enter')
      await page.getByRole('menuitem', { name: 'for each item of' }).press('Enter')
      await waitForFocus(page, 'for each item of')
      await take(page, 'ite', 'items')
      await page.getByRole('button', { name: 'field', exact: true }).press('Enter')
      await page.getByRole('menuitem', { name: 'only for items with' }).press('Enter')
      await waitForFocus(page, 'Field')
      await page.keyboard.type('qty')
      await page.keyboard.press('Enter')
      await choose(page, 'Comparison', 'is above')
      await waitForFocus(page, 'Value')
      await page.keyboard.type('1')
      await page.getByRole('button', { name: 'Entry: with the data', exact: true }).press('Enter')
      await waitForFocus(page, 'Name 1: with the data')
      await page.keyboard.type('sku')
      await page.getByRole('textbox', { name: 'sku', exact: true }).waitFor()
      await page.keyboard.press('Tab')
      await waitForFocus(page, 'sku')
      await page.keyboard.type('{{item.s')
      await page.getByRole('option', { name: 'item.sku' }).waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Entry: with the data', exact: true }).press('Enter')
      await waitForFocus(page, 'Name 2: with the data')
      await page.keyboard.type('sku')
      await page.getByText('There is one of this name.').waitFor()
      await page.keyboard.type('s')
      await page.getByRole('textbox', { name: 'skus', exact: true }).waitFor()
      await page.keyboard.press('Tab')
      await page.keyboard.type('2')
      await page.getByRole('button', { name: 'As JSON' }).click()
      const json = await page.getByRole('textbox', { name: 'with the data' }).inputValue()
      t.strictSame(JSON.parse(json), { sku: '{{item.sku}}', skus: 2 })
      await page.getByRole('button', { name: 'As entries' }).click()
      await page.getByRole('button', { name: 'Remove skus: with the data' }).click()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Saved as v2.').waitFor()
      t.match((await client.rules.get(id)).actions, [
        {
          config: {
            eventType: 'DEAL_CREATED',
            forEach: 'items',
            where: [{ field: 'qty', operator: 'greater_than', value: 1 }],
            data: { sku: '{{item.sku}}' },
          },
        },
      ])
      t.strictSame(complaints, [])
    },
  )

  t.test('addresses are chips: a pasted list is split, and what is stored is not', async (t) => {
    const { client, visit } = await makeWorkspace()
    const to = ['{{owner | default:"a@example.com, b"}}', 'bo@example.com']
    const { id } = await client.rules.create({
      name: 'Mail',
      trigger: 'DEAL_WON',
      actions: [
        { type: 'SEND_EMAIL', config: { to, subject: 'x', template: 'welcome', cc: 'cy@example.com' } },
      ],
    })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    t.equal(await page.getByRole('textbox', { name: 'to', exact: true }).inputValue(), to[0])
    await page.getByRole('textbox', { name: 'to 2' }).press('Enter')
    await waitForFocus(page, 'to 3')
    await paste(page, 'dee@example.com, eli@example.com\nfay@example.com')
    await waitForFocus(page, 'to 5')
    t.equal(await page.getByRole('textbox', { name: 'to 4' }).inputValue(), 'eli@example.com')
    await page.getByRole('button', { name: 'Remove to 4' }).click()
    await page.getByRole('button', { name: 'Add an address: cc' }).press('Enter')
    await waitForFocus(page, 'cc 2')
    await page.keyboard.press('Backspace')
    await waitForFocus(page, 'cc')
    await page.getByRole('textbox', { name: 'to 4' }).fill('fay')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await waitForFocus(page, 'to 4')
    const faulty = page.getByRole('textbox', { name: 'to 4' })
    t.equal(await faulty.getAttribute('aria-invalid'), 'true', 'the fault stands at its chip')
    await faulty.press('End')
    await page.keyboard.type('@example.com')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved as v2.').waitFor()
    const { actions } = await client.rules.get(id)
    t.match(actions[0]?.config, {
      to: [...to, 'dee@example.com', 'fay@example.com'],
      cc: ['cy@example.com'],
    })
    await page.getByRole('button', { name: 'Remove cc' }).click()
    await page.getByRole('textbox', { name: 'cc' }).waitFor({ state: 'detached' })
    t.strictSame(
      complaints.filter((one) => !one.includes('422')),
      [],
    )
  })
}

/** As a browser pastes what a person has copied elsewhere. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((copied) => {
    const clipboardData = new DataTransfer()
    clipboardData.setData('text', copied)
    document.activeElement?.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    )
  }, text)
}
