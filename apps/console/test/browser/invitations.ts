import { mintToken } from '@automation/access'
import { newId } from '@automation/database'
import type { Test } from 'tap'
import { type Context, go, settle } from './context.js'

/** How somebody becomes a member by a link. */
export function testInvitations(t: Test, { browser, makeWorkspace, product, consoleUrl }: Context): void {
  t.test('an admin makes a link that is a secret, and who signs in with it joins once', async (t) => {
    const { workspaceId, visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('access'))
    await page.getByRole('button', { name: 'Invite by a link' }).click()
    await page.getByRole('combobox', { name: 'Role', exact: true }).selectOption('editor')
    await page.getByRole('button', { name: 'Make the link' }).click()
    const shown = page.getByRole('dialog', { name: 'Invite by a link' })
    await shown.getByText('it is shown only once').waitFor()
    const link = (await shown.locator('pre').textContent()) ?? ''
    await page.keyboard.press('Escape')
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    const open = page.getByRole('table', { name: 'open invitations' })
    await open.getByText('editor').waitFor()
    t.notOk((await page.content()).includes(link.split('#')[1] ?? link), 'the page does not keep it')
    const own = page.getByRole('row', { name: new RegExp(`^viewer-${workspaceId}`) })
    await own.getByText('has never signed in').waitFor()

    const openLink = async (userId: string) => {
      const visitor = await browser.visit()
      const asked: string[] = []
      visitor.page.on('request', (request) => asked.push(request.url()))
      await visitor.page.goto(link)
      await visitor.page.getByText('You are invited to a workspace.').waitFor()
      t.equal(visitor.page.url(), `${consoleUrl}/join`, 'the address loses it')
      const token = await mintToken({ secret: product.jwtSecret, userId, expiresInSeconds: 600 })
      await visitor.page.getByLabel('Token or API key').fill(token)
      await visitor.page.getByRole('button', { name: 'Sign in', exact: true }).click()
      t.notOk(
        asked.some((url) => url.includes('inv_')),
        'no address that was asked for has it',
      )
      return visitor
    }
    const guest = `guest-${newId()}`
    const visitor = await openLink(guest)
    await visitor.page.getByRole('heading', { name: 'Join Acme' }).waitFor()
    await visitor.page.getByText('You are invited as editor').waitFor()
    await visitor.page.getByText(guest).waitFor()
    await visitor.page.getByRole('button', { name: 'Join', exact: true }).click()
    await visitor.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    t.equal(new URL(visitor.page.url()).pathname, `/w/${workspaceId}/overview`)
    await settle(visitor.page)
    t.strictSame(visitor.complaints, [])

    const late = await openLink(`late-${newId()}`)
    await late.page.getByRole('heading', { name: 'This invitation is not valid' }).waitFor()
    await late.page.getByRole('button', { name: 'Go on without it' }).click()
    await late.page.getByRole('heading', { name: 'No workspace yet' }).waitFor()

    await page.goto(at('access'))
    const joined = page.getByRole('row', { name: new RegExp(guest) })
    await joined.waitFor()
    t.notMatch(await joined.innerText(), 'has never signed in')
    t.equal(await open.count(), 0, 'it is no longer open')
    await page.getByRole('button', { name: 'Add a member' }).click()
    await page.getByText('its claim sub').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Invite by a link' }).click()
    t.strictSame(complaints, [])
  })
}
