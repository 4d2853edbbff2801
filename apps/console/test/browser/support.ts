import { newId } from '@automation/database'
import type { Test } from 'tap'
import { type Context, go, settle } from './context.js'

/** How support gets into a workspace for a while, and out of it. */
export function testSupport(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('an admin grants support access for some hours, sees its end and reason, and ends it', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    const dana = `dana-${newId()}`
    await go(page, at('access'))
    await page.getByRole('button', { name: 'Grant support access' }).click()
    const dialog = page.getByRole('dialog', { name: 'Grant support access' })
    await dialog.getByLabel(/^User/).fill(dana)
    await dialog.getByLabel(/^Hours/).fill('73')
    await dialog.getByRole('button', { name: 'Grant' }).click()
    t.equal(
      await dialog.getByLabel(/^Hours/).evaluate((field: HTMLInputElement) => field.validity.valid),
      false,
    )
    await dialog.getByLabel(/^Hours/).fill('2')
    await dialog.getByLabel(/^Reason/).fill('Ticket 4711')
    await dialog.getByRole('button', { name: 'Grant' }).click()
    const row = page.getByRole('row', { name: new RegExp(dana) })
    await row.getByText('Support, until').waitFor()
    await row.getByText('Ticket 4711').waitFor()
    t.equal(await row.getByRole('combobox').count(), 0, 'its role is no choice')
    await go(page, at('access?tab=audit'))
    await page.getByText(new RegExp(`added ${dana} as viewer, until .*: Ticket 4711$`)).waitFor()
    await go(page, at('access'))
    await row.getByRole('button', { name: `End the support access of ${dana}` }).click()
    const question = page.getByRole('dialog', { name: `End the support access of ${dana}` })
    await question.getByRole('button', { name: 'End now' }).click()
    await row.waitFor({ state: 'detached' })
    const members = await client.developer.members.list()
    t.notOk(members.data.some(({ userId }) => userId === dana))
    await settle(page)
    t.strictSame(complaints, [])
  })
}
