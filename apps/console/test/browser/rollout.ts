import type { Client } from '@automation/client'
import type { Test } from 'tap'
import { type Context, go, openPreview } from './context.js'

const score = (value: number) => [{ field: 'score', operator: 'greater_than' as const, value }]
const createHot = (client: Client) =>
  client.rules.create({
    name: 'Hot',
    trigger: 'LEAD_CREATED',
    conditions: score(80),
    actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
  })

/** The ways of a change to its effects. */
export function testRollout(t: Test, { browser, makeWorkspace }: Context): void {
  t.test(
    'a change is saved as a draft, says what it would have done, and is promoted under a guard',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const { id } = await createHot(client)
      const { page, complaints, at } = await visit(browser, 'editor')
      await go(page, at(`rules/${id}`))
      await page.getByRole('spinbutton', { name: 'Value' }).fill('50')
      await page.getByRole('button', { name: 'Save as draft' }).click()
      const draft = page.getByRole('region', { name: 'Draft', exact: true })
      await draft.getByText('score is above 80 → score is above 50').waitFor()
      await draft.getByText('Line by line').click()
      await draft.getByText('"value": 50').waitFor()
      t.match(await client.rules.get(id), { version: 1, conditions: score(80) })
      await client.trigger('LEAD_CREATED', { name: 'Ada', score: 60 })
      await page.goto(at(`rules/${id}?tab=rollout`))
      await draft.getByText('It is updated at most once a minute.').waitFor()
      await page.getByText('No guard watches this rule.').waitFor()
      await page.getByRole('button', { name: 'Promote…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Promote the draft of Hot' })
      await dialog.getByLabel('Maximum executions per hour').fill('1')
      await dialog.getByRole('button', { name: 'Promote', exact: true }).click()
      await page.getByText('It watches v2 until').waitFor()
      await page
        .getByText('more than 1 execution within an hour, or more than 20 % of the executions')
        .waitFor()
      await draft.getByText('There is no draft.').waitFor()
      t.match(await client.rules.get(id), { version: 2, conditions: score(50), isActive: true })

      for (const name of ['Bo', 'Cem', 'Dee']) await client.trigger('LEAD_CREATED', { name, score: 90 })
      await waitForVersion(client, id, 3)
      await page.reload()
      await page.getByText('It has rolled v2 back').waitFor()
      await page.getByText('there were more than 1 execution within an hour').waitFor()
      await page.getByText('v1 was restored, as v3.').waitFor()
      t.strictSame(complaints, [])
    },
  )

  t.test('a draft that has changed meanwhile is not promoted: the difference is shown', async (t) => {
    const { client, visit } = await makeWorkspace()
    const rule = await createHot(client)
    await client.rules.drafts.save(rule.id, { ...definition(rule), conditions: score(50) })
    const { page, at } = await visit(browser)
    await page.goto(at(`rules/${rule.id}?tab=rollout`))
    await page.getByText('score is above 80 → score is above 50').waitFor()
    await client.rules.drafts.save(rule.id, { ...definition(rule), conditions: score(20) })
    await page.getByRole('button', { name: 'Promote…' }).click()
    await page.getByLabel('Maximum executions per hour').fill('7')
    await page.getByRole('button', { name: 'Promote', exact: true }).click()
    const dialog = page.getByRole('dialog', {
      name: 'Nothing was promoted: the rule or its draft has changed',
    })
    await dialog.getByText('has saved another draft').waitFor()
    await dialog.getByText('score is above 50 → score is above 20').waitFor()
    await dialog.getByRole('button', { name: 'Show the current state' }).click()
    await page.getByText('score is above 80 → score is above 20').waitFor()
    t.match(await client.rules.get(rule.id), { version: 1 })

    await page.getByRole('button', { name: 'Promote…' }).click()
    t.equal(
      await page.getByLabel('Maximum executions per hour').inputValue(),
      '7',
      'what was typed is still there',
    )
    await client.rules.update(rule.id, { description: 'changed by somebody else' })
    await page.getByRole('button', { name: 'Promote', exact: true }).click()
    await dialog.getByText('Description is "changed by somebody else" now.').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Keep it, on top of v2' }).click()
    await page.getByText('made from v2').waitFor()
    await page.getByRole('button', { name: 'Promote…' }).click()
    await page.getByLabel('Watch it with a guard').uncheck()
    await page.getByRole('button', { name: 'Promote', exact: true }).click()
    await page.getByText('There is no draft.').waitFor()
    t.match(await client.rules.get(rule.id), { version: 3, conditions: score(20) })
  })

  t.test(
    'somebody else’s draft is never overwritten: both are shown, and what was typed stays',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const rule = await createHot(client)
      const { page, at } = await visit(browser)
      await page.goto(at(`rules/${rule.id}`))
      await page.getByRole('spinbutton', { name: 'Value' }).fill('50')
      await client.rules.drafts.save(rule.id, { ...definition(rule), conditions: score(20) })
      await page.getByRole('button', { name: 'Save as draft' }).click()
      const dialog = page.getByRole('dialog', { name: 'The rule has another draft' })
      await dialog.getByText('score is above 80 → score is above 20').waitFor()
      await dialog.getByText('score is above 80 → score is above 50').waitFor()
      const save = dialog.getByRole('button', { name: 'Save both changes' })
      t.ok(await save.isDisabled(), 'nothing is saved before somebody chooses')
      await dialog.getByRole('button', { name: 'Close' }).click()
      t.equal(await page.getByRole('spinbutton', { name: 'Value' }).inputValue(), '50')
      await page.getByRole('button', { name: 'Save as draft' }).click()
      await dialog.getByRole('radio', { name: 'Yours: score is above 50' }).check()
      await save.click()
      await page.getByText('score is above 80 → score is above 50').waitFor()
      t.match(await client.rules.drafts.get(rule.id), { conditions: score(50) })

      await page.getByRole('button', { name: 'Edit the draft' }).click()
      t.equal(
        await page.getByRole('spinbutton', { name: 'Value' }).inputValue(),
        '50',
        'the draft is edited in the editor',
      )
      await page.getByRole('spinbutton', { name: 'Value' }).fill('40')
      await page.getByRole('button', { name: 'Save as draft' }).click()
      await page.getByText('score is above 80 → score is above 40').waitFor()
      await page.getByRole('button', { name: 'Discard the draft' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Discard the draft' }).click()
      await page.getByText('There is no draft.').waitFor()
      t.equal(await client.rules.drafts.get(rule.id).catch(({ status }) => status), 404)
    },
  )

  t.test('what was to be a draft stays one where the rule has changed meanwhile', async (t) => {
    const { client, visit } = await makeWorkspace()
    const rule = await createHot(client)
    const { page, at } = await visit(browser)
    await page.goto(at(`rules/${rule.id}`))
    await page.getByRole('spinbutton', { name: 'Value' }).fill('50')
    await client.rules.update(rule.id, { description: 'changed by somebody else' })
    await page.getByRole('button', { name: 'Save as draft' }).click()
    const dialog = page.getByRole('dialog', { name: 'The rule has changed in the meantime' })
    await dialog.getByText('Description is "changed by somebody else" now.').waitFor()
    await dialog.getByRole('button', { name: 'Save both changes' }).click()
    await page.getByText('made from v2').waitFor()
    t.match(await client.rules.get(rule.id), { version: 2, conditions: score(80) })
    t.match(await client.rules.drafts.get(rule.id), {
      description: 'changed by somebody else',
      conditions: score(50),
    })
  })

  t.test('a shadow does nothing, says what it would have done, and is switched on', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules/new'))
    await page.getByLabel('Name', { exact: true }).fill('Greet')
    await page.getByRole('textbox', { name: 'title' }).fill('Greet {{name}}')
    await page.getByRole('button', { name: 'Save as a shadow' }).click()
    await page.waitForURL(/rules\/[0-9a-f-]{36}/)
    await page.locator('.mark', { hasText: 'shadow' }).waitFor()
    await client.trigger('LEAD_CREATED', { name: 'Ada' })
    await page.getByRole('button', { name: 'Rollout' }).click()
    const shadow = page.getByRole('region', { name: 'Shadow mode' })
    await shadow.getByText('It is updated at most once a minute.').waitFor()
    await shadow.getByText(/matches of the shadow|No LEAD_CREATED events/).waitFor()
    t.equal((await client.tasks.list()).tasks.length, 0)
    await shadow.getByRole('button', { name: 'Switch it on' }).click()
    await page.getByRole('switch', { name: 'Greet is on' }).waitFor()
    await page.getByRole('button', { name: 'Put into shadow mode: Greet' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Put into shadow mode' }).click()
    await shadow.getByRole('button', { name: 'Switch it on' }).waitFor()
    const { rules } = await client.rules.list()
    t.match(rules, [{ mode: 'shadow', isActive: false }])
    t.strictSame(complaints, [])
  })

  t.test('a viewer reads drafts and backtests, and is offered no change', async (t) => {
    const { client, visit } = await makeWorkspace()
    const rule = await createHot(client)
    await client.rules.drafts.save(rule.id, { ...definition(rule), conditions: score(50) })
    const { page, complaints, at } = await visit(browser, 'viewer')
    await page.goto(at(`rules/${rule.id}?tab=rollout`))
    await page.getByText('score is above 80 → score is above 50').waitFor()
    t.equal(await page.getByRole('button', { name: /Promote|Discard|shadow mode/ }).count(), 0)
    await go(page, at(`rules/${rule.id}`))
    await openPreview(page, 'Backtest')
    await page.getByText('Operators can run backtests.').waitFor()
    t.equal(await page.getByRole('button', { name: /Run a backtest|Save/ }).count(), 0)
    t.strictSame(complaints, [])
  })
}

function definition({ name, trigger, conditions, actions }: Awaited<ReturnType<typeof createHot>>) {
  return { name, trigger, conditions, actions } as never as Parameters<Client['rules']['drafts']['save']>[1]
}

async function waitForVersion(client: Client, id: string, version: number): Promise<void> {
  while ((await client.rules.get(id)).version < version)
    await new Promise((resolve) => setTimeout(resolve, 300))
}
