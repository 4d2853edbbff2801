/** So many failed logins are an address's own business for a minute. */
const allowed = 10
const windowMs = 60_000
/** Beyond so many addresses the oldest is forgotten: what strangers send takes bounded memory. */
const maxAddresses = 1_000

/** Counts failures by address, in windows that begin with the first of them. */
export function limitFailures(now: () => number = Date.now) {
  const windows = new Map<string, { count: number; endsAt: number }>()

  return {
    /** 0: may try. */
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
