/** The number of failed logins that an address may have within a minute. */
const allowed = 10
const windowMs = 60_000
/** Beyond this number of addresses the oldest is forgotten, so that unknown clients use bounded memory. */
const maxAddresses = 1_000

/** Counts failures per address, in windows that begin with the first failure. */
export function limitFailures(now: () => number = Date.now) {
  const windows = new Map<string, { count: number; endsAt: number }>()

  return {
    /** How long the address must wait; 0 if it may try now. */
    waitSeconds(address: string): number {
      const window = windows.get(address)
      if (window === undefined || window.count < allowed) return 0
      return Math.max(0, Math.ceil((window.endsAt - now()) / 1_000))
    },
    note(address: string): void {
      const window = windows.get(address)
      if (window && now() < window.endsAt) {
        window.count++
        return
      }
      windows.delete(address)
      windows.set(address, { count: 1, endsAt: now() + windowMs })
      const [oldest] = windows.keys()
      if (windows.size > maxAddresses && oldest !== undefined) windows.delete(oldest)
    },
  }
}
