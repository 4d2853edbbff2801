import { AsyncLocalStorage } from 'node:async_hooks'
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findChromiumBinary } from './binaries/chromium-binary.js'

interface BrowserOwner {
  teardown(close: () => Promise<unknown>): void
}

export interface Visit {
  page: Page
  /** Every URL that the page requested. */
  hosts: Set<string>
  /** The error messages of the page, but for an API that asks to come again later: the page does so, and its tests wait for what comes. */
  complaints: string[]
}

/** When (ms) a wait is given up: a limit of wall-clock time fails a healthy page on a busy machine, so this one only ends what hangs. */
const longestWaitMs = 90_000

/** Opens a headless Chromium with a fresh profile. It makes no requests of its own and resolves no host names. */
export async function openBrowser(owner: BrowserOwner) {
  const browser = await chromium.launch({
    executablePath: await findChromiumBinary(),
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      // A process of its own for drawing would take some more CPU.
      '--in-process-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-proxy-server',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      // As browsers are that keep no cookies of other sites: a frame has none.
      '--test-third-party-cookie-phaseout',
    ],
  })
  owner.teardown(() => browser.close())
  const opened = new AsyncLocalStorage<BrowserContext[]>()

  return {
    /** Closes the pages that a test has opened when it ends: they would go on asking and drawing. */
    async closeAfter(test: () => Promise<unknown>): Promise<void> {
      const contexts: BrowserContext[] = []
      await opened.run(contexts, test).finally(() => Promise.all(contexts.map((context) => context.close())))
    },

    /** Opens a page in a new context, without the login of another visit. */
    async visit(options: BrowserContextOptions = {}): Promise<Visit> {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
      opened.getStore()?.push(context)
      context.setDefaultTimeout(longestWaitMs)
      const hosts = new Set<string>()
      const complaints: string[] = []
      context.on('request', (request) => {
        const { protocol, host } = new URL(request.url())
        if (protocol !== 'data:') hosts.add(host)
      })
      context.on('console', (message) => {
        const isLater = / status of 50[34] /.test(message.text())
        if (message.type() === 'error' && !isLater) complaints.push(message.text())
      })
      context.on('weberror', (error) => complaints.push(String(error.error())))
      return { page: await context.newPage(), hosts, complaints }
    },
  }
}
