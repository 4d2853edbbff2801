import type { Test } from 'tap'
import { type Context, go, waitForFocus } from './context.js'

const above = (value: number) => [{ field: 'score', operator: 'greater_than' as const, value }]

/** Of the rules of a group only the first that matches runs. */
export function testGroups(t: Test, { browser, makeWorkspace }: Context): void {
  async function makeGroup({ client }: Awaited<ReturnType<Context['makeWorkspace']>>) {
    const create = (name: string, order: number, value: number) =>
      client.rules.create({
        ...{ name, trigger: 'LEAD_CREATED', group: 'routing', order, conditions: above(value) },
        actions: [{ type: 'CREATE_TASK', config: { title: name } }],
      })
    const large = await create('Large', 10, 90)
    const other = await create('Other', 20, 50)
    return {
      large,
      other,
      order: async () => (await client.rules.group('routing')).rules.map(({ name }) => name),
    }
  }

  t.test('the rules of a group are put into another order by keyboard, and back by Undo', async (t) => {
    const workspace = await makeWorkspace()
    const { order } = await makeGroup(workspace)
    const { page, complaints, at } = await workspace.visit(browser, 'editor')
    await go(page, at('rules'))
    await page.getByRole('link', { name: 'routing' }).first().click()
    await page.getByRole('heading', { name: 'Group routing' }).waitFor()
    await page.getByRole('link', { name: 'Large' }).focus()
    await page.keyboard.press('Alt+ArrowDown')
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Move Large down')
    t.strictSame(await order(), ['Large', 'Other'], 'nothing is saved by itself')
    await page.getByRole('button', { name: 'Save the order' }).click()
    await page.getByText('The order of routing was saved').waitFor()
    t.strictSame(await order(), ['Other', 'Large'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('listitem').filter({ hasText: '1Large' }).waitFor()
    t.strictSame(await order(), ['Large', 'Other'])
    t.strictSame(complaints, [])
  })

  t.test('an order that somebody has changed meanwhile is not overwritten', async (t) => {
    const workspace = await makeWorkspace()
    const { client } = workspace
    const { large, other, order } = await makeGroup(workspace)
    const { page, at } = await workspace.visit(browser, 'editor')
    await go(page, at('rules?group=routing'))
    await page.getByRole('button', { name: 'Move Other up' }).click()
    await client.rules.update(large.id, { order: 30 })
    await page.getByRole('button', { name: 'Save the order' }).click()
    await page.getByRole('alert').getByText('Not saved').waitFor()
    await page.getByRole('listitem').filter({ hasText: '1Other' }).waitFor()
    t.strictSame(await order(), ['Other', 'Large'])
    t.match(await client.rules.get(other.id), { version: 1, order: 20 })
  })

  t.test('the preview tells events that another rule of the group takes', async (t) => {
    const workspace = await makeWorkspace()
    const { other } = await makeGroup(workspace)
    for (const score of [95, 75, 10]) await workspace.client.trigger('LEAD_CREATED', { score })
    const { page, complaints, at } = await workspace.visit(browser, 'editor')
    await go(page, at(`rules/${other.id}`))
    await page.getByText('For one of them another rule of the group routing comes first').waitFor()
    await page.getByRole('button', { name: /outranked.*Large comes first/ }).click()
    await page.getByText('Large comes first in the group, so this rule does not run.').waitFor()
    await page.getByRole('spinbutton', { name: 'Number in the group' }).fill('5')
    await page.getByText('No other rule of the group routing comes first.').waitFor()
    t.strictSame(complaints, [])
  })

  t.test(
    'a rule joins a group as its last, the list names its place, and an event the rule that came first',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const task = { type: 'CREATE_TASK' as const, config: { title: 'x' } }
      const route = (name: string, order: number, fields: object = {}) =>
        client.rules.create({
          name,
          trigger: 'DEAL_WON',
          group: 'routing',
          order,
          actions: [task],
          ...fields,
        })
      const first = await route('Enterprise', 10)
      await route('Trial', 20, { isActive: false })
      const { id } = await client.rules.create({ name: 'Pool', trigger: 'DEAL_WON', actions: [task] })
      const { page, complaints, at } = await visit(browser)
      await go(page, at(`rules/${id}`))
      await page.getByRole('button', { name: 'group', exact: true }).press('Enter')
      await waitForFocus(page, 'Group')
      await page.keyboard.type('rou')
      await page.getByRole('option', { name: 'routing' }).waitFor()
      await page.keyboard.press('Enter')
      await waitForFocus(page, 'Number in the group')
      await page.getByText('Only the first that matches runs: 10 Enterprise, 30 this rule.').waitFor()
      await page.getByRole('spinbutton', { name: 'Number in the group' }).fill('')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Required with a group', { exact: true }).waitFor()
      await waitForFocus(page, 'Number in the group')
      await page.keyboard.type('30')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Saved as v2.').waitFor()
      t.match(await client.rules.get(id), { group: 'routing', order: 30 })
      await go(page, at('rules'))
      await page.getByRole('row', { name: /Pool/ }).getByText('in group routing, number 30').waitFor()
      const event = await client.trigger('DEAL_WON', { amount: 5 })
      await go(page, at(`events?id=${event.id}`))
      const outranked = page.getByRole('listitem').filter({ hasText: 'Outranked by' })
      await outranked.waitFor()
      t.match(await outranked.getByRole('link', { name: 'Enterprise' }).getAttribute('href'), first.id)
      await go(page, at(`rules/${id}`))
      await page.getByRole('button', { name: 'Remove the group' }).click()
      await page.getByText('Removed the group').waitFor()
      await page.keyboard.press('Control+z')
      await page.getByRole('combobox', { name: 'Group' }).waitFor()
      await page.getByRole('button', { name: 'Remove the group' }).click()
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Saved as v3.').waitFor()
      t.match(await client.rules.get(id), { group: null, order: null })
      t.strictSame(
        complaints.filter((one) => !one.includes('422')),
        [],
      )
    },
  )
}
