import { mintToken } from '@automation/access'
import { newId } from '@automation/database'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, go, settle } from './context.js'

/** How somebody becomes a member by a link. */
export function testInvitations(t: Test, { browser, makeWorkspace, product, consoleUrl }: Context): void {
  t.test('an admin makes a link that is a secret, and who signs in with it joins once', async (t) => {
    const { workspaceId, visit, client } = await makeWorkspace()
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

    const signIn = async (page: Page, userId: string) => {
      const token = await mintToken({ secret: product.jwtSecret, userId, expiresInSeconds: 600 })
      await page.getByLabel('Token or API key').fill(token)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    }
    const openLink = async (userId: string, address = link) => {
      const visitor = await browser.visit()
      await visitor.page.addInitScript(noteHeadings)
      const asked: string[] = []
      visitor.page.on('request', (request) => asked.push(request.url()))
      await visitor.page.goto(address)
      await visitor.page.getByText('You are invited to a workspace.').waitFor()
      t.equal(visitor.page.url(), `${consoleUrl}/join`, 'the address loses it')
      await signIn(visitor.page, userId)
      await visitor.page.getByRole('button', { name: /^(Join|Go on without it)$/ }).waitFor()
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

    // Whom it was made for may be somebody else than who is signed in.
    await page.getByRole('button', { name: 'Invite by a link' }).click()
    await page.getByRole('button', { name: 'Make the link' }).click()
    const second = (await shown.locator('pre').textContent()) ?? ''
    await shown.getByRole('button', { name: 'I have copied it' }).click()
    const [one, other] = [`one-${newId()}`, `other-${newId()}`]
    const shared = await openLink(one, second)
    await shared.page.getByText(one).waitFor()
    await shared.page.getByRole('button', { name: 'Sign in as somebody else' }).click()
    await shared.page.getByText('You are invited to a workspace.').waitFor()
    await signIn(shared.page, other)
    await shared.page.getByRole('heading', { name: 'Join Acme' }).waitFor()
    t.notOk(
      (await readHeadings(shared.page)).includes('No workspace yet'),
      'nothing else is said on the way to it',
    )
    await shared.page.getByText(other).waitFor()
    await shared.page.getByRole('button', { name: 'Join', exact: true }).click()
    await shared.page.waitForURL(`**/w/${workspaceId}/overview`)
    const { data: members } = await client.developer.members.list()
    t.match(
      members.find(({ userId }) => userId === other),
      { role: 'viewer' },
    )
    t.notOk(members.some(({ userId }) => userId === one))

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

interface Headings {
  headings: string[]
}

/** Each heading that is drawn, also for a moment. */
function noteHeadings(): void {
  const noted = window as unknown as Headings
  noted.headings = []
  new MutationObserver(() => {
    for (const { textContent } of document.querySelectorAll('h1')) noted.headings.push(textContent ?? '')
  }).observe(document, { childList: true, subtree: true })
}

function readHeadings(page: Page): Promise<string[]> {
  return page.evaluate(() => (window as unknown as Headings).headings)
}
