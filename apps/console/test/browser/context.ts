import type { openBrowser } from '@automation/launcher/open-browser'
import type { Page } from 'playwright-core'
import type { startProductWithConsole } from '../fixtures/product.js'

/** What the tests of the page share. */
export type Context = Awaited<ReturnType<typeof startProductWithConsole>> & {
  browser: Awaited<ReturnType<typeof openBrowser>>
}

/** In `npm test` one in so many, drawn by the seed of the run: others for the next place. In the long run all. */
export function draw<T>(all: readonly T[], of: number, place: number): readonly T[] {
  return all.filter((_, index) => isDrawn(of, index + place))
}

export function isDrawn(of: number, place: number): boolean {
  const { TEST_LONG, TEST_SEED = '1' } = process.env
  return TEST_LONG !== undefined || (place + Number(TEST_SEED)) % of === 0
}

/** Goes to a screen as a link of the page does: without loading the page anew. */
export async function go(page: Page, url: string): Promise<void> {
  await page.evaluate((target) => {
    history.pushState(null, '', target)
    dispatchEvent(new PopStateEvent('popstate'))
  }, url)
  await settle(page)
}

/** Keeps requests that change something on the way. @param isHeld of the body of one */
export async function holdRequests(
  page: Page,
  url: RegExp,
  isHeld: (body: { dryRun?: boolean }) => boolean = () => true,
) {
  let waiting: (() => void)[] = []
  let came = () => {}
  await page.route(url, async (route) => {
    const request = route.request()
    if (request.method() !== 'GET' && isHeld(request.postDataJSON()))
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        came()
      })
    await route.fallback()
  })
  return {
    /** Lets them go on, once there is one. */
    async release() {
      if (waiting.length === 0)
        await new Promise<void>((resolve) => {
          came = resolve
        })
      for (const goOn of waiting) goOn()
      waiting = []
    },
  }
}

/** Waits until the screen shows what it has to show: until somebody is known, it is a heading alone. */
export async function settle(page: Page): Promise<void> {
  try {
    await page.locator('h1').first().waitFor()
    await page.waitForFunction(
      () =>
        document.querySelector('.loading, .first, .bars.pending, .screen-head:last-child') === null &&
        !document.body.innerText.includes('Checking…'),
    )
  } catch (error) {
    throw new Error(`${page.url()} is not settled:\n${await page.innerText('body')}`, { cause: error })
  }
}

/** In the page: nothing is read again because some time has passed. What appears then was announced, or follows a change. */
export function stopPolling(): void {
  window.setInterval = (() => 0) as never
}

/** What the focused control is called. */
export function readFocused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLInputElement | null
    const labels = [...(element?.labels ?? [])].map(
      (one) => one.querySelector('.label')?.textContent ?? one.textContent,
    )
    return (element?.getAttribute('aria-label') ?? labels[0] ?? element?.textContent ?? '').trim()
  })
}

/** Presses a key until a control with this name has the focus. */
export async function tabTo(page: Page, name: string | RegExp, key = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press(key)
    const label = await readFocused(page)
    if (typeof name === 'string' ? label === name : name.test(label)) return
  }
  throw new Error(`No control ${name} within 60 presses`)
}

/** Opens a part of the preview beside a rule. */
export async function openPreview(page: Page, part: 'Events' | 'Backtest' | 'Findings'): Promise<void> {
  await page
    .getByRole('region', { name: 'Preview' })
    .getByRole('button', { name: new RegExp(`^${part}`) })
    .click()
}

/** Adds a condition to the rule, as somebody types it. @param words of the comparison, as they are shown */
export async function addCondition(page: Page, field: string, words: string, value: string): Promise<void> {
  await page.getByRole('button', { name: 'Condition', exact: true }).last().click()
  const last = (name: string) => page.getByRole('combobox', { name, exact: true }).last()
  await last('Field').fill(field)
  await last('Comparison').fill(words)
  await last('Comparison').press('Enter')
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Value')
  await page.keyboard.type(value)
}

/** Types the words of a choice into its chip. */
export async function choose(page: Page, label: string, words: string): Promise<void> {
  const box = page.getByRole('combobox', { name: label, exact: true }).last()
  await box.fill(words)
  await box.press('Enter')
}

/** Types the beginning of a name, and takes it from what is offered. */
export async function take(page: Page, typed: string, name: string): Promise<void> {
  await page.keyboard.type(typed)
  await page.getByRole('option', { name }).first().waitFor()
  await page.keyboard.press('Enter')
}

/** Waits until a control with this label has the focus. */
export function waitForFocus(page: Page, label: string): Promise<unknown> {
  return page.waitForFunction(
    (wanted) => document.activeElement?.getAttribute('aria-label') === wanted,
    label,
  )
}

/** To look at what a test has reached: `LOOK_AT=<directory>` takes pictures, light and dark. */
export async function look(page: Page, name: string): Promise<void> {
  const directory = process.env.LOOK_AT
  if (directory === undefined) return
  const before = page.viewportSize()
  for (const width of [390, 1024, 1440])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.screenshot({ path: `${directory}/${name}-${width}-${colorScheme}.png` })
    }
  if (before) await page.setViewportSize(before)
}
