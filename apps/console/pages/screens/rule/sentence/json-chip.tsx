import type { ComponentChildren } from 'preact'
import { Popover } from '../../../parts/popover.js'
import { JsonInput } from './json-input.js'

interface Props {
  label: string
  path: string
  value: unknown
  change: (value: unknown) => void
  children: ComponentChildren
}

/** What the sentence has no words for: it is kept as it is, and edited as JSON. */
export function JsonChip({ label, path, value, change, children }: Props) {
  return (
    <Popover
      label={label}
      look="chip value-chip"
      button={
        <>
          <span class="cut">{children}</span> <span class="quiet">in JSON</span>
        </>
      }
    >
      {() => <JsonInput label={label} path={path} value={value} change={change} rows={10} />}
    </Popover>
  )
}
