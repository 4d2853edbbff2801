import { listLongFaults, readJson } from '@automation/engine'
import { useState } from 'preact/hooks'
import { TemplateInput } from '../../../parts/template-input.js'
import { filterOptions, useEditing } from './editing.js'

interface Props {
  label: string
  path: string
  value: unknown
  change: (value: unknown) => void
  rows?: number
}

/** Any JSON. Unfinished text stays, also in another tab and after a reload, while the rule keeps the last whole value. */
export function JsonInput({ label, path, value, change, rows = 4 }: Props) {
  const { suggestions, texts, keepText } = useEditing()
  const [typed, type] = useState(texts[path])
  const fault = typed === undefined ? undefined : parse(typed).fault
  // What is whole and means the value is shown as it was typed; after a change elsewhere the value is shown.
  const isOwn = typed !== undefined && (fault !== undefined || isSameJson(parse(typed).value, value))
  return (
    <>
      <TemplateInput
        label={label}
        path={path}
        look="code-chip"
        rows={rows}
        value={isOwn ? typed : (JSON.stringify(value, null, 2) ?? '')}
        fields={suggestions.fields}
        filters={filterOptions}
        isInvalid={fault !== undefined}
        hasOwnUndo
        change={(text) => {
          type(text)
          const next = parse(text)
          keepText(path, next.fault === undefined ? undefined : text)
          if (next.fault === undefined) change(next.value)
        }}
      />
      {fault !== undefined && <span class="sub bad">{fault}</span>}
    </>
  )
}

function isSameJson(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

function parse(text: string): { value?: unknown; fault?: string } {
  try {
    const { value, longNumbers } = readJson(text, () => false)
    const [fault] = listLongFaults(longNumbers)
    return fault ? { fault: `${fault.field} ${fault.message}.`.trim() } : { value }
  } catch {
    return { fault: 'This is not JSON yet.' }
  }
}
