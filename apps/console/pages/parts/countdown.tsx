import { formatDuration } from '../logic/format-time.js'
import { now, When } from './when.js'

/** How long something still waits. */
export function Countdown({ until }: { until: string | null }) {
  if (until === null) return <span class="quiet">not asked yet</span>
  const ms = Date.parse(until) - now.value.getTime()
  return (
    <span class={ms < 3_600_000 ? 'wait' : ''}>
      {ms > 0 ? formatDuration(ms) : 'over'} <span class="quiet">until</span> <When at={until} />
    </span>
  )
}
