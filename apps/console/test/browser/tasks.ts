import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, settle } from './context.js'
import { noteShifts, readShifts } from './sweep.js'

/** One line of text, and what is around it. */
const mostRowHeight = 40

/** Whom a task is about, and that its row keeps its place. */
export function testTasks(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('a task is found by its customer, names it in one line, and leads to its event', async (t) => {
    const { client, visit } = await makeWorkspace()
    const trigger = 'LEAD_CREATED' as const
    const rule = (name: string, title: string) =>
      client.rules.create({ name, trigger, actions: [{ type: 'CREATE_TASK', config: { title } }] })
    await rule(
      'Leads from Europe with a score above 80 are called within a day',
      'Call {{name}} of {{company}} about the renewal of the contract of last year',
    )
    await rule('Greet', 'Greet {{name}}')
    const event = await client.trigger(trigger, {
      name: 'Grace Hopper',
      company: 'Umbrella',
      city: 'İstanbul',
    })
    await client.trigger(trigger, { name: 'Ada Lovelace', company: 'Initech', city: 'London' })
    const { tasks } = await client.tasks.list()
    const { page, complaints, at } = await visit(browser)
    const table = page.getByRole('table', { name: 'tasks' })

    await page.addInitScript(noteShifts)
    for (const width of [1440, 1280, 1024, 768, 700]) {
      await page.setViewportSize({ width, height: 800 })
      for (const path of ['tasks', `tasks?id=${tasks[0]?.id}`]) {
        await page.goto(at(path))
        await table.getByText('Umbrella').first().waitFor()
        await settle(page)
        t.ok((await findTallestRow(page)) <= mostRowHeight, `${path} keeps one line at ${width} px`)
        t.same(await readShifts(page), [], `${path}, ${width}`)
      }
    }

    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(at('tasks'))
    await table.getByText('Umbrella').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('umbrella istanbul')
    t.equal(await page.getByRole('searchbox', { name: 'Words' }).inputValue(), 'umbrella istanbul')
    await page.keyboard.press('Enter')
    await page.waitForFunction(() => document.querySelectorAll('.rows tbody tr').length === 2)
    t.equal(await table.getByText('Umbrella').count(), 3, 'in two rows, and the title of one')
    await table.locator('td.line a').first().click()
    await page.waitForURL((url) => url.searchParams.get('id') === event.id)
    await page.getByRole('complementary', { name: 'Details' }).getByText('2 of 2 ran').waitFor()
    await page.goto(at('tasks?q=nothing-has-this'))
    await page.getByText('No tasks match the filter').waitFor()
    t.strictSame(complaints, [])
  })
}

function findTallestRow(page: Page): Promise<number> {
  return page.evaluate(() =>
    Math.max(0, ...[...document.querySelectorAll('.rows tbody tr')].map((row) => row.clientHeight)),
  )
}
