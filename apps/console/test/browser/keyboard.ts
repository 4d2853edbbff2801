import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Context, choose, draw, go, readFocused } from './context.js'

/** Keyboards of all kinds, and where the focus is. */
export function testKeyboard(t: Test, { browser, makeWorkspace }: Context): void {
  t.test('while an input method composes, no key means anything to the page', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, complaints, at } = await visit(browser)
    await go(page, at('rules/new'))
    await page.getByRole('button', { name: 'Condition', exact: true }).click()
    const field = page.getByRole('combobox', { name: 'Field', exact: true })
    await field.fill('n')
    await page.getByRole('option', { name: /^name/ }).waitFor()
    await pressComposing(page, 'Enter')
    await pressComposing(page, 'ArrowDown')
    t.equal(await field.inputValue(), 'n', 'a combobox takes nothing')
    t.equal(await readFocused(page), 'Field')
    const title = page.getByRole('textbox', { name: 'title' })
    await title.fill('{{na')
    await page.getByRole('option', { name: /^name/ }).waitFor()
    await pressComposing(page, 'Enter')
    await pressComposing(page, 'Escape')
    t.equal(await title.inputValue(), '{{na', 'nor does a text with placeholders')
    t.ok(await page.getByRole('option', { name: /^name/ }).isVisible())
    await choose(page, 'Action 1', 'send an email')
    const to = page.getByRole('textbox', { name: 'to', exact: true })
    await to.fill('ada')
    await pressComposing(page, 'Enter')
    t.equal(
      await page.getByRole('textbox', { name: /^to( \d)?$/ }).count(),
      1,
      'an address begins no other one',
    )
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('combobox', { name: 'Search or run a command' })
    await palette.fill('exec')
    await pressComposing(page, 'Enter')
    await pressComposing(page, 'Escape')
    t.ok(await palette.isVisible(), 'the palette stays')
    t.equal(page.url(), at('rules/new'))
    await palette.fill('')
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    await pressComposing(page, 'k', { ctrlKey: true, code: 'KeyK' })
    await pressComposing(page, '?', { code: 'Slash' })
    t.equal(await page.getByRole('dialog').count(), 0)
    t.strictSame(complaints, [])
  })

  t.test('what a browser does at Enter and Escape waits for the input method, too', async (t) => {
    const { visit } = await makeWorkspace()
    const { page, at } = await visit(browser)
    await go(page, at('rules?tab=types'))
    await page
      .getByRole('button', { name: /New (event )?type/ })
      .first()
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').first().fill('TEST_TYPE')
    const changes: string[] = []
    page.on('request', (request) => request.method() !== 'GET' && changes.push(request.url()))
    await pressComposing(page, 'Enter')
    const isSent = await page.evaluate(() => {
      const form = document.querySelector<HTMLFormElement>('dialog form')
      let isSent = false
      form?.addEventListener('submit', () => {
        isSent = true
      })
      form?.requestSubmit()
      return isSent
    })
    t.notOk(isSent, 'a form is not sent')
    await pressComposing(page, 'Escape')
    const isTakenBack = await page.evaluate(
      () => !document.querySelector('dialog')?.dispatchEvent(new Event('cancel', { cancelable: true })),
    )
    t.ok(isTakenBack, 'a dialog stays')
    t.strictSame(changes, [])
    // The key is let go: now it is one of the page.
    await page.evaluate(() => dispatchEvent(new KeyboardEvent('keyup')))
    await page.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  t.test('Ctrl and a letter is the letter of the keyboard, in each alphabet', async (t) => {
    const { client, visit } = await makeWorkspace()
    const { id } = await client.rules.create({
      name: 'Hot',
      trigger: 'LEAD_CREATED',
      conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
      actions: [{ type: 'CREATE_TASK', config: { title: 'x' } }],
    })
    const { page, complaints, at } = await visit(browser)
    await go(page, at(`rules/${id}`))
    const condition = page.getByRole('group', { name: 'Condition: score is above 80' })
    await page.getByRole('button', { name: 'Remove the condition on score' }).click()
    await condition.waitFor({ state: 'detached' })
    await press(page, { key: 'ż', code: 'KeyZ', ctrlKey: true, altKey: true })
    t.equal(await condition.count(), 0, 'AltGr types a letter')
    await press(page, { key: 'я', code: 'KeyZ', ctrlKey: true })
    await condition.waitFor()
    await press(page, { key: 'Я', code: 'KeyZ', ctrlKey: true, shiftKey: true })
    await condition.waitFor({ state: 'detached' })
    await press(page, { key: 'Z', code: 'KeyZ', ctrlKey: true })
    await condition.waitFor()
    await press(page, { key: 'л', code: 'KeyK', ctrlKey: true })
    await page.getByRole('dialog', { name: 'Search or run a command' }).waitFor()
    t.strictSame(complaints, [])
  })

  t.test('each adder of the editor gives the focus to what it made', async (t) => {
    const { client, visit } = await makeWorkspace()
    const limits = { perKey: { key: '{{id}}', atMost: { runs: 1, per: '7d' } } } as object
    const { page, complaints, at } = await visit(browser, 'editor')
    for (const action of draw(actions, 3, 2)) {
      const { id } = await client.rules.create({
        name: action.type,
        trigger: 'LEAD_CREATED',
        conditions: [
          { any: [{ field: 'score', operator: 'greater_than', value: 80 }] },
          { some: 'items', that: [{ field: 'qty', operator: 'greater_than', value: 5 }] },
        ],
        actions: [action],
        ...(action.type !== 'CREATE_TASK' && limits),
      } as never)
      await page.goto(at(`rules/${id}`))
      await page.getByRole('group', { name: /^Action 1/ }).waitFor()
      t.strictSame(await walkAdders(page), [], action.type)
    }
    t.strictSame(complaints, [])
  })
}

const url = 'http://127.0.0.1:9/hook'
const actions = [
  { type: 'CREATE_TASK', config: { title: 'x' } },
  { type: 'SEND_WEBHOOK', config: { url } },
  { type: 'SEND_EMAIL', config: { to: 'ada@example.com', subject: 'x', template: 'welcome' } },
  {
    type: 'EMIT_EVENT',
    config: { eventType: 'DEAL_CREATED', forEach: 'items', data: { sku: '{{item.sku}}' } },
  },
  { type: 'WAIT', config: { duration: '1d' } },
  { type: 'SEND_NOTIFICATION', config: { url, text: 'x' } },
]

interface KeyInit {
  key: string
  code: string
  keyCode?: number
  isComposing?: boolean
  ctrlKey?: boolean
  altKey?: boolean
  shiftKey?: boolean
}

/** A key as a script sends it, at what has the focus. */
function press(page: Page, init: KeyInit): Promise<void> {
  return page.evaluate((init) => {
    const target = document.activeElement ?? document.body
    target.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }))
  }, init)
}

