import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, go } from './context.js'

const task = { type: 'CREATE_TASK' as const, config: { title: 'Call {{name}}' } }
const nameOf = (page: Page) => page.getByLabel('Name', { exact: true })
const titleOf = (page: Page) => page.getByRole('textbox', { name: 'title' })
const isKept = (page: Page) => page.getByText('kept in this browser').waitFor()

/** What is typed is kept for each user and tab, and found again. */
export function testKept(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('two tabs keep what was typed into each of them, whatever the other one does', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({ name: 'Hot', trigger: 'LEAD_CREATED', actions: [task] })
    const { page: a, complaints, at } = await visit(browser)
    const b = await a.context().newPage()
    for (const page of [a, b]) await page.goto(at(`rules/${id}`))
    await nameOf(a).fill('Hotter')
    await isKept(a)
    await titleOf(b).fill('Write to {{name}}')
    await isKept(b)
    await a.reload()
    await isKept(a)
    t.equal(await nameOf(a).inputValue(), 'Hotter')
    t.equal(await titleOf(a).inputValue(), 'Call {{name}}')
    await a.getByRole('button', { name: 'Save', exact: true }).click()
    await a.getByText('Saved as v2.').waitFor()
    await b.reload()
    await isKept(b)
    t.equal(await titleOf(b).inputValue(), 'Write to {{name}}')
    await b.getByRole('button', { name: 'Save', exact: true }).click()
    await b.getByRole('button', { name: 'Save both changes' }).click()
    await b.getByText('Saved as v3.').waitFor()
    t.match(await client.rules.get(id), {
      name: 'Hotter',
      actions: [{ config: { title: 'Write to {{name}}' } }],
    })
    t.strictSame(
      complaints.filter((text) => !/ 412 /.test(text)),
      [],
    )
  })

  t.test('a new rule in each of two tabs is two rules, also where a tab was duplicated', async (t) => {
    const { visit } = await makeWorkspace()
    const { page: a, at } = await visit(browser)
    await a.goto(at('rules/new'))
    await nameOf(a).fill('First')
    await isKept(a)
    // A duplicated tab has what the other one has kept for itself.
    const copied = await a.evaluate(() => ({ ...sessionStorage }) as Record<string, string>)
    const b = await a.context().newPage()
    await b.addInitScript((copied) => {
      if (sessionStorage.length === 0) Object.assign(sessionStorage, copied)
    }, copied)
    await b.goto(at('rules/new'))
    t.equal(await nameOf(b).inputValue(), '', 'what an open tab has is offered to no other one')
    t.equal(await b.getByRole('region', { name: 'Kept changes' }).count(), 0)
    await nameOf(b).fill('Second')
    await isKept(b)
    for (const [page, name] of [
      [a, 'First'],
      [b, 'Second'],
    ] as const) {
      await page.reload()
      await isKept(page)
      t.equal(await nameOf(page).inputValue(), name)
    }
  })

  t.test('what closed tabs have kept is found again, and of several somebody chooses', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({ name: 'Hot', trigger: 'LEAD_CREATED', actions: [task] })
    const { page: last, complaints, at } = await visit(browser)
    const type = async (name: string) => {
      const page = await last.context().newPage()
      await page.goto(at(`rules/${id}`))
      await nameOf(page).fill(name)
      await isKept(page)
      return page
    }
    await closeAll(last, [await type('Alone')])
    await last.goto(at(`rules/${id}`))
    await isKept(last)
    t.equal(await nameOf(last).inputValue(), 'Alone', 'that of a single tab is there at once')
    await last.getByRole('button', { name: 'Discard', exact: true }).click()
    await go(last, at('overview'))
    await closeAll(last, [await type('One'), await type('Two')])
    await go(last, at(`rules/${id}`))
    const question = last.getByRole('region', { name: 'Kept changes' })
    await question.getByText('Two tabs kept changes to this rule:').waitFor()
    t.equal(await nameOf(last).inputValue(), 'Hot', 'nothing is chosen for anybody')
    const open = (name: string) =>
      question
        .getByRole('listitem')
        .filter({ hasText: `Name: "Hot" → "${name}"` })
        .getByRole('button', { name: 'Open' })
        .click()
    const undo = () =>
      last.getByRole('status', { name: 'Notices' }).getByRole('button', { name: 'Undo' }).last().click()
    await question.getByRole('button', { name: 'Discard' }).first().click()
    await question.getByText('"Two"').waitFor({ state: 'detached' })
    t.equal(await nameOf(last).inputValue(), 'Hot', 'nor is the last one that is left')
    await undo()
    await question.getByText('"Two"').waitFor()
    await open('One')
    await isKept(last)
    t.equal(await nameOf(last).inputValue(), 'One')
    await question.getByText('Another tab kept changes to this rule, too:').waitFor()
    await open('Two')
    await question.getByText('"One"').waitFor()
    t.equal(await nameOf(last).inputValue(), 'Two')
    await question.getByRole('button', { name: 'Discard' }).click()
    await question.waitFor({ state: 'detached' })
    await undo()
    await question.getByText('"One"').waitFor()
    await last.reload()
    await isKept(last)
    t.equal(await nameOf(last).inputValue(), 'Two')
    t.strictSame(complaints, [])
  })

  t.test('what somebody typed is theirs alone, and gone once they sign out', async (t) => {
    const { visit, linkOf, bearerOf } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await page.goto(at('rules/new'))
    await nameOf(page).fill('Of the admin')
    await isKept(page)
    await page.goto(await linkOf('editor'))
    await page.getByRole('button', { name: 'Use the link' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await page.goto(at('rules/new'))
    await nameOf(page).waitFor()
    t.equal(await nameOf(page).inputValue(), '')
    await nameOf(page).fill('Of the editor')
    await isKept(page)
    const other = await page.context().newPage()
    await other.goto(at('rules/new'))
    await nameOf(other).fill('Also of the editor')
    await isKept(other)
    await page.keyboard.press('Control+k')
    await page.keyboard.type('sign out')
    await page.getByRole('option', { name: /^Sign out/ }).click()
    await page.getByText('2 changes to rules are not saved.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Token or API key').waitFor()
    const left = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
    t.notMatch(left, /of the editor/i)
    t.match(left, /Of the admin/)
    // Somebody else signs in above the page of the editor.
    const dialog = other.getByRole('dialog', { name: 'Your session has ended' })
    await dialog.getByLabel('Token or API key').fill(await bearerOf('admin'))
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await other.waitForFunction(
      () => document.querySelector<HTMLInputElement>('#rule-name')?.value === 'Of the admin',
    )
    t.notMatch(await other.evaluate(() => JSON.stringify({ ...localStorage })), /of the editor/i)
  })

  t.test('a browser without room says so, and everything can be typed and saved', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await page.addInitScript(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException('full', 'QuotaExceededError')
      }
    })
    await page.goto(at('rules/new'))
    await nameOf(page).fill('Large')
    await titleOf(page).fill('x')
    await page.getByText('This browser cannot store your changes').waitFor()
    t.equal(await nameOf(page).inputValue(), 'Large')
    await page.getByRole('button', { name: 'Save, switched off' }).click()
    await page.getByText('Saved as v1.').waitFor()
    t.match((await client.rules.list()).rules, [{ name: 'Large' }])
    t.strictSame(complaints, [])
  })

  t.test(
    'a draft that waits is said at the head of its rule, and one of an older version when another is saved',
    async (t) => {
      const { client, visit, workspaceId } = await makeWorkspace()
      const definition = { name: 'Hot', trigger: 'LEAD_CREATED' as const, actions: [task] }
      const { id } = await client.rules.create(definition)
      await client.rules.drafts.save(id, { ...definition, name: 'Warm' } as never, { ifTag: '"1"' })
      const { page, complaints, at } = await visit(browser)
      const note = `Draft by admin-${workspaceId}, made from v1`
      const { id: plain } = await client.rules.create(definition)
      const begin = page.getByRole('button', { name: 'Condition', exact: true })
      const findTop = () => page.locator('.editor').evaluate((editor) => editor.getBoundingClientRect().top)
      for (const width of [390, 700, 1024, 1280]) {
        await page.setViewportSize({ width, height: 800 })
        await page.goto(at(`rules/${plain}`))
        await begin.waitFor()
        const top = await findTop()
        await page.goto(at(`rules/${id}`))
        await Promise.all([begin.waitFor(), page.getByText(note).waitFor()])
        t.equal(await findTop(), top, `nothing makes room for it at ${width} px`)
      }
      await page.getByRole('button', { name: 'Rollout a draft waits' }).waitFor()
      await nameOf(page).fill('Hotter')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('The draft is from v1, an older version.').waitFor()
      await page.getByText(`${note}, an older version`).waitFor()
      await page.getByRole('link', { name: 'Open', exact: true }).click()
      await page.getByRole('heading', { name: 'Draft', exact: true }).waitFor()
      t.strictSame(complaints, [])
    },
  )
}

/** Closes tabs, and waits until another one sees that they are gone, and what each of them has kept. */
async function closeAll(left: Page, pages: readonly Page[]): Promise<void> {
  const tabs = await Promise.all(
    pages.map((page) => page.evaluate(() => sessionStorage.getItem('tab') ?? '')),
  )
  for (const page of pages) await page.close()
  await left.waitForFunction(async (tabs) => {
    const { held = [] } = await navigator.locks.query()
    const names = Object.keys(localStorage)
    return tabs.every(
      (tab) =>
        names.some((name) => name.startsWith('unsaved:') && name.endsWith(tab)) &&
        held.every(({ name }) => name !== `tab:${tab}`),
    )
  }, tabs)
}
