import { openBrowser } from '@automation/launcher/open-browser'
import t, { type Test } from 'tap'
import { findAddress } from '../src/embed/find-address.js'
import type { AutomationRules } from '../src/embed/index.js'
import { openEmbedPages } from './fixtures/embed-pages.js'

const browser = await openBrowser(t)
const { consoleUrl, otherUrl, hostUrl } = await openEmbedPages(t)
const src = `${consoleUrl}/embed/1#secret`

type Page = Awaited<ReturnType<typeof browser.visit>>['page']
type Frame = ReturnType<Page['frames']>[number]

interface Message {
  type: string
  [field: string]: unknown
}
type Told = { type: string; detail: unknown }[]

/** A page of a product with the element. @param attributes of it */
async function openHost(
  attributes: Record<string, string>,
  { path = '', dark = false, hasClock = false } = {},
) {
  const { page, complaints } = await browser.visit({ colorScheme: dark ? 'dark' : 'light' })
  if (hasClock) await page.clock.install()
  await page.goto(`${hostUrl}/${path}`)
  await page.evaluate(
    async ([module, attributes]) => {
      const element = document.createElement('automation-rules')
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
      const told: Told = []
      Object.assign(globalThis, { told })
      for (const type of ['ready', 'path', 'dirty', 'saved', 'promoted', 'error', 'session-needed'])
        element.addEventListener(type, (event) => told.push({ type, detail: (event as CustomEvent).detail }))
      document.body.append(element)
      await import(module)
    },
    [`${consoleUrl}/index.js`, attributes] as const,
  )
  return { page, complaints, element: page.locator('automation-rules') }
}

/** Once its script runs and has had an answer. */
async function frameOf(page: Page): Promise<Frame> {
  const handle = await page.locator('automation-rules iframe').elementHandle()
  const frame = await handle?.contentFrame()
  if (!frame) throw new Error('no frame')
  await received(frame, 'hello')
  return frame
}

const say = (frame: Frame, type: string, content: object = {}) =>
  frame.evaluate(
    ([type, content]) => (globalThis as unknown as { say(...all: unknown[]): void }).say(type, content),
    [type, content] as const,
  )

/** The first message of a type, once it is there. */
async function received(frame: Frame, type: string): Promise<Message> {
  const find = (wanted: string) =>
    (globalThis as unknown as { received?: Message[] }).received?.find(({ type }) => type === wanted)
  const handle = await frame.waitForFunction(find, type)
  return (await handle.jsonValue()) as Message
}

async function told(page: Page, type: string): Promise<unknown> {
  const find = (wanted: string) =>
    (globalThis as unknown as { told: Told }).told.find(({ type }) => type === wanted)?.detail
  return (await page.waitForFunction(find, type)).jsonValue()
}

const allTold = (page: Page) => page.evaluate(() => (globalThis as unknown as { told: Told }).told)

t.test(
  'the element shows the frame of its session under a strict policy, as narrow as it works',
  async (t) => {
    const { page, complaints, element } = await openHost({
      src,
      path: 'rules/7?tab=history',
      'aria-label': 'Regeln',
    })
    const frame = await frameOf(page)
    t.equal(frame.url(), `${consoleUrl}/embed/1/rules/7?tab=history#secret`)
    const iframe = page.locator('automation-rules iframe')
    t.equal(await iframe.getAttribute('title'), 'Regeln')
    await element.evaluate((one) => one.setAttribute('aria-label', 'Règles'))
    t.equal(await iframe.getAttribute('title'), 'Règles')
    await element.evaluate((one) => one.removeAttribute('aria-label'))
    t.equal(await iframe.getAttribute('title'), 'Automation rules')
    t.equal(await iframe.getAttribute('referrerpolicy'), 'no-referrer')
    t.equal(await iframe.getAttribute('allow'), 'clipboard-write')
    t.notMatch(
      await iframe.getAttribute('sandbox'),
      /top-navigation|pointer-lock|storage-access|modals|downloads/,
    )
    t.equal(await frame.evaluate(() => document.referrer), '')
    t.match(await received(frame, 'hello'), { origin: hostUrl, automation: 1 })
    await say(frame, 'height', { px: 777 })
    await page.waitForFunction(() => document.querySelector('automation-rules')?.clientHeight === 777)
    t.strictSame(complaints, [])
  },
)

