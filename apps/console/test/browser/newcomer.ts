import type { Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, readFocused, tabTo } from './context.js'

/** From an empty workspace to a task, by keyboard alone and by mouse. */
export function testNewcomer(t: Test, { browser, makeWorkspace, consoleUrl }: Context): void {
  t.test(
    'a newcomer writes a rule, backtests it, sends an event and sees its task by keyboard alone',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const { page, hosts, complaints, at } = await visit(browser)
      t.notMatch(page.url(), '#', 'the key of the link is gone from the address')
      const beganAt = performance.now()
      await openByPalette(page, 'new rule')
      await page.waitForURL(at('rules/new'))
      await page.waitForFunction(() => document.activeElement?.id === 'rule-name')
      await page.keyboard.type('Call hot leads')
      await page.getByText('1 of 1').first().waitFor()
      await tabTo(page, 'Condition')
      await page.keyboard.press('Enter')
      await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Field')
      await page.keyboard.type('sco')
      await page.getByRole('option', { name: /^score/ }).waitFor()
      await page.keyboard.press('Enter')
      t.equal(
        await page.getByLabel('Field', { exact: true }).inputValue(),
        'score',
        'Enter takes what is offered',
      )
      await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Comparison')
      await page.keyboard.type('starts')
      t.equal(
        await page.getByRole('option', { name: /^starts with/ }).count(),
        0,
        'a number is not offered "starts with"',
      )
      await page.keyboard.press('Control+a')
      await page.keyboard.type('above')
      await page.keyboard.press('Enter')
      await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Value')
      await page.getByText('No result yet.').waitFor()
      await page.keyboard.type('800')
      await page
        .getByText(/score > 800, is \d+ \(\d+ short\)/)
        .first()
        .waitFor()
      for (let count = 0; count < 3; count++) await page.keyboard.press('Backspace')
      await page
        .getByRole('group', { name: /^Condition: score is above/ })
        .getByText('Must be a number')
        .waitFor()
      t.equal(
        await page.locator('.matching').count(),
        0,
        'an emptied number matches nothing, and stops nothing',
      )
      await page.keyboard.type('8')
      await page.locator('.matching', { hasText: '1 of 1' }).waitFor()
      await tabTo(page, 'title')
      await page.keyboard.type('Call {{na')
      await page.getByRole('option', { name: /^name/ }).waitFor()
      await page.keyboard.press('Enter')
      t.equal(
        await page.getByRole('textbox', { name: 'title' }).inputValue(),
        'Call {{name}}',
        'a placeholder is completed',
      )
      await page
        .getByText(/^Task: Call /)
        .first()
        .waitFor()
      await tabTo(page, 'Backtest')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Run a backtest' }).waitFor()
      await tabTo(page, 'Run a backtest')
      await page.keyboard.press('Enter')
      await page.getByText(/No LEAD_\w+ events .* so there was nothing to evaluate/).waitFor()
      t.ok(await hasFocus(page), 'the focus is not lost after a backtest')
      await page.keyboard.press('Control+Enter')
      await page.waitForURL(/rules\/[0-9a-f-]{36}\?backtest=[0-9a-f-]{36}&saved=1$/)
      await page.getByText('Saved as v1. On. There is no event “lead created” yet.').waitFor()
      await page.getByRole('switch', { name: 'Call hot leads is on' }).waitFor()
      t.ok(await hasFocus(page), 'the focus is not lost after saving')

      await openByPalette(page, 'send a sample')
      const dialog = page.getByRole('dialog', { name: 'Send a sample event' })
      await dialog.waitFor()
      await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('dialog textarea')?.value)
      await tabTo(page, 'Send')
      await page.keyboard.press('Enter')
      await page.getByText('1 of 1 ran.').waitFor()
      t.ok(await hasFocus(page), 'the focus is not lost after sending')
      await tabTo(page, 'its execution')
      await page.keyboard.press('Enter')
      await page.locator('.timeline', { hasText: 'CREATE_TASK' }).getByText('done', { exact: true }).waitFor()
      await tabTo(page, /^Task: Call /)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
      await page
        .getByRole('row')
        .getByRole('link', { name: /^Call / })
        .waitFor()
      t.ok(await hasFocus(page), 'the focus is not lost on the way to the task')
      await tabTo(page, /^Call /)
      await page.keyboard.press('Enter')
      const task = page.getByRole('complementary', { name: 'Details' })
      await task.getByText(/by an execution, action 1$/).waitFor()
      t.match(await readFocused(page), /^Call /, 'the title of the task has the focus')
      t.comment(`by keyboard alone: ${Math.round(performance.now() - beganAt)} ms`)

      const { tasks } = await client.tasks.list()
      t.equal(tasks.length, 1)
      t.match(tasks[0]?.title, /^Call /)
      t.strictSame([...hosts], [new URL(consoleUrl).host], 'nobody else was asked')
      t.strictSame(complaints, [])
    },
  )

  t.test(
    'a newcomer comes from an empty workspace over a backtest to the task on the screen with at most ten clicks',
    async (t) => {
      const { client, visit } = await makeWorkspace()
      const { page, complaints } = await visit(browser)
      let clicks = 0
      const click = async (role: 'link' | 'button', name: string, within: Page | Locator = page) => {
        clicks++
        await within.getByRole(role, { name, exact: true }).first().click()
      }
      const menu = page.getByRole('navigation')
      const beganAt = performance.now()
      await click('link', 'Rules', menu)
      await click('link', 'Write the first rule')
      await page.waitForFunction(() => document.activeElement?.id === 'rule-name')
      await page.keyboard.type('Call each lead')
      clicks++
      await page.getByRole('textbox', { name: 'title' }).click()
      await page.keyboard.type('Call {{name}}')
      await click('button', 'Backtest')
      await click('button', 'Run a backtest')
      await page.getByText(/No LEAD_\w+ events .* so there was nothing to evaluate/).waitFor()
      await click('button', 'Save and switch on')
      await page.getByRole('switch', { name: 'Call each lead is on' }).waitFor()
      await click('button', 'Send a sample event')
      await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('dialog textarea')?.value)
      await click('button', 'Send')
      await page.getByText('1 of 1 ran.').waitFor()
      await click('link', 'its execution')
      clicks++
      await page
        .locator('.timeline')
        .getByRole('link', { name: /^Task: Call / })
        .click()
      await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
      await page
        .getByRole('row')
        .getByRole('link', { name: /^Call / })
        .waitFor()
      t.comment(`by mouse: ${clicks} clicks, ${Math.round(performance.now() - beganAt)} ms`)
      t.ok(clicks <= 10, `${clicks} clicks`)
      t.equal((await client.tasks.list()).tasks.length, 1)
      t.strictSame(complaints, [])
    },
  )
}

async function openByPalette(page: Page, typed: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog', { name: 'Search or run a command' }).waitFor()
  await page.keyboard.type(typed)
  await page.keyboard.press('Enter')
}

function hasFocus(page: Page): Promise<boolean> {
  return page.evaluate(() => document.activeElement !== null && document.activeElement !== document.body)
}
