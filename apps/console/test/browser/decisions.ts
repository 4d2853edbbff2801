import type { Test } from 'tap'
import { type Context, choose, go, settle } from './context.js'

/** What people decide, what runs next, and which types there are. */
export function testDecisions(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('a decision is asked for in the editor, seen in the sidebar, and taken with a reason', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules/new?trigger=DEAL_CREATED'))
    await page.getByLabel('Name', { exact: true }).fill('Approve large orders')
    await choose(page, 'Action 1', 'wait')
    await page.getByRole('button', { name: 'field', exact: true }).click()
    await page.getByRole('menuitem', { name: 'for a person to choose' }).click()
    await page.getByRole('textbox', { name: 'one of' }).fill('approve, reject')
    await page.getByRole('textbox', { name: 'within' }).fill('24h')
    await page.getByRole('button', { name: 'giving a' }).click()
    await page.getByRole('button', { name: 'Save and switch on' }).click()
    await page.getByText(/Saved as v1. On./).waitFor()
    const { rules } = await client.rules.list()
    t.match(rules[0]?.actions, [
      { config: { decision: { options: ['approve', 'reject'], within: '24h', ask: ['reason'] } } },
    ])
    await client.trigger('DEAL_CREATED', { name: 'Ada', total: 4_800 })
    await page.goto(at('events'))
    await page.getByRole('link', { name: /Decisions 1 open/ }).click()
    await page.getByRole('row', { name: /Approve large orders.*approve or reject.*Ada.*4800/ }).waitFor()
    await page.getByRole('link', { name: 'Approve large orders' }).click()
    const drawer = page.getByRole('complementary', { name: 'Details' })
    await drawer.getByText('"total": 4800').waitFor()
    await drawer.getByRole('button', { name: 'approve' }).click()
    await drawer.getByText('Required', { exact: true }).waitFor()
    await drawer.getByLabel('Reason').fill('A good customer')
    await drawer.getByRole('button', { name: 'approve' }).click()
    await page.getByText('Decided: approve').waitFor()
    await page.getByText('Nothing to decide').waitFor()
    await page.getByRole('link', { name: /Decisions 1 open/ }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Decided', exact: true }).click()
    await page.getByRole('link', { name: 'Approve large orders' }).click()
    await drawer.getByText('“A good customer”').waitFor()
    await drawer.getByRole('link', { name: 'the execution' }).click()
    await page.getByText(/decided: approve/).waitFor()
    // As a link of a mail has it: this decision is not among the open ones any more.
    const { decisions } = await client.decisions.list()
    await go(page, at(`decisions?id=${decisions[0]?.id}`))
    await drawer.getByText('“A good customer”').waitFor()
    t.strictSame(complaints, [])
  })

  t.test('who may not decide is told who may, and a decision that somebody else took stays', async (t) => {
    const { client, visit } = await makeWorkspace()
    const decision = { options: ['yes', 'no'], within: '1h', roles: ['admin' as const] }
    await client.rules.create({
      name: 'Ask an admin',
      trigger: 'DEAL_CREATED',
      actions: [{ type: 'WAIT', config: { decision } }],
    })
    await client.trigger('DEAL_CREATED', {})
    const { decisions } = await client.decisions.list()
    const id = decisions[0]?.id ?? ''
    const operator = await visit(browser, 'operator')
    await operator.page.goto(operator.at(`decisions?id=${id}`))
    await operator.page.getByText('admins can decide it.').waitFor()
    const { page, at } = await visit(browser)
    await page.goto(at(`decisions?id=${id}`))
    const yes = page.getByRole('button', { name: 'yes' })
    await yes.waitFor()
    await client.decisions.decide(id, { choice: 'no' })
    await yes.click()
    await page.getByRole('alert').filter({ hasText: 'no' }).waitFor()
    t.match((await client.decisions.list()).decisions, [{ choice: 'no' }])
  })

  t.test('schedules say what runs next, and event types are made, described and deleted', async (t) => {
    const { client, visit } = await makeWorkspace()
    const task = { type: 'CREATE_TASK' as const, config: { title: 'x' } }
    for (const [name, every] of [
      ['Daily', '24h'],
      ['Hourly', '1h'],
    ] as const)
      await client.rules.create({ name, trigger: 'SCHEDULE', schedule: { every }, actions: [task] })
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules?tab=schedules'))
    const rows = page.getByRole('table', { name: 'schedules' }).locator('tbody tr')
    t.match(await rows.first().textContent(), /Hourly.*every 1h/)
    t.equal(await rows.count(), 2)
    await go(page, at('rules?tab=types'))
    await page.getByRole('button', { name: 'New event type' }).click()
    await page.getByLabel('Name').fill('ORDER_SHIPPED')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('button', { name: 'Describe ORDER_SHIPPED' }).click()
    await page.getByLabel('What it means').fill('It left the house')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('It left the house').waitFor()
    await page.getByRole('button', { name: 'Delete the event type ORDER_SHIPPED' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('It left the house').waitFor({ state: 'detached' })
    await settle(page)
    t.notOk((await client.eventTypes.list({ limit: 250 })).eventTypes.some(({ isOwn }) => isOwn))
    t.strictSame(complaints, [])
  })

  t.test('what a rule collects is told in chips, and its execution says of which events', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({
      name: 'Digest',
      trigger: 'LEAD_CREATED',
      perKey: { key: '{{owner}}', collect: { for: '1h' } },
      actions: [{ type: 'CREATE_TASK', config: { title: '{{collected.count}} leads' } }],
    })
    for (const name of ['Ada', 'Bo']) await client.trigger('LEAD_CREATED', { name, owner: 'cy' })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    await page.getByText('with the events that come').waitFor()
    await page.getByRole('button', { name: 'at most' }).last().click()
    await page.getByRole('spinbutton', { name: 'at most' }).fill('20')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/Saved as v2/).waitFor()
    t.match(await client.rules.get(id), { perKey: { collect: { for: '1h', max: 20 } } })
    const { executions } = await client.executions.list({ status: 'waiting' })
    await page.goto(at(`executions?id=${executions[0]?.id}`))
    await page.getByText(/It collects events until .*: 2 events/).waitFor()
    t.strictSame(complaints, [])
  })
}
