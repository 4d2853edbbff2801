import { Combobox } from '../../../parts/combobox.js'
import { useFault } from './faults.js'

interface Props {
  path: string
  value: string
  change: (zone: string) => void
}

/** The zone of this browser. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone

const zones = [...new Set([ownZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((value) => ({
  value,
  hint: value === ownZone ? 'of this browser' : '',
}))

/** The time zone of a time of the clock. */
export function ZoneChip({ path, value, change }: Props) {
  const fault = useFault(path)
  return (
    <span class="config">
      <span class="words">in zone</span>
      <Combobox
        label="Time zone"
        path={path}
        look={`chip value-chip ${value === '' ? 'empty-chip' : fault.look}`}
        placeholder="Europe/Berlin"
        value={value}
        options={zones}
        change={change}
        takesFirst
        {...fault.own}
      />
      {fault.text}
    </span>
  )
}
