import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findChromiumBinary } from '@automation/launcher'
import { openBrowser } from '@automation/launcher/open-browser'
import { startProductWithConsole } from './fixtures/product.js'

// Prints the median of five scores that Lighthouse gives each screen, as a desktop loads it, and the titles of failed audits. npx downloads
// Lighthouse, so it needs the network.
//   node packages/launcher/dist/src/with-services.js node apps/console/dist/test/measure-lighthouse.js

const version = '12.8.2'
const runs = 5
/** The first of them is seen without a session. */
const screens = [
  'sign-in',
  'overview',
  'events',
  'executions',
  'rules',
  'rules/new',
  'webhooks',
  'reconciliation',
  'access',
]
const categories = ['performance', 'accessibility', 'best-practices']

interface Result {
  finalDisplayedUrl: string
  categories: Record<string, { score: number | null }>
  audits: Record<string, { score: number | null; title: string; scoreDisplayMode: string }>
}

const closings: (() => Promise<unknown>)[] = []
const owner = { teardown: (close: () => Promise<unknown>) => void closings.unshift(close) }
const browser = await openBrowser(owner)
const { makeWorkspace, consoleUrl } = await startProductWithConsole(owner)
const { client, visit } = await makeWorkspace()
for (let index = 0; index < 50; index++) await client.trigger('LEAD_CREATED', { name: `Lead ${index}` })
const { page, at } = await visit(browser)
const cookies = await page.context().cookies()
const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
console.log(`Lighthouse ${version}${categories.map((name) => name.padStart(16)).join('')}`)
for (const screen of screens) {
  const url = screen === 'sign-in' ? `${consoleUrl}/sign-in` : at(screen)
  const results: Result[] = []
  while (results.length < runs) results.push(await runLighthouse(url))
  const scores = categories.map((name) =>
    `${Math.round(100 * findMedian(results.map(({ categories }) => categories[name]?.score ?? 0)))}`.padStart(
      16,
    ),
  )
  console.log(`${screen.padEnd(17)}${scores.join('')}`)
  for (const { score, title, scoreDisplayMode } of Object.values(results[0]?.audits ?? {}))
    if (scoreDisplayMode === 'binary' && score === 0) console.log(`  ${title}`)
}
for (const close of closings) await close()

function findMedian(scores: readonly number[]): number {
  return scores.toSorted((left, right) => left - right)[Math.floor(scores.length / 2)] ?? 0
}

async function runLighthouse(url: string): Promise<Result> {
  const options = [
    ...['--quiet', '--preset=desktop', '--output=json', '--output-path=stdout'],
    `--only-categories=${categories.join()}`,
    ...(url.endsWith('/sign-in') ? [] : [`--extra-headers=${JSON.stringify({ cookie })}`]),
    '--chrome-flags=--headless=new --no-sandbox --disable-gpu',
  ]
  const { stdout } = await promisify(execFile)('npx', ['--yes', `lighthouse@${version}`, url, ...options], {
    env: { ...process.env, CHROME_PATH: await findChromiumBinary() },
    maxBuffer: 100_000_000,
  })
  const result: Result = JSON.parse(stdout)
  if (result.finalDisplayedUrl !== url) throw new Error(`${url} led to ${result.finalDisplayedUrl}`)
  return result
}
