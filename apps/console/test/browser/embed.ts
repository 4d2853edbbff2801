import type { EmbedSessionToCreate, RuleToCreate } from '@automation/client'
import type { Locator, Page, Request } from 'playwright-core'
import type { Test } from 'tap'
import { hear, innerOf, makeEmbedded, openShop, say, show, showElement } from '../fixtures/open-shop.js'
import type { Context } from './context.js'
import { findFaults } from './sweep.js'

const trigger = 'LEAD_CREATED' as const
const leads: RuleToCreate = {
  name: 'Call good leads',
  trigger,
  conditions: [{ field: 'score', operator: 'greater_than', value: 50 }],
  actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}' } }],
}
const approval: RuleToCreate = {
  name: 'Ask somebody',
  trigger,
  actions: [{ type: 'WAIT', config: { decision: { options: ['approve', 'reject'], within: '7d' } } }],
} as never
const everything: EmbedSessionToCreate['pages'] = ['rules', 'executions', 'events', 'decisions', 'tasks']

/** Rules inside of another product: its page is on another site, and its browser keeps no cookies of other sites. */
export function testEmbed(t: Test, context: Context): void {
  const { browser, consoleUrl } = context

  t.test(
    'a customer changes a rule in the page of a product, and it is evaluated on real events at each key',
    async (t) => {
      const shop = await openShop(t)
      const { client, open } = await makeEmbedded(context, shop)
      const rule = await client.rules.create(leads)
      for (const score of [10, 60, 90]) await client.trigger(trigger, { name: `Lead ${score}`, score })
      const { page, frame, refused, complaints } = await open()
      await frame.getByRole('link', { name: leads.name }).click()
      t.equal((await hear(page, 'path', { path: `rules/${rule.id}` })).origin, consoleUrl)
      const value = frame.getByRole('spinbutton', { name: 'Value' })
      await frame.getByText('2 of 3 pass').waitFor()
      await value.fill('8')
      await frame.getByText('3 of 3 pass').waitFor()
      await value.press('End')
      await value.press('0')
      await frame.getByText('1 of 3 pass').waitFor()
      await hear(page, 'dirty', { isDirty: true })
      await say(page, { type: 'save' })
      await hear(page, 'saved', { ruleId: rule.id, version: 2, isDraft: false })
      await hear(page, 'dirty', { isDirty: false })
      t.match((await client.rules.get(rule.id)).conditions, [{ value: 80 }])
      const [version] = (await client.rules.versions.list(rule.id)).versions
      t.match(version?.createdBy, /^embed:/)
      t.strictSame(refused, [])
      t.strictSame(complaints, [])
    },
  )

  t.test('only a listed origin frames a session, and hears and asks anything of it', async (t) => {
    const shop = await openShop(t)
    const stranger = await openShop(t)
    const { client, makeUrl, open } = await makeEmbedded(context, shop)
    await client.rules.create(leads)
    const { page } = await browser.visit()
    const { url } = await makeUrl()
    const blocked = page.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()))
    await show(page, stranger, url)
    await blocked
    t.strictSame(await page.evaluate('heard'), [], 'the stranger hears nothing')

    const visit = await open()
    await hear(visit.page, 'ready')
    const before = (await visit.page.evaluate('heard.length')) as number
    const other = await visit.page.evaluate(async (src) => {
      // Another frame on the page of the product, whose window is not that around the frame.
      const frame = document.createElement('iframe')
      frame.src = src
      document.body.append(frame)
      await new Promise((resolve) => frame.addEventListener('load', resolve))
      return frame.title
    }, stranger)
    t.equal(other, '')
    const inner = visit.page.frames().find((one) => one.url().startsWith(stranger))
    await inner?.evaluate(() => {
      const target = (parent as Window)[0] as Window
      for (const type of ['hello', 'open', 'session', 'save'])
        target.postMessage({ automation: 1, type, path: 'tasks', url: 'https://evil.example' }, '*')
    })
    for (const wrong of [{ type: 'open' }, { automation: 2, type: 'open', path: 'tasks' }, 'open', null, 7])
      await visit.page.evaluate(
        (message) =>
          (document.querySelector('iframe') as HTMLIFrameElement).contentWindow?.postMessage(message, '*'),
        wrong as never,
      )
    await say(visit.page, { type: 'open', path: 'https://evil.example/x' })
    await say(visit.page, { type: 'open', path: '../../w/other/overview' })
    await say(visit.page, { type: 'open', path: 'events' })
    await hear(visit.page, 'path', { path: 'events' })
    const said = (await visit.page.evaluate(`heard.slice(${before})`)) as { type: string; path?: string }[]
    t.notOk(said.some(({ path }) => path === 'tasks' || path?.includes('evil')))
    t.equal(
      said.filter(({ type }) => type === 'error').length,
      2,
      'paths of other sites and pages are refused',
    )
  })

  t.test(
    'a link works once, a reload needs a new one, and a session that ended goes on in place',
    async (t) => {
      const shop = await openShop(t)
      const { client, makeUrl, open } = await makeEmbedded(context, shop)
      const rule = await client.rules.create(leads)
      const { page, frame, id, url } = await open({ rule: rule.id, pages: ['rules'] })
      await frame.getByRole('heading', { name: leads.name, level: 1 }).waitFor()
      const inner = await innerOf(page)
      t.equal(await inner.evaluate('location.hash'), '', 'the secret is gone from the address')
      t.equal(await inner.evaluate('document.cookie'), '')
      await t.rejects(
        inner.evaluate('localStorage.length'),
        /Access is denied/,
        'it works where it may keep nothing',
      )

      await frame.getByRole('textbox', { name: 'Name' }).fill('Call them all')
      await hear(page, 'dirty', { isDirty: true })
      await client.developer.embedSessions.end(id)
      await say(page, { type: 'save' })
      await hear(page, 'session-needed', { reason: 'ended' })
      await frame.getByText('Your session has ended.').waitFor()
      t.equal(await frame.getByRole('textbox', { name: 'Name' }).inputValue(), 'Call them all')
      await inner.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
      const next = await makeUrl({ rule: rule.id, pages: ['rules'] })
      await say(page, { type: 'session', url: next.url })
      await frame.getByText('Your session has ended.').waitFor({ state: 'hidden' })
      await frame.getByRole('status').getByText('Your session goes on', { exact: true }).waitFor()
      t.equal(await frame.getByRole('textbox', { name: 'Name' }).inputValue(), 'Call them all')
      await say(page, { type: 'save' })
      await hear(page, 'saved', { ruleId: rule.id })
      t.equal((await client.rules.get(rule.id)).name, 'Call them all')
      await inner.waitForFunction((one) => location.pathname.startsWith(`/embed/${one}/`), next.id)

      await (await innerOf(page)).evaluate('location.reload()')
      await hear(page, 'session-needed', { reason: 'none' })
      await say(page, { type: 'session', url: (await makeUrl({ rule: rule.id, pages: ['rules'] })).url })
      await frame.getByRole('heading', { name: 'Call them all', level: 1 }).waitFor()

      const { page: another } = await browser.visit()
      const again = { page: another, frame: another.frameLocator('iframe') }
      const used = await makeUrl()
      await show(again.page, shop, used.url)
      await hear(again.page, 'ready')
      await show(again.page, shop, used.url)
      await hear(again.page, 'session-needed', { reason: 'used' })
      const status = again.frame.getByRole('status').filter({ hasText: 'Its link was used' })
      await status.waitFor()
      t.equal(await status.getByRole('heading').count(), 0)
      t.equal(await (await innerOf(again.page)).title(), 'No session · Automation rules')
      t.not(url, used.url)
    },
  )

  t.test(
    'a session saves a draft where it may not publish, and says what is saved and promoted',
    async (t) => {
      const shop = await openShop(t)
      const { client, makeUrl, open } = await makeEmbedded(context, shop)
      const rule = await client.rules.create(leads)
      const foreign = await client.rules.create({
        ...leads,
        name: 'With a webhook',
        actions: [{ type: 'SEND_WEBHOOK', config: { url: 'https://x.example' } }],
      })
      const limits = { allow: { actions: ['CREATE_TASK' as const] } }
      const { page, frame, refused } = await open({ publish: false, ...limits })
      await hear(page, 'ready')
      await visitPath(page, `rules/${foreign.id}`)
      await frame.getByText('It has parts that you may not change here: it is read only.').waitFor()
      t.equal(await frame.getByRole('textbox', { name: 'Name' }).isEnabled(), false)
      t.equal(await frame.getByRole('switch').count(), 0)

      await visitPath(page, `rules/${rule.id}`)
      t.equal(await frame.getByRole('button', { name: 'Save', exact: true }).count(), 0)
      await frame.getByRole('textbox', { name: 'Name' }).fill('Call them soon')
      await hear(page, 'dirty', { isDirty: true })
      await say(page, { type: 'save' })
      await hear(page, 'saved', { ruleId: rule.id, isDraft: true })
      await hear(page, 'path', { path: `rules/${rule.id}?tab=rollout` })
      await frame.getByRole('button', { name: 'Discard the draft' }).waitFor()
      t.equal(await frame.getByRole('button', { name: 'Promote…' }).count(), 0)
      t.equal((await client.rules.get(rule.id)).name, leads.name)

      // Another user: nothing of the one before stays.
      const next = await makeUrl({ user: { id: 'customer-2' } })
      await say(page, { type: 'session', url: next.url })
      const inner = await innerOf(page)
      await inner.waitForFunction((id) => location.pathname.startsWith(`/embed/${id}/`), next.id)
      await frame.getByRole('button', { name: 'Promote…' }).click()
      await frame.getByRole('dialog').getByRole('button', { name: 'Promote', exact: true }).click()
      await hear(page, 'promoted', { ruleId: rule.id, version: 2 })
      t.equal((await client.rules.get(rule.id)).name, 'Call them soon')
      t.strictSame(refused, [])
      for (const url of [
        'https://evil.example/embed/x#y',
        `${consoleUrl}/w/x#y`,
        `${consoleUrl}/embed/${next.id}`,
        7,
      ])
        await say(page, { type: 'session', url })
      await hear(page, 'error', { message: 'The url of the session is none of this console' })
    },
  )

  t.test(
    'a page whose origin is listed no more is told so, and asks for no session again and again',
    async (t) => {
      const shop = await openShop(t)
      const { client, workspaceId, makeUrl, open } = await makeEmbedded(context, shop)
      await client.rules.create(leads)
      const { page, frame } = await open()
      await hear(page, 'ready')
      await client.developer.workspaces.update(workspaceId, { embedOrigins: ['https://other.example'] })
      await say(page, { type: 'session', url: (await makeUrl()).url })
      await hear(page, 'error', { message: `${shop} is none of the origins that may frame the new session` })
      t.notOk(await page.evaluate("heard.some(({ type }) => type === 'session-needed')"))
      await frame.getByRole('link', { name: leads.name }).click()
      await hear(page, 'path', { path: `rules/${(await client.rules.list()).rules[0]?.id}` })
    },
  )

  t.test('an admin who is signed in in the same browser does nothing inside of a frame', async (t) => {
    // On the same site as the console, so that the browser would send the cookie.
    const shop = await openShop(t, '127.0.0.1')
    const { client, visit, makeUrl } = await makeEmbedded(context, shop)
    const rule = await client.rules.create(leads)
    const { page } = await visit(browser)
    const sent: Request[] = []
    page.on('request', (request) => {
      if (request.frame() !== page.mainFrame() && request.url().includes('/api/')) sent.push(request)
    })
    const { url } = await makeUrl({ rule: rule.id, pages: ['rules'], role: 'viewer' })
    await show(page, shop, url)
    const frame = page.frameLocator('iframe')
    await frame.getByRole('heading', { name: leads.name, level: 1 }).waitFor()
    await hear(page, 'ready')
    t.ok(sent.length > 2)
    for (const request of [...sent]) {
      const { cookie, authorization } = await request.allHeaders()
      t.equal(cookie, undefined, request.url())
      if (!/\/(open|frame)$/.test(request.url())) t.match(authorization, /^Bearer emb_/, request.url())
    }
    t.equal(await frame.getByRole('button', { name: 'Save' }).count(), 0, 'a viewer, beside an admin')
    const inner = await innerOf(page)
    const status = await inner.evaluate(
      async () =>
        (await fetch('/api/me', { credentials: 'omit', headers: { 'x-embed-session': 'x' } })).status,
    )
    t.equal(status, 401)
  })

  t.test('each page of each kind of session opens, and asks for nothing that the API refuses', async (t) => {
    const shop = await openShop(t)
    const { client, open } = await makeEmbedded(context, shop)
    const rule = await client.rules.create(leads)
    await client.rules.create(approval)
    for (const score of [10, 60]) await client.trigger(trigger, { name: `Lead ${score}`, score })
    const sessions: Partial<EmbedSessionToCreate>[] = [
      { publish: true },
      { publish: false },
      { role: 'viewer', publish: false },
      { rule: rule.id, publish: false },
      { allow: { triggers: [trigger], actions: ['CREATE_TASK'] } },
      ...everything.map((page) => ({ pages: [page] })),
    ]
    for (const session of sessions) {
      const { pages = everything } = session
      const { page, frame, refused, complaints } = await open(session)
      await hear(page, 'ready')
      for (const name of pages) {
        const isOne = session.rule !== undefined && name === 'rules'
        const [first] = [isOne ? `rules/${rule.id}` : name]
        await say(page, { type: 'open', path: first })
        await hear(page, 'path', { path: first })
        await settleIn(page)
        const row = frame.locator('.rows tbody th a[href]').first()
        if (!isOne && (await row.count()) > 0) {
          await row.click()
          await settleIn(page)
        }
        if (name === 'rules') {
          if (!isOne) for (const tab of ['schedules', 'findings']) await visitPath(page, `rules?tab=${tab}`)
          for (const tab of ['', 'json', 'rollout', 'versions'])
            await visitPath(page, `rules/${rule.id}?tab=${tab}`)
          if (!isOne && session.role !== 'viewer') await visitPath(page, 'rules/new')
        }
      }
      t.strictSame(refused, [], JSON.stringify(session))
      t.strictSame(complaints, [], JSON.stringify(session))
    }
  })

  t.test('a frame takes the focus of the page around it from nobody', async (t) => {
    const shop = await openShop(t)
    const { client, open } = await makeEmbedded(context, shop)
    const rule = await client.rules.create(leads)
    const { page, frame } = await open()
    const nameFocus = () => page.evaluate(() => document.activeElement?.tagName)
    await hear(page, 'ready')
    await settleIn(page)
    t.equal(await nameFocus(), 'INPUT')
    for (const path of ['events', `rules/${rule.id}`, 'rules']) {
      await visitPath(page, path)
      t.equal(await nameFocus(), 'INPUT', path)
    }
    await frame.getByRole('link', { name: leads.name }).click()
    const inner = await innerOf(page)
    await inner.waitForFunction(() => document.activeElement?.tagName === 'H1')
    t.equal(await nameFocus(), 'IFRAME', 'somebody is in it')
  })

  t.test('what lies over a page of 100 rows is where somebody looks', async (t) => {
    const shop = await openShop(t)
    const { client, makeUrl } = await makeEmbedded(context, shop)
    await client.rules.create(leads)
    await client.triggerBatch(
      trigger,
      Array.from({ length: 100 }, (_, row) => ({ data: { name: `Lead ${row}`, score: row } })),
    )
    for (const size of [
      { width: 390, height: 700 },
      { width: 1280, height: 800 },
    ]) {
      const { page } = await browser.visit({ viewport: size })
      const isInView = async (what: Locator) => {
        await what.waitFor()
        const { y = -1, height = 0 } = (await what.boundingBox()) ?? {}
        return y >= 0 && y + height <= size.height
      }
      await showElement(page, shop, consoleUrl, (await makeUrl({ pages: ['events', 'rules'] })).url)
      const frame = page.frameLocator('automation-rules iframe')
      const last = frame.locator('.rows tbody th a').last()
      await last.click()
      const drawer = frame.getByRole('complementary', { name: 'Details' })
      t.ok(await isInView(drawer.getByRole('heading').first()), `drawer at ${size.width}`)
      t.ok(await isInView(last), 'the row did not move away')
      await drawer.getByRole('button', { name: 'Replay with the current rules…' }).click()
      const dialog = frame.getByRole('dialog')
      t.ok(await isInView(dialog), `dialog at ${size.width}`)
      await dialog.getByRole('button', { name: 'Close', exact: true }).click()
      await drawer.locator('[data-close]').click()
      t.equal(await page.evaluate('scrollY'), 0, 'the page around it does not scroll')

      await frame.getByRole('link', { name: 'Rules', exact: true }).click()
      const turn = frame.getByRole('switch')
      await turn.click()
      await turn.click()
      t.ok(await isInView(frame.getByRole('button', { name: 'Undo' }).last()), `toast at ${size.width}`)
    }
  })

  t.test('a frame grows with a dialog that is higher than its page', async (t) => {
    const shop = await openShop(t)
    const { open } = await makeEmbedded(context, shop)
    const { page, frame } = await open({ pages: ['events'] })
    await frame.getByRole('button', { name: 'Send a sample event' }).click()
    const inner = await innerOf(page)
    await frame.getByRole('textbox', { name: 'Data' }).evaluate((data) => {
      data.style.height = '900px'
    })
    await inner.waitForFunction(() => {
      const dialog = document.querySelector('dialog[open]')
      return dialog && dialog.clientHeight > 900 && dialog.scrollHeight <= dialog.clientHeight
    })
    await frame.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await inner.waitForFunction(() => innerHeight < 700)
  })

  t.test('a frame has no place for a bar and a scrollbar that it has not', async (t) => {
    const shop = await openShop(t)
    const { open } = await makeEmbedded(context, shop)
    for (const width of [390, 1280]) {
      const { page } = await open({}, { viewport: { width, height: 800 } })
      await hear(page, 'ready')
      const inner = await innerOf(page)
      const read = () =>
        inner.evaluate(() => {
          const style = getComputedStyle(document.documentElement)
          const { scrollbarGutter, scrollPaddingBottom } = style
          return { scrollbarGutter, scrollPaddingBottom, bar: style.getPropertyValue('--bottom-bar') }
        })
      t.match(await read(), { scrollbarGutter: 'auto', scrollPaddingBottom: /^(auto|0px)$/, bar: '0px' })
      await inner.evaluate('location.reload()')
      await hear(page, 'session-needed', { reason: 'none' })
      t.match(await read(), { scrollbarGutter: 'auto' }, 'without a session, too')
    }
  })

  t.test('a frame looks as its session says', async (t) => {
    const shop = await openShop(t)
    const { client, open } = await makeEmbedded(context, shop)
    await client.rules.create(leads)
    const appearance = { accent: '#c2185b', radius: 2, fonts: ['Georgia'] }
    const { page } = await open({
      appearance: { ...appearance, density: 'compact', colorScheme: 'dark' },
      locale: 'de-CH',
    })
    await hear(page, 'ready')
    await settleIn(page)
    const inner = await innerOf(page)
    const styles = await inner.evaluate(() => {
      const style = getComputedStyle(document.documentElement)
      const { density } = document.documentElement.dataset
      const { colorScheme, fontFamily } = style
      return { colorScheme, fontFamily, radius: style.getPropertyValue('--radius'), density }
    })
    t.match(styles, { colorScheme: 'dark', fontFamily: /^Georgia, Inter/, radius: '2px', density: 'compact' })
    await say(page, { type: 'colorScheme', colorScheme: 'light' })
    await inner.waitForFunction(() => getComputedStyle(document.documentElement).colorScheme === 'light')
    t.strictSame(await findFaults(inner), [])
  })

  t.test('a frame has no fault of accessibility, and fits its width, in both colours', async (t) => {
    const shop = await openShop(t)
    const { client, open } = await makeEmbedded(context, shop)
    const rule = await client.rules.create(leads)
    await client.rules.create(approval)
    for (const score of [10, 60]) await client.trigger(trigger, { name: `Lead ${score}`, score })
    for (const [width, scheme] of [
      [390, 'light'],
      [1024, 'dark'],
      [1440, 'light'],
      [390, 'dark'],
    ] as const) {
      const { page, frame } = await open({}, { viewport: { width, height: 800 }, scheme })
      const look = async (what: string) => {
        t.strictSame(await findFaults(await innerOf(page)), [], `${what} at ${width}, ${scheme}`)
      }
      await hear(page, 'ready')
      for (const path of [...everything, `rules/${rule.id}`]) {
        await visitPath(page, path)
        await look(path.replace(/\/.*/, '-one'))
        if (!['executions', 'events', 'decisions', 'tasks'].includes(path)) continue
        await frame.locator('.rows tbody th a').first().click()
        await frame.getByRole('complementary', { name: 'Details' }).getByRole('heading').first().waitFor()
        await settleIn(page)
        await look(`${path}-detail`)
      }
    }
  })
}

async function visitPath(page: Page, path: string): Promise<void> {
  await say(page, { type: 'open', path })
  await hear(page, 'path', { path })
  await settleIn(page)
}

/** Waits until the frame shows what it has to show. */
async function settleIn(page: Page): Promise<void> {
  const inner = await innerOf(page)
  try {
    await inner.locator('h1').first().waitFor()
    await inner.waitForFunction(
      () =>
        document.querySelector('.loading, .first, .bars.pending') === null &&
        document.getAnimations().length === 0 &&
        !document.body.innerText.includes('Checking…'),
    )
  } catch (error) {
    throw new Error(`${inner.url()} is not settled:\n${await inner.innerText('body')}`, { cause: error })
  }
}
