import type { Test } from 'tap'
import { type Context, go, look } from './context.js'

/** How an admin suspends and deletes a workspace, and undoes that. */
export function testOffboarding(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('an admin suspends, resumes and deletes a workspace, and undoes that', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('access'))
    await page.getByRole('group', { name: 'Parts' }).getByRole('button', { name: 'Workspace' }).click()
    await page.getByRole('button', { name: 'Suspend Acme' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend', exact: true }).click()
    const notice = page.getByRole('region', { name: 'The workspace is suspended' })
    await notice.getByText(/suspended this workspace/).waitFor()
    await page.getByText('It is suspended.').waitFor()
    await look(page, 'suspended')
    await notice.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Suspend Acme' }).waitFor()
    t.equal(await notice.count(), 0)

    await page.getByRole('button', { name: 'Delete Acme' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete Acme?' })
    await dialog.getByLabel('Name of the workspace').fill('Acne')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await dialog.getByText('Must be the name of the workspace').waitFor()
    await look(page, 'asked')
    await dialog.getByLabel('Name of the workspace').fill('Acme')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await notice.getByText(/asked for the deletion of this workspace/).waitFor()
    await look(page, 'leaving')
    await page.goto(at('rules'))
    await notice.getByRole('button', { name: 'Undo the deletion' }).click()
    await notice.waitFor({ state: 'detached' })
    t.strictSame(
      complaints.filter((one) => !/422/.test(one)),
      [],
    )
  })

  t.test('a page that is open says that its workspace was suspended, with its next request', async (t) => {
    const { client, visit, workspaceId } = await makeWorkspace()
    const { page, at } = await visit(browser, 'viewer')
    await go(page, at('rules'))
    await client.developer.workspaces.suspend(workspaceId)
    await go(page, at('events'))
    await page
      .getByRole('region', { name: 'The workspace is suspended' })
      .getByText('Only its admins can read it.')
      .waitFor()
    await page.getByRole('heading', { name: 'The workspace is suspended' }).first().waitFor()
    t.equal(await page.getByText('An admin can change your role').count(), 0)
    await look(page, 'suspended-viewer')
  })
}
