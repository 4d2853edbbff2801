import { formatDuration } from '../logic/format-time.js'
import { Due } from './due.js'
import { now } from './when.js'

/** Until when something waits. */
export function Countdown({ until }: { until: string | null }) {
  if (until === null) return <span class="quiet">not asked yet</span>
  const ms = Date.parse(until) - now.value.getTime()
  return (
    <span class={ms < 3_600_000 ? 'wait' : ''}>
      <Due at={until} /> <span class="quiet">({ms > 0 ? `in ${formatDuration(ms)}` : 'over'})</span>
    </span>
  )
}