t.test('what the frame says becomes events of the element, and its methods tell the frame', async (t) => {
  const { page, element } = await openHost({ src })
  const frame = await frameOf(page)
  const said = {
    ready: { path: 'rules' },
    dirty: { isDirty: true },
    saved: { ruleId: '7', version: 2, isDraft: false },
    promoted: { ruleId: '7', version: 3 },
    error: { message: 'Not found', status: 404 },
    'session-needed': { reason: 'expired' },
  }
  for (const [type, detail] of Object.entries(said)) {
    await say(frame, type, detail)
    t.strictSame(await told(page, type), detail, type)
  }
  await element.evaluate((one: AutomationRules) => {
    one.save()
    one.discard()
    one.open('executions')
  })
  t.match(await received(frame, 'open'), { origin: hostUrl, path: 'executions' })
  t.ok(await received(frame, 'save'))
  t.ok(await received(frame, 'discard'))
  for (const type of ['click', 'constructor', 'height', 'unknown']) await say(frame, type, {})
  await say(frame, 'path', { path: 'last' })
  await told(page, 'path')
  t.equal((await allTold(page)).length, 7, 'nothing else becomes an event')
  t.equal(await page.evaluate(() => location.hash), '', 'the address is the host’s own')
})

t.test(
  'a stranger is not heard: another frame of the console, another origin in the frame, the page itself',
  async (t) => {
    const { page, element } = await openHost({ src })
    const frame = await frameOf(page)
    const handle = await page.evaluateHandle((src) => {
      const stranger = document.createElement('iframe')
      stranger.src = src
      return document.body.appendChild(stranger)
    }, `${consoleUrl}/embed/2`)
    const other = await handle.contentFrame()
    if (!other) throw new Error('no frame')
    await other.waitForFunction(() => 'say' in globalThis)
    await say(other, 'saved', { ruleId: 'of a stranger' })
    await page.evaluate(() => postMessage({ automation: 1, type: 'saved', ruleId: 'of the page' }, '*'))
    await frame.evaluate(() => parent.postMessage({ type: 'saved', ruleId: 'without the mark' }, '*'))
    await frame.evaluate(() => parent.postMessage(null, '*'))
    await frame.goto(`${otherUrl}/embed/1`)
    await say(frame, 'saved', { ruleId: 'of another origin' })
    await element.evaluate((one: AutomationRules) => one.save())
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          addEventListener('message', () => resolve(), { once: true })
          postMessage('the last one', '*')
        }),
    )
    t.strictSame(await allTold(page), [])
    for (const one of [other, frame])
      t.equal(await one.evaluate(() => (globalThis as unknown as { received: Message[] }).received.length), 0)
  },
)

t.test(
  'another src hands the new session over in place, or makes a new frame where none listens',
  async (t) => {
    const { page, element } = await openHost({ src })
    const frame = await frameOf(page)
    const next = `${consoleUrl}/embed/2#other`
    await say(frame, 'session-needed', { reason: 'ended' })
    await told(page, 'session-needed')
    await element.evaluate((one: AutomationRules, next) => {
      one.src = next
    }, next)
    t.match(await received(frame, 'session'), { url: next, origin: hostUrl })
    t.equal(frame.url(), src, 'the frame is the same')
    const other = `${otherUrl}/embed/3#third`
    await element.evaluate((one: AutomationRules, other) => {
      one.src = other
    }, other)
    t.equal(await page.locator('automation-rules iframe').getAttribute('src'), other, 'of another console')
    t.equal(await page.evaluate(() => history.length), 2, 'no step of the host’s history')
  },
)

