import { type Hours, readDayNames, writeDayNames } from '../../../logic/editing/hours.js'
import { DayChips } from './day-chips.js'
import { TimeChip } from './time-chip.js'
import { ZoneChip } from './zone-chip.js'

interface Props {
  path: string
  hours: Hours
  change: (hours: Hours) => void
}

/** Hours of the week: Mo Tu We Th Fr *from* 09:00 *to* 17:00 *in zone* Europe/Berlin. An end before the beginning is one of the next day. */
export function HoursChips({ path, hours, change }: Props) {
  const set = (changes: Partial<Hours>) => change({ ...hours, ...changes })
  return (
    <span class="chips">
      <DayChips
        label="Days"
        days={readDayNames(hours.days) ?? []}
        change={(days) => set({ days: writeDayNames(days) })}
      />
      <span class="words">from</span>
      <TimeChip label="From" path={`${path}.from`} value={hours.from} change={(from) => set({ from })} />
      <span class="words">to</span>
      <TimeChip label="To" path={`${path}.to`} value={hours.to} isEnd change={(to) => set({ to })} />
      <ZoneChip path={`${path}.timezone`} value={hours.timezone} change={(timezone) => set({ timezone })} />
    </span>
  )
}
