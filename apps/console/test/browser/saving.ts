import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, choose, go, readFocused, settle } from './context.js'

const task = { type: 'CREATE_TASK' as const, config: { title: 'Call {{name}}' } }
const nameOf = (page: Page) => page.getByLabel('Name', { exact: true })
const saveOf = (page: Page) => page.getByRole('button', { name: 'Save', exact: true })

/** What becomes of a change of a rule, whatever happens on its way. */
export function testSaving(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('a change whose answer was lost is recognised as saved', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({ name: 'Hot', trigger: 'LEAD_CREATED', actions: [task] })
    const { page, at } = await visit(browser)
    await page.goto(at(`rules/${id}`))
    await nameOf(page).fill('Hotter')
    await page.route(/automation-rules\/[^/]*$/, async (route) => {
      if (route.request().method() === 'GET') return route.fallback()
      await route.fetch()
      await route.abort()
    })
    await saveOf(page).click()
    await page.getByText('Not saved. No connection.').waitFor()
    await page.unroute(/automation-rules\/[^/]*$/)
    await saveOf(page).click()
    await page.getByText('Saved as v2.').waitFor()
    t.equal(await page.getByRole('dialog').count(), 0)
    t.match(await client.rules.get(id), { name: 'Hotter', version: 2 })
  })

  t.test('that a rule could not be saved is no longer said once the connection is back', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({ name: 'Hot', trigger: 'LEAD_CREATED', actions: [task] })
    const { page, at } = await visit(browser)
    await page.goto(at(`rules/${id}`))
    await nameOf(page).fill('Hotter')
    await page.context().setOffline(true)
    await page.getByText('No connection. What you type is kept.').waitFor()
    await saveOf(page).click()
    await page.getByText('Not saved. No connection.').waitFor()
    await page.context().setOffline(false)
    await page.getByText('Not saved. No connection.').waitFor({ state: 'hidden' })
    t.equal(await nameOf(page).inputValue(), 'Hotter')
  })

  t.test('Enter on Save keeps the focus', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({ name: 'Hot', trigger: 'LEAD_CREATED', actions: [task] })
    const { page, at } = await visit(browser)
    await page.goto(at(`rules/${id}`))
    await nameOf(page).fill('Hotter')
    await saveOf(page).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Saved as v2.').waitFor()
    t.equal(await readFocused(page), 'Save')
    await page.keyboard.press('Enter')
    await settle(page)
    t.equal((await client.rules.get(id)).version, 2, 'without a change nothing is saved')
  })

  t.test('what a closed tab has kept and the rule says by now is dropped without a word', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id, version } = await client.rules.create({
      name: 'Hot',
      trigger: 'LEAD_CREATED',
      actions: [task],
    })
    const { page, at } = await visit(browser)
    const tabs: Page[] = []
    for (const name of ['Hotter', 'Hottest']) {
      const tab = await page.context().newPage()
      await tab.goto(at(`rules/${id}`))
      await nameOf(tab).fill(name)
      await tab.getByText('kept in this browser').waitFor()
      tabs.push(tab)
    }
    for (const tab of tabs) await tab.close()
    const { name: _, ...rule } = await client.rules.get(id)
    const { trigger, conditions, actions, description } = rule
    await client.rules.update(id, { name: 'Hotter', trigger, conditions, actions, description } as never, {
      ifVersion: version,
    })
    await page.goto(at(`rules/${id}`))
    const kept = page.getByRole('region', { name: 'Kept changes' })
    await kept.getByText('Name: "Hotter" → "Hottest".').waitFor()
    t.equal(await kept.getByRole('button', { name: 'Open' }).count(), 1)
    t.equal(await page.getByText('unfinished JSON').count(), 0)
  })

  t.test('placeholders offer first what only this rule knows', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({
      name: 'Digest',
      trigger: 'LEAD_CREATED',
      perKey: { key: '{{owner}}', collect: { for: '1h' } },
      actions: [task],
    })
    await client.trigger('LEAD_CREATED', { name: 'Ada', owner: 'grace' })
    const { page, at } = await visit(browser)
    await page.goto(at(`rules/${id}`))
    await settle(page)
    await page.getByRole('textbox', { name: 'title' }).fill('{{')
    await page.getByRole('option', { name: /^name/ }).waitFor()
    const offered = await page
      .getByRole('listbox', { name: 'Fields of the event' })
      .getByRole('option')
      .allInnerTexts()
    t.match(offered[0], /^collected\.count/)
  })

  t.test('a decision and a digest take the place of what cannot stand beside them', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await go(page, at('rules/new?trigger=DEAL_CREATED'))
    await choose(page, 'Action 1', 'wait')
    await page.getByRole('button', { name: 'field', exact: true }).click()
    await page.getByRole('menuitem', { name: 'for a person to choose' }).click()
    await page.getByRole('textbox', { name: 'one of' }).waitFor()
    t.equal(await page.getByRole('button', { name: 'Remove duration' }).count(), 0)
    await page.getByRole('button', { name: 'limit', exact: true }).click()
    await page.getByRole('textbox', { name: 'executions per' }).waitFor()
    await page.getByRole('button', { name: 'with the events that come' }).click()
    await page.getByRole('textbox', { name: 'executions per' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'until', exact: true }).click()
    await page.getByRole('combobox', { name: 'Time zone' }).waitFor()
  })
}
