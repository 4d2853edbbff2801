import { useState } from 'preact/hooks'
import { type RecentSpan, spans } from '../logic/filters.js'
import { formatTime, readMoment, writeMoment } from '../logic/format-time.js'
import { zone } from '../state/preferences.js'
import { Field } from './field.js'
import { Icon } from './icon.js'
import { Popover } from './popover.js'
import { now } from './when.js'

interface Times {
  last?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

interface Props {
  query: Times
  /** What is shown if the address names no time; 'any': all of it. */
  usual: RecentSpan | 'any'
  set: (times: { last: string; from: string; to: string }) => void
}

/** Which time a list shows: a span that ends now, or from one moment to another one, by a clock of 24 hours in the zone of the page. */
export function TimeFilter({ query, usual, set }: Props) {
  return (
    <Popover
      label="Time"
      button={
        <>
          <Icon name="clock" /> {nameTimes(query, usual)} <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <TimeForm
          query={query}
          usual={usual}
          set={(times) => {
            close()
            set(times)
          }}
        />
      )}
    </Popover>
  )
}

function nameTimes({ last, from, to }: Times, usual: Props['usual']): string {
  const at = (iso: string) => formatTime(iso, zone.value, now.value)
  if (from !== undefined && to !== undefined) return `${at(from)} – ${at(to)}`
  if (from !== undefined) return `since ${at(from)}`
  if (to !== undefined) return `until ${at(to)}`
  const span = spans[(last ?? usual) as RecentSpan]
  return span?.label ?? 'Any time'
}

const wrong = 'Must be a time such as 2026-11-27 14:00, or 14:00 of today'

function TimeForm({ query, usual, set }: Props) {
  const [from, setFrom] = useState(writeMoment(query.from, zone.value))
  const [to, setTo] = useState(writeMoment(query.to, zone.value))
  const [faults, setFaults] = useState<{ from?: string; to?: string }>({})
  const choose = (last: string) => set({ last: last === usual ? '' : last, from: '', to: '' })
  function apply(): void {
    const read = (text: string) => (text.trim() === '' ? '' : readMoment(text, zone.value, new Date()))
    const [begin, end] = [read(from), read(to)]
    const found = {
      ...(begin === undefined && { from: wrong }),
      ...(end === undefined && { to: wrong }),
      ...(begin && end && begin >= end && { to: 'Must be after the first time' }),
    }
    setFaults(found)
    if (Object.keys(found).length === 0) set({ last: '', from: begin ?? '', to: end ?? '' })
  }
  return (
    <form
      class="time-form"
      onSubmit={(event) => {
        event.preventDefault()
        apply()
      }}
    >
      <div class="row">
        {usual === 'any' && (
          <button type="button" class="small" onClick={() => choose('any')}>
            Any time
          </button>
        )}
        {Object.entries(spans).map(([name, { label }]) => (
          <button key={name} type="button" class="small" onClick={() => choose(name)}>
            {label}
          </button>
        ))}
      </div>
      <Field label={`From (${zone.value === 'UTC' ? 'UTC' : 'your time'})`} fault={faults.from}>
        {(own) => (
          <input
            {...own}
            value={from}
            placeholder="2026-11-27 14:00"
            autocomplete="off"
            onInput={({ currentTarget }) => setFrom(currentTarget.value)}
          />
        )}
      </Field>
      <Field label="Until" hint="Empty: until now" fault={faults.to}>
        {(own) => (
          <input
            {...own}
            value={to}
            placeholder="2026-11-27 15:00"
            autocomplete="off"
            onInput={({ currentTarget }) => setTo(currentTarget.value)}
          />
        )}
      </Field>
      <div class="row end">
        <button type="submit" class="primary">
          Show
        </button>
      </div>
    </form>
  )
}
