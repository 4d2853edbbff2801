import { type RecentSpan, spans } from '../logic/filters.js'

export function SpanSelect({
  span,
  usual,
  set,
}: {
  span: RecentSpan
  usual: RecentSpan
  set: (span: RecentSpan) => void
}) {
  return (
    <label>
      Time
      <select
        value={span}
        onChange={({ currentTarget }) =>
          set((currentTarget.value === usual ? '' : currentTarget.value) as RecentSpan)
        }
      >
        {Object.entries(spans).map(([name, { label }]) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}
