import { type Span, spans } from '../logic/filters.js'

export function SpanSelect({ span, usual, set }: { span: Span; usual: Span; set: (span: Span) => void }) {
  return (
    <label>
      Time
      <select
        value={span}
        onChange={({ currentTarget }) =>
          set((currentTarget.value === usual ? '' : currentTarget.value) as Span)
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