t.test(
  'the colour scheme is the one given, that of the page with auto, or left to the session',
  async (t) => {
    const { page, element } = await openHost({ src, 'color-scheme': 'auto' }, { dark: true })
    const frame = await frameOf(page)
    t.equal((await received(frame, 'hello')).colorScheme, 'light', 'a page without a scheme is light')
    await page.evaluate(() => {
      document.documentElement.style.colorScheme = 'light dark'
    })
    t.equal((await received(frame, 'colorScheme')).colorScheme, 'dark', 'that of the person')
    await element.evaluate((one) => one.setAttribute('color-scheme', 'light'))
    await frame.waitForFunction(
      () => (globalThis as unknown as { received: Message[] }).received.at(-1)?.colorScheme === 'light',
    )
    const silent = await openHost({ src })
    t.notOk('colorScheme' in (await received(await frameOf(silent.page), 'hello')))
  },
)

t.test(
  'with the attribute history the address of the page follows the frame, and the frame the address',
  async (t) => {
    const { page } = await openHost({ src, history: '', path: 'rules' }, { path: '?a=1#rules/7?tab=history' })
    const frame = await frameOf(page)
    t.equal(frame.url(), `${consoleUrl}/embed/1/rules/7?tab=history#secret`)
    await say(frame, 'path', { path: 'rules' })
    await page.waitForURL(`${hostUrl}/?a=1#rules`)
    t.equal(await page.evaluate(() => history.length), 2, 'a step of the frame is one already')
    await page.evaluate(() => {
      location.hash = '#executions'
    })
    t.equal((await received(frame, 'open')).path, 'executions')
  },
)

t.test(
  'an element that is gone leaves nothing behind, and one that comes back makes a new frame',
  async (t) => {
    const { page, element } = await openHost({ src })
    await frameOf(page)
    await element.evaluate((one: AutomationRules) => {
      Object.assign(globalThis, { kept: one })
      one.remove()
      one.save()
      one.open('tasks')
    })
    t.notOk(
      await page.evaluate(() => {
        const { kept } = globalThis as unknown as { kept: Element }
        return kept.shadowRoot?.querySelector('iframe')
      }),
    )
    await page.evaluate(() => document.body.append((globalThis as unknown as { kept: Element }).kept))
    const frame = await frameOf(page)
    t.equal(frame.url(), `${consoleUrl}/embed/1/tasks#secret`)
  },
)

t.test('a src that is no url says so without its secret, and runs nothing', async (t) => {
  for (const bad of ['javascript:alert(1)', 'data:text/html,x', 'http://#secret']) {
    const { page } = await openHost({ src: bad })
    t.match(await told(page, 'error'), { message: /^src is no url of an embed session: [^#]+$/ }, bad)
    t.equal(page.frames().length, 1, bad)
  }
})

t.test('a frame that says nothing is told, with the origin that is perhaps in no list', async (t) => {
  const { page } = await openHost({ src: `${consoleUrl}/embed/silent#secret` }, { hasClock: true })
  while ((await allTold(page)).length === 0) await page.clock.fastForward(10_000)
  t.match(await told(page, 'error'), { message: `is ${hostUrl} in embedOrigins` })
})

t.test('a path never leaves the session', async (t) => {
  Object.assign(globalThis, { document: { baseURI: 'https://app.example.com/' } })
  t.teardown(() => Reflect.deleteProperty(globalThis, 'document'))
  const session = 'https://console.example.com/embed/1#secret'
  for (const path of ['../../w/x', '..', '..%2f..\\w', '\\..\\..\\w', './../2/rules', '//evil.example/../..'])
    t.match(
      findAddress(session, path)?.href,
      /^https:\/\/console\.example\.com\/embed\/1(\/.*)?#secret$/,
      path,
    )
  t.equal(findAddress(session, 'rules?q=a#b')?.href, 'https://console.example.com/embed/1/rules?q=a#secret')
  t.equal(findAddress('https://console.example.com//evil.example#s', '/x')?.host, 'console.example.com')
})

t.test('where there is no page, importing the element does nothing', async (t: Test) => {
  await t.resolves(import('../src/embed/index.js'))
})
