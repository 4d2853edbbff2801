import { dayNames, weekOrder } from '../../../logic/editing/schedule-kinds.js'

interface Props {
  label: string
  /** 0 is Sunday. */
  days: readonly number[]
  change: (days: number[]) => void
}

/** The days of a week, each pressed or not. One of them stays. */
export function DayChips({ label, days, change }: Props) {
  const toggle = (day: number) => {
    const next = days.includes(day) ? days.filter((one) => one !== day) : [...days, day]
    if (next.length > 0) change(next)
  }
  return (
    <fieldset class="bare chips days" aria-label={label}>
      {weekOrder.map((day) => (
        <button
          key={day}
          type="button"
          class={`chip ${days.includes(day) ? 'field-chip' : 'empty-chip'}`}
          aria-pressed={days.includes(day)}
          onClick={() => toggle(day)}
        >
          <span aria-hidden="true">{dayNames[day]?.slice(0, 2)}</span>
          <span class="hidden">{dayNames[day]}</span>
        </button>
      ))}
    </fieldset>
  )
}
