import type { Erasure } from '@automation/client'
import type { Test } from 'tap'
import { type Context, go, look, readFocused, settle } from './context.js'

const ada = 'ada.lovelace@example.com'

/** How an admin erases a value of a person, and who may not. */
export function testErasures(t: Test, { browser, makeWorkspace, consoleUrl }: Context): void {
  t.test(
    'an admin erases a person: counted first, typed again, and the page keeps nothing of the value',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const { page, complaints, at } = await visit(browser)
      const remind = await client.rules.create({
        name: 'Remind',
        trigger: 'LEAD_CREATED',
        actions: [
          { type: 'CREATE_TASK', config: { title: 'Call {{contact.email}}' } },
          { type: 'WAIT', config: { duration: '3d' } },
        ],
      })
      const { id } = await client.trigger('LEAD_CREATED', { contact: { email: ada } })
      await go(page, at('access?tab=erasures'))
      await page.getByText('Nothing was erased').waitFor()
      await page.getByRole('button', { name: 'Erase a person…' }).click()
      const dialog = page.getByRole('dialog', { name: 'Erase a person' })
      const ask = (name: string) => dialog.getByRole('button', { name, exact: true })
      await dialog.getByLabel('Path in the data').fill('contact..email')
      await dialog.getByLabel('Value', { exact: true }).fill(ada)
      await ask('Count').click()
      await dialog.getByText('Path in the data of events: Must be the path of a field').waitFor()
      await dialog.getByLabel('Path in the data').fill('contact.email')
      await ask('Count').click()
      await dialog.getByText('1 event has this value at this path').waitFor()
      await dialog.getByText('1 execution of this person has not ended').waitFor()
      await dialog.getByRole('link', { name: /^execution of/ }).waitFor()
      await look(page, 'erase-unfinished')
      t.equal(await dialog.getByLabel('The value again').count(), 0)
      await ask('Cancel 1 execution').click()
      await dialog.getByLabel('The value again').waitFor()
      t.equal(await readFocused(page), 'The value again')
      await page.keyboard.type('ada')
      await ask('Erase').click()
      await dialog.getByText('Must be the value above').waitFor()
      await dialog.getByLabel('The value again').fill(ada)
      await look(page, 'erase-asked')

      // What begins after it was counted is refused, and counted.
      const later = await client.trigger('LEAD_CREATED', { contact: { email: ada } })
      await ask('Erase').click()
      await dialog.getByText('2 events have this value at this path').waitFor()
      await client.rules.update(remind.id, { isActive: false })
      await ask('Count again').click()
      await dialog.getByLabel('The value again').fill(ada)
      await ask('Erase').click()
      await dialog.waitFor({ state: 'detached' })
      const detail = page.getByRole('complementary', { name: 'Details' })
      await detail.getByText('All of it is erased.').waitFor()
      await detail.getByText('2 events').waitFor()
      const row = page.getByRole('row', { name: /^contact\.email done/ })
      await row.waitFor()
      t.match(await row.textContent(), /2 events, 2 tasks/)
      await look(page, 'erased')
      for (const event of [id, later.id])
        t.strictSame((await client.events.get(event)).data, { contact: { email: '[erased]' } })

      const kept = await page.evaluate(() =>
        JSON.stringify([
          document.documentElement.outerHTML,
          { ...localStorage },
          { ...sessionStorage },
          performance.getEntries().map(({ name }) => name),
          history.state,
          location.href,
        ]),
      )
      t.notMatch(kept, /lovelace/)
      await page.goBack()
      await page.getByRole('button', { name: 'Erase a person…' }).click()
      t.equal(await dialog.getByLabel('Value', { exact: true }).inputValue(), '')
      t.strictSame(
        complaints.filter((one) => !/422|409/.test(one)),
        [],
      )
    },
  )

  t.test('an erasure shows its progress, and one that is incomplete says what to do', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    const made = await client.developer.erasures.create({ path: 'email', value: ada })
    const id = 'id' in made ? made.id : ''
    let shown: Partial<Erasure> = { status: 'running', finishedAt: null }
    await page.route(new RegExp(`/erasures/${id}$`), async (route) => {
      const response = await route.fetch()
      const erasure = (await response.json()) as Erasure
      await route.fulfill({
        response,
        json: { ...erasure, ...shown, erased: { ...erasure.erased, events: 1_200 } },
      })
    })
    await go(page, at(`access?tab=erasures&id=${id}`))
    const detail = page.getByRole('complementary', { name: 'Details' })
    await detail.getByText('A worker erases step by step.').waitFor()
    await detail.getByRole('progressbar', { name: 'Progress' }).waitFor()
    await detail.getByText('1,200 events').waitFor()
    await look(page, 'erasing')
    shown = { status: 'incomplete', unfinished: 2 }
    await detail.getByText('2 events were left').waitFor()
    await look(page, 'incomplete')
    await detail.getByRole('button', { name: 'Erase again…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Erase a person' })
    t.equal(await dialog.getByLabel('Path in the data').inputValue(), 'email')
    t.equal(await dialog.getByLabel('Value', { exact: true }).inputValue(), '')
    t.strictSame(complaints, [])
  })

  t.test('who may not erase sees why', async (t) => {
    const { client, visit, workspaceId } = await makeWorkspace()
    const editor = await visit(browser, 'editor')
    await go(editor.page, editor.at('access?tab=erasures'))
    await editor.page.getByText(/^Members, keys, erasures and the audit log are for admins/).waitFor()
    const { key } = await client.developer.apiKeys.create({ name: 'CI', scopes: ['admin'] })
    const { page, complaints } = await browser.visit()
    await page.goto(`${consoleUrl}/sign-in`)
    await page.getByLabel('Token or API key').fill(key)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await go(page, `${consoleUrl}/w/${workspaceId}/access?tab=erasures`)
    await page
      .getByText('Only a person who is an admin can erase: you are signed in with an API key.')
      .waitFor()
    await settle(page)
    await look(page, 'erasures-key')
    t.equal(await page.getByRole('button', { name: 'Erase a person…' }).count(), 0)
    t.strictSame([...complaints, ...editor.complaints], [])
  })
}
