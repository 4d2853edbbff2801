import type { ObservedFields } from '@automation/check'
import type { EventTypeFields } from '@automation/client'
import { useMemo } from 'preact/hooks'
import { show } from '../../logic/show.js'
import type { Option } from '../../parts/combobox.js'
import { api } from '../../state/session.js'
import { useQuery } from '../../state/use-query.js'

/** What the newest events of a type have, for suggestions and for findings. */
export interface Fields {
  options: Option[]
  /** The most frequent values of a field. */
  valuesOf: (path: string) => unknown[]
  /** A value of each kind that the field has; undefined if no event has it. */
  tellingOf: (path: string) => unknown[] | undefined
  observed: ObservedFields & EventTypeFields
}

/** Surveys the newest 1,000 events. @param isWanted false: nothing is read yet. @returns undefined until they are known */
export function useFields(trigger: string, isWanted: boolean): Fields | undefined {
  const found = useQuery<EventTypeFields>({
    key: isWanted ? ['fields', trigger] : undefined,
    read: () => api().eventTypes.fields(trigger),
    pollMs: false,
  })
  return useMemo(() => (found.data === undefined ? undefined : readFields(found.data)), [found.data])
}

type Field = EventTypeFields['fields'][number]

function readFields(observed: EventTypeFields): Fields {
  const { fields } = observed
  const byPath = new Map(fields.map((field) => [field.path, field]))
  return {
    options: fields.map((field) => ({ value: field.path, hint: hintOf(field) })),
    valuesOf: (path) => byPath.get(path)?.top.map(({ value }) => value) ?? [],
    tellingOf: (path) => byPath.get(path) && tellingOf(byPath.get(path) as Field),
    observed,
  }
}

/** The frequent values of a list are those of its items. */
function tellingOf({ kinds, top }: Field): unknown[] {
  const samples = { list: [], object: {}, null: null }
  return [
    ...(kinds.includes('list') ? [] : top.map(({ value }) => value)),
    ...kinds.flatMap((kind) => (kind in samples ? [samples[kind as keyof typeof samples]] : [])),
  ]
}

/** `number, 10 to 95, in 98 %`. */
function hintOf({ kinds, share, smallest, largest, top }: Field): string {
  const values =
    smallest !== undefined && largest !== undefined && smallest < largest
      ? `${smallest} to ${largest}`
      : top
          .slice(0, 2)
          .map(({ value }) => show(value))
          .join(' ')
  return [kinds.join(' or '), values, ...(share < 1 ? [`in ${Math.round(share * 100)} %`] : [])]
    .filter((part) => part !== '')
    .join(', ')
}
