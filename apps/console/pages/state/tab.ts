import { keptInTab } from './browser-store.js'

/** How long (ms) a page that is loaded anew waits for the one before to let go. */
const handOverMs = 2_000
/** Where the browser has no locks, a tab that has kept something within so long (ms) may be open. */
const recentMs = 60_000

/** Locks are shared by the pages of an origin: a frame has none, and has nothing of other tabs. */
const locks = inFrame ? undefined : navigator.locks

const nameOf = (tab: string) => `tab:${tab}`

/**
 * What this tab is called, also after a reload. It holds a lock of this name as long as it is open. "Duplicate tab" copies the name: then the
 * lock is taken, and the copy gets a name of its own.
 */
export const ownTab: Promise<string> = begin()

async function begin(): Promise<string> {
  const known = keptInTab.get('tab')
  if (known !== null && (await hold(known))) return known
  const own = crypto.randomUUID()
  keptInTab.set('tab', own)
  await hold(own)
  return own
}

function hold(tab: string): Promise<boolean> {
  if (locks === undefined) return Promise.resolve(true)
  return new Promise((settle) => {
    const isOpen = () => {
      settle(true)
      return new Promise<never>(() => {})
    }
    locks.request(nameOf(tab), { signal: AbortSignal.timeout(handOverMs) }, isOpen).catch(() => settle(false))
  })
}

/** @returns whether a tab is open, which has kept something at that time (epoch ms) */
export async function findOpenTabs(): Promise<(tab: string, keptAt: number) => boolean> {
  if (locks === undefined) return (_, keptAt) => Date.now() - keptAt < recentMs
  try {
    const { held = [] } = await locks.query()
    const names = new Set(held.map(({ name }) => name))
    return (tab) => names.has(nameOf(tab))
  } catch {
    // Nobody knows: then nothing is taken from a tab.
    return () => true
  }
}

/** Does it while a tab is gone and cannot come back. @returns undefined: it is open, or another tab does something for it */
export async function whileGone<Result>(tab: string, work: () => Result): Promise<Result | undefined> {
  if (locks === undefined) return work()
  return locks
    .request(nameOf(tab), { ifAvailable: true }, (lock) => (lock ? work() : undefined))
    .catch(() => undefined)
}

/** Until a tab is gone, or nobody wants to know it any more. One that is loaded anew is there again. */
export async function waitUntilGone(tab: string, signal: AbortSignal): Promise<void> {
  await locks?.request(nameOf(tab), { signal }, () => {}).catch(() => {})
}
