import type { Test } from 'tap'
import { type Context, go, readFocused } from './context.js'

/** Dialogs with a form: what was typed, what is refused, and what follows. */
export function testForms(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('Escape, Close and Cancel ask before they drop what was typed', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.emailTemplates.create({ name: 'Hello', text: 'plain' })
    const { page, at } = await visit(browser)
    for (const [path, button, label] of [
      ['access?tab=secrets', 'New signing secret', 'Provider'],
      [`rules?tab=templates&id=${id}`, 'Edit', 'Text'],
    ] as const) {
      await go(page, at(path))
      await page.getByRole('button', { name: button }).first().click()
      const dialog = page.getByRole('dialog')
      const field = dialog.getByRole('textbox', { name: label, exact: true })
      await field.waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      for (const way of ['Close', 'Cancel']) {
        await page.getByRole('button', { name: button }).first().click()
        await dialog.getByRole('button', { name: way, exact: true }).click()
        await dialog.waitFor({ state: 'detached' })
      }
      await page.getByRole('button', { name: button }).first().click()
      await field.fill('typed')
      for (const _ of 'twice') await page.keyboard.press('Escape')
      await dialog.getByText('Discard what you typed?').waitFor()
      await dialog.getByRole('button', { name: 'Go on' }).click()
      await dialog.getByText('Discard what you typed?').waitFor({ state: 'detached' })
      t.equal(await field.inputValue(), 'typed', path)
      t.ok(await field.evaluate((element) => element === document.activeElement), 'the focus is back')
      for (const way of ['Close', 'Cancel']) {
        await dialog.getByRole('button', { name: way, exact: true }).click()
        await dialog.getByText('Discard what you typed?').waitFor()
        t.equal(await readFocused(page), 'Go on', way)
        await page.keyboard.press('Enter')
        await dialog.getByText('Discard what you typed?').waitFor({ state: 'detached' })
        t.equal(await field.inputValue(), 'typed', way)
      }
      await page.keyboard.press('Escape')
      await dialog.getByRole('button', { name: 'Discard' }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    await page.keyboard.press('Control+k')
    await page.keyboard.type('tasks')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  t.test('a provider is set up with an event type that comes first, and its address last', async () => {
    const { client, visit, workspaceId } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await go(page, at('webhooks'))
    const empty = page.locator('.empty')
    await empty.getByText(new RegExp(`^http://.*/api/incoming-webhooks/<provider>/${workspaceId}$`)).waitFor()
    await empty.getByRole('button', { name: 'Copy the address' }).waitFor()
    await go(page, at('access?tab=secrets'))
    await page.getByRole('button', { name: 'New signing secret' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('From').selectOption('stripe')
    await dialog.getByLabel('Secret, as Stripe shows it').fill('whsec_of_stripe')
    await dialog.getByLabel('Their type 1').fill('invoice.payment_failed')
    await dialog.getByLabel('Event type 1').fill('PAYMENT_IS_LATE')
    await dialog.getByRole('button', { name: 'Create' }).click()
    const first = dialog.getByRole('link', { name: 'Create the event type PAYMENT_IS_LATE first' })
    const [types] = await Promise.all([page.context().waitForEvent('page'), first.click()])
    await types.getByRole('button', { name: 'New event type' }).waitFor()
    await client.eventTypes.create({ name: 'PAYMENT_IS_LATE', description: '' })
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText(new RegExp(`^http://.*/api/incoming-webhooks/stripe/${workspaceId}$`)).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('rowheader', { name: /^stripe/ }).waitFor()
  })

  t.test('a required reason is said before the click, and has the focus after one without it', async (t) => {
    const { client, visit } = await makeWorkspace()
    const decision = { options: ['approve', 'ask_again'], ask: ['reason' as const], within: '24h' }
    await client.rules.create({
      name: 'Discount',
      trigger: 'DEAL_CREATED',
      actions: [
        { type: 'WAIT', config: { decision } },
        { type: 'CREATE_TASK', config: { title: 'x' } },
      ],
    })
    await client.trigger('DEAL_CREATED', { name: 'Ada' })
    const { page, at } = await visit(browser)
    await go(page, at('decisions'))
    await page.getByRole('row', { name: /approve or ask again/ }).waitFor()
    await page.getByRole('link', { name: 'Discount' }).click()
    const drawer = page.getByRole('complementary', { name: 'Details' })
    const reason = drawer.getByRole('textbox', { name: 'Reason (required)' })
    t.equal(await reason.getAttribute('aria-required'), 'true')
    await drawer.getByRole('button', { name: 'ask again' }).click()
    await drawer.getByText('Required', { exact: true }).waitFor()
    t.equal(await readFocused(page), 'Reason (required)')
    await reason.fill('Because')
    await drawer.getByRole('button', { name: 'ask again' }).click()
    await page.getByText('Decided: ask again').waitFor()
  })

  t.test('a role that is changed is said, and being seen is no more accurate than it is', async () => {
    const { visit, workspaceId } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await go(page, at('access'))
    const own = page.getByRole('row', { name: new RegExp(`^admin-${workspaceId}`) })
    await own.getByText('within the last hour').waitFor()
    await page.getByLabel(`Role of viewer-${workspaceId}`).selectOption('editor')
    await page.getByText(`viewer-${workspaceId} is editor now`).waitFor()
  })
}
