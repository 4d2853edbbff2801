import { signal } from '@preact/signals'
import { toast } from './toasts.js'

/** Whether the console can be reached, as far as the browser has noticed. */
export const isConnected = signal(true)

addEventListener('offline', async () => {
  // The browser speaks of its network: a console on the same machine can still be there.
  isConnected.value = await isReachable()
})

addEventListener('online', () => {
  if (!isConnected.value) toast('The connection is back')
  isConnected.value = true
})

export async function isReachable(): Promise<boolean> {
  try {
    const response = await fetch('/icon.svg', {
      method: 'HEAD',
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(5_000),
    })
    return response.ok
  } catch {
    return false
  }
}
