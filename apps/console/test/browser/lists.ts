import type { Test } from 'tap'
import { type Context, go, holdRequests } from './context.js'

/** What the lists of history say of an event and of its executions, and what their drawers do. */
export function testLists(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('one failed rule is seen in the list and in the drawer, which j and k lead on', async (t) => {
    const { client, visit } = await makeWorkspace()
    const task = { type: 'CREATE_TASK' as const, config: { title: 'x' } }
    const call = { type: 'SEND_WEBHOOK' as const, config: { url: 'http://127.0.0.1:9/hook' } }
    const trigger = 'LEAD_CREATED'
    await client.rules.create({ name: 'Well', trigger, actions: [task] })
    await client.rules.create({ name: 'Broken', trigger, actions: [{ ...call, retry: { attempts: 1 } }] })
    const event = await client.trigger(trigger, { name: 'Acme' })
    const second = await client.trigger(trigger, { name: 'Initech' })
    const { page, complaints, at } = await visit(browser)

    await go(page, at('events'))
    const table = page.getByRole('table', { name: 'events' })
    await table.locator('.mark.bad', { hasText: '1 failed' }).first().waitFor()
    t.equal(await table.locator('.mark.good').count(), 0, 'what failed has no green check')
    await go(page, at(`events?id=${event.id}`))
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByText('2 of 2 ran, 1 failed.').waitFor()
    const broken = details.locator('.verdicts > li', { hasText: 'Broken' })
    await broken.locator('.mark.bad', { hasText: 'failed' }).waitFor()
    t.match(await broken.innerText(), /port 9|ECONNREFUSED|127\.0\.0\.1/, 'with its error')
    await details.locator('.verdicts > li', { hasText: 'Well' }).locator('.mark.good').waitFor()

    await go(page, at(`events?id=${second.id}`))
    await details.getByText('2 of 2 ran, 1 failed.').waitFor()
    await page.keyboard.press('j')
    await page.waitForURL((url) => url.searchParams.get('id') === event.id)
    t.equal(await page.locator('.rows tr[aria-current]').count(), 1, 'the drawer follows the row')
    await page.setViewportSize({ width: 1440, height: 900 })
    const [list, drawer] = [await table.boundingBox(), await details.boundingBox()]
    t.ok((list?.x ?? 0) + (list?.width ?? 0) <= (drawer?.x ?? 0), 'on a desk the drawer covers no row')
    t.strictSame(complaints, [])
  })

  t.test('a list is the same after the editor of a rule was opened', async (t) => {
    const { client, visit } = await makeWorkspace()
    const task = { type: 'CREATE_TASK' as const, config: { title: 'x' } }
    const { id } = await client.rules.create({ name: 'Well', trigger: 'LEAD_CREATED', actions: [task] })
    await client.trigger('LEAD_CREATED', { name: 'Acme' })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    await page.locator('.sentence').waitFor()
    await go(page, at('executions'))
    const cell = page.getByRole('table', { name: 'executions' }).locator('tbody td.line').first()
    t.equal(await cell.evaluate((element) => getComputedStyle(element).display), 'table-cell')
    t.ok(((await cell.boundingBox())?.width ?? 0) > 100, 'the event of an execution has its place')
    t.strictSame(complaints, [])
  })

  t.test('a retry of all says how many failed again', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.rules.create({
      name: 'Broken',
      trigger: 'LEAD_CREATED',
      actions: [{ type: 'SEND_WEBHOOK', config: { url: 'http://127.0.0.1:9/hook' }, retry: { attempts: 1 } }],
    })
    await client.trigger('LEAD_CREATED', { name: 'Acme' })
    await client.trigger('LEAD_CREATED', { name: 'Initech' })
    const { page, complaints, at } = await visit(browser)
    await go(page, at('executions?status=failed'))
    await page.getByRole('button', { name: 'Retry all of these…' }).click()
    await page.getByRole('button', { name: 'Retry 2' }).click()
    await page.getByText('2 continued: 2 failed again.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('table', { name: 'executions' }).getByRole('link').first().click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByText(/began \d+:\d+:\d+, latest attempt \d+:\d+:\d+/).waitFor()
    await details.getByText('attempt 2', { exact: true }).waitFor()
    t.strictSame(complaints, [])
  })

  t.test('what is done for many stops where somebody goes back', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    let steps = 0
    page.on('request', (request) => {
      if (/executions\/cancel$/.test(request.url()) && !request.postDataJSON().dryRun) steps++
    })
    await page.route(/executions\/cancel$/, (route) => {
      const { dryRun } = route.request().postDataJSON()
      return route.fulfill({ json: dryRun ? { matched: 3 } : { matched: 3, cancelled: 1 } })
    })
    const held = await holdRequests(page, /executions\/cancel$/, ({ dryRun }) => dryRun === false)
    await go(page, at('executions?status=waiting,retrying,running'))
    await page.getByRole('button', { name: 'Cancel those that wait…' }).click()
    await page.getByRole('button', { name: 'Cancel 3' }).click()
    await go(page, at('rules'))
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const answered = page.waitForResponse(
      (response) => /executions\/cancel$/.test(response.url()) && !response.request().postDataJSON().dryRun,
    )
    await held.release()
    await (await answered).finished()
    // A next step would be asked for before what this screen reads has come.
    await go(page, at('webhooks'))
    t.equal(steps, 1)
  })

  t.test('a search that cannot be read stays as it was typed', async (t) => {
    const { client, visit } = await makeWorkspace()
    await client.trigger('LEAD_CREATED', { amount: 1 })
    const { page, at } = await visit(browser)
    await go(page, at('events'))
    const search = page.locator('.data-search input')
    await search.fill('amount >')
    await search.press('Enter')
    await page.locator('.data-search [role=alert]').waitFor()
    t.equal(await search.inputValue(), 'amount >')
    await search.pressSequentially(' 0')
    await search.press('Enter')
    await page.waitForURL((url) => url.searchParams.get('q') === 'amount > 0')
  })

  t.test('a drawer lies beside its list, or where there is no room is a page with a way back', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.trigger('LEAD_CREATED', { name: 'Acme' })
    const { page, complaints, at } = await visit(browser)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await go(page, at('events'))
    await page.getByRole('link', { name: 'LEAD_CREATED' }).click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByText(id).waitFor()
    for (const [width, rail] of [
      [390, 0],
      [768, 56],
      [959, 56],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      const covered = await page.getByRole('table', { name: 'events' }).boundingBox()
      const shown = await details.boundingBox()
      t.equal(shown?.x, rail, `${width} px`)
      t.ok(rightOf(shown) >= rightOf(covered), `${width} px: all of the list is under it`)
    }
    await page.setViewportSize({ width: 960, height: 800 })
    const list = await page.getByRole('table', { name: 'events' }).boundingBox()
    const beside = await details.boundingBox()
    t.ok(rightOf(list) <= (beside?.x ?? 0), 'beside')
    await page.setViewportSize({ width: 768, height: 800 })
    await details.getByRole('button', { name: 'Close the event' }).click()
    await details.waitFor({ state: 'detached' })
    t.strictSame(complaints, [])
  })
}

function rightOf(box: { x: number; width: number } | null): number {
  return (box?.x ?? 0) + (box?.width ?? 0)
}
