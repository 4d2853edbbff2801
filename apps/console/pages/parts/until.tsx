import { readLocalTime, writeLocalTime } from '../logic/format-time.js'
import { zone } from '../state/preferences.js'

/** Jumps in a list to what came until a moment. Its zone is that of the page. */
export function Until({ to, set }: { to: string | undefined; set: (to: string) => void }) {
  return (
    <label>
      Until ({zone.value === 'UTC' ? 'UTC' : 'your time'})
      <input
        type="datetime-local"
        step="1"
        value={to === undefined ? '' : writeLocalTime(to, zone.value)}
        onChange={({ currentTarget }) => set(readLocalTime(currentTarget.value, zone.value) ?? '')}
      />
    </label>
  )
}
