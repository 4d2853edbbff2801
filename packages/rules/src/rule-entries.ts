import type { Entry } from '@automation/access'
import type { Saved } from './save-rules.js'

// What the audit log and the subscribers are told of rules, whoever changes them.

export function tellCreated({ id, name }: { id: string; name: string }): Entry {
  return { action: 'rule.created', subject: id, details: { name } }
}

/** undefined where nothing has changed. */
export function tellUpdated({ rule, changed, ...rest }: Saved): Entry | undefined {
  if (changed.length === 0) return undefined
  return { action: 'rule.updated', subject: rule.id, details: { changed, version: rule.version, ...rest } }
}

export function tellDeleted({ id, name }: { id: string; name: string }, cancelled: number): Entry {
  return { action: 'rule.deleted', subject: id, details: { name, cancelled } }
}
