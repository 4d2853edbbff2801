import { mintToken } from '@automation/access'
import { newId } from '@automation/database'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, go, settle } from './context.js'

/** The browser says so where somebody comes back to a tab; one without a screen never does. */
const comeBack = (page: Page) => page.evaluate(() => dispatchEvent(new Event('focus')))

/** Who is signed in, in each of several tabs. */
export function testSessions(t: Test, { browser, makeWorkspace, product, consoleUrl }: Context): void {
  t.test('who signs in again in another tab goes on in each, and nothing typed is lost', async (t) => {
    const { visit, bearerOf } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await page.goto(at('rules/new'))
    await page.getByLabel('Name', { exact: true }).fill('Typed before the end')
    await page.context().clearCookies()
    // What the page reads by itself may be the first to learn it: then a dialog is above the button.
    await page
      .getByRole('button', { name: 'Save and switch on' })
      .evaluate((button: HTMLElement) => button.click())
    const ended = page.getByRole('dialog', { name: 'Your session has ended' })
    await ended.waitFor()
    await comeBack(page)
    await page.getByLabel('Token or API key').waitFor()
    t.equal(await page.locator('#rule-name').inputValue(), 'Typed before the end')

    const other = await page.context().newPage()
    await other.goto(`${consoleUrl}/sign-in`)
    const third = await page.context().newPage()
    await third.goto(`${consoleUrl}/sign-in`)
    await third.getByLabel('Token or API key').waitFor()
    await other.getByLabel('Token or API key').fill(await bearerOf('admin'))
    await other.getByRole('button', { name: 'Sign in', exact: true }).click()
    await other.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    await comeBack(page)
    await ended.waitFor({ state: 'detached' })
    t.equal(await page.locator('#rule-name').inputValue(), 'Typed before the end')
    await comeBack(third)
    await third.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  })

  t.test('an invitation that is not valid is said at its address only', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await page.goto(`${consoleUrl}/join#inv_${'x'.repeat(40)}`)
    await page.getByRole('heading', { name: 'This invitation is not valid' }).waitFor()
    await page.goto(at('tasks'))
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
    await settle(page)
    await go(page, at('rules'))
    t.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Rules')
  })

  t.test('who is in no workspace is named, and can sign in as somebody else', async () => {
    const { page } = await browser.visit()
    const userId = `nobody-${newId()}`
    await page.goto(`${consoleUrl}/sign-in`)
    const token = await mintToken({ secret: product.jwtSecret, userId, expiresInSeconds: 600 })
    await page.getByLabel('Token or API key').fill(token)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'No workspace yet' }).waitFor()
    await page.getByText(`You are signed in as ${userId},`).waitFor()
    await page.getByRole('button', { name: 'Sign in as somebody else' }).click()
    await page.getByLabel('Token or API key').waitFor()
  })
}
