import { listPlaceholderUses, type PlaceholderUse } from '@automation/engine'
import { pathKey } from './atoms.js'
import type { CheckedRule } from './finding.js'

/** A placeholder of an action, with the path of its text in the rule. */
export interface PlacedPlaceholder extends PlaceholderUse {
  readonly place: string
  /** The field of the config, such as `to`. */
  readonly field: string
}

type Action = CheckedRule['actions'][number]

export function listActionPlaceholders(action: Action, place: string): PlacedPlaceholder[] {
  return Object.entries(action.config).flatMap(([field, value]) =>
    listTexts(value, `${place}.config.${field}`, field),
  )
}

function listTexts(value: unknown, place: string, field: string): PlacedPlaceholder[] {
  if (typeof value === 'string') return listPlaceholderUses(value).map((use) => ({ ...use, place, field }))
  if (Array.isArray(value))
    return value.flatMap((item, index) => listTexts(item, `${place}[${index}]`, field))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => listTexts(item, `${place}.${key}`, field))
}

/** Values with which the configs of the actions fit, by the path that a placeholder reads. */
export function sampleValues(actions: readonly Action[]): Map<string, unknown> {
  const samples = new Map<string, unknown>()
  for (const action of actions) {
    for (const { path, field, isWhole } of listActionPlaceholders(action, '')) {
      const key = pathKey(path)
      const sample = isWhole ? sampleOf(field) : 'x'
      if (!samples.has(key) || sample !== 'x') samples.set(key, sample)
    }
  }
  return samples
}

function sampleOf(field: string): unknown {
  if (/^(?:to|cc|bcc|replyTo)$/.test(field)) return 'ada@example.com'
  if (field === 'url') return 'https://example.com/'
  if (field === 'duration' || field === 'dueIn') return '1h'
  return field === 'data' ? {} : 'x'
}
