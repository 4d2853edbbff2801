import { signal } from '@preact/signals'
import { formatBoth, formatTime } from '../logic/format-time.js'
import { zone } from '../state/preferences.js'

/** Ticks once a minute, so that no page says what is no longer so. */
export const now = signal(new Date())
setInterval(() => {
  now.value = new Date()
}, 60_000)

export function When({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="quiet">never</span>
  return (
    <time dateTime={at} title={formatBoth(at)}>
      {formatTime(at, zone.value, now.value)}
    </time>
  )
}
