import { useId, useState } from 'preact/hooks'
import { parseSearch } from '../logic/history/parse-search.js'

interface Props {
  /** As the address has it. */
  value: string
  /** Fields that events have. */
  fields: readonly string[]
  set: (text: string) => void
}

/** Looks for events by their data: by Enter, or once the field is left. */
export function DataSearch({ value, fields, set }: Props) {
  const id = useId()
  // What is typed stays, also where it cannot be read.
  const [text, setText] = useState(value)
  const [fault, setFault] = useState<string>()
  const look = (typed: string) => {
    const parsed = parseSearch(typed)
    const found = 'fault' in parsed ? parsed.fault : undefined
    setFault(found)
    if (found === undefined && typed !== value) set(typed)
  }
  return (
    <div class="data-search">
      <label>
        Data
        <input
          type="search"
          value={text}
          list={`${id}-fields`}
          maxLength={500}
          placeholder="ada, score > 80, country = DE"
          aria-invalid={fault ? 'true' : undefined}
          aria-describedby={fault ? `${id}-fault` : undefined}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value)
            if (currentTarget.value === '') look('')
          }}
          onChange={({ currentTarget }) => look(currentTarget.value.trim())}
        />
      </label>
      <datalist id={`${id}-fields`}>
        {fields.map((field) => (
          <option key={field} value={`${field} = `} />
        ))}
      </datalist>
      {fault && (
        <span id={`${id}-fault`} role="alert" class="sub bad">
          {fault}
        </span>
      )}
    </div>
  )
}