function pressComposing(page: Page, key: string, more: Partial<KeyInit> = {}): Promise<void> {
  return press(page, { key, code: key, keyCode: 229, isComposing: true, ...more })
}

/** Presses each adder of the sentence by keyboard, and those within what it made. @returns where the focus was afterwards, if not in a new part */
async function walkAdders(page: Page): Promise<string[]> {
  const lost: string[] = []
  const discard = page.getByRole('button', { name: 'Discard', exact: true })
  const walked = await listAdders(page, 'all')
  for (const adder of walked) {
    await markSeen(page)
    lost.push(...(await pressAdder(page, adder)))
    for (const inner of await listAdders(page, 'new')) {
      await markSeen(page)
      lost.push(...(await pressAdder(page, inner)).map((one) => `${adder.join(' ')} > ${one}`))
    }
    // An entry without a name is no part of the rule yet.
    if (await discard.isVisible()) {
      await discard.click()
      await discard.waitFor({ state: 'detached' })
    }
  }
  return walked.length > 5 ? lost : [`only ${walked.length} adders`]
}

type Adder = [name: string, item?: string]

/** Those of menus once for each of their items. */
async function listAdders(page: Page, which: 'all' | 'new'): Promise<Adder[]> {
  const adders: Adder[] = []
  for (const { name, isMenu, isSeen } of await tagAdders(page)) {
    if (which === 'new' && isSeen) continue
    if (!isMenu) adders.push([name])
    else {
      await page.locator(`[data-adder="${name}"]`).press('Enter')
      await page.getByRole('menuitem').first().waitFor()
      for (const item of await page.getByRole('menuitem').allInnerTexts()) adders.push([name, item])
      await page.keyboard.press('Escape')
      await page.getByRole('menuitem').first().waitFor({ state: 'detached' })
    }
  }
  return adders
}

/** Numbers those of one name, and unfolds what is folded. */
function tagAdders(page: Page) {
  return page.evaluate(() => {
    for (const one of document.querySelectorAll('.sentence details')) one.setAttribute('open', '')
    const counts = new Map<string, number>()
    return [...document.querySelectorAll<HTMLElement>('.sentence button')].flatMap((button) => {
      delete button.dataset.adder
      if (!button.querySelector('use')?.getAttribute('href')?.endsWith('#plus')) return []
      const words = button.getAttribute('aria-label') ?? button.innerText.trim()
      const count = (counts.get(words) ?? 0) + 1
      counts.set(words, count)
      const name = `${words} ${count}`
      button.dataset.adder = name
      return [{ name, isMenu: button.ariaHasPopup === 'menu', isSeen: button.hasAttribute('data-seen') }]
    })
  })
}

function markSeen(page: Page): Promise<void> {
  return page.evaluate(() => {
    // An entry without a name is no part of the rule yet: its adder leads to it.
    for (const one of document.querySelectorAll(
      'input:not([placeholder="name"]), select, textarea, button, a',
    ))
      one.setAttribute('data-seen', '')
  })
}

async function pressAdder(page: Page, [name, item]: Adder): Promise<string[]> {
  // Some are gone once another one has made the same.
  if (!(await tagAdders(page)).some((one) => one.name === name)) return []
  await page.locator(`[data-adder="${name}"]`).press('Enter')
  if (item !== undefined) await page.getByRole('menuitem', { name: item, exact: true }).press('Enter')
  const isInNewPart = () => {
    const { activeElement } = document
    return activeElement?.closest('.sentence') != null && !activeElement.hasAttribute('data-seen')
  }
  try {
    await page.waitForFunction(isInNewPart, undefined, { timeout: 10_000 })
    return []
  } catch {
    return [`${[name, item].join(' ')}: ${(await readFocused(page)).slice(0, 40)}`]
  }
}
