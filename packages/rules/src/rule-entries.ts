import type { NewAuditEntry } from '@automation/access'
import type { Saved } from './save-rules.js'

// Entries of the audit log for changes of rules. Subscribers receive the same details.

export function createdEntry({ id, name }: { id: string; name: string }): NewAuditEntry {
  return { action: 'rule.created', subject: id, details: { name } }
}

/** @returns undefined where nothing has changed */
export function updatedEntry({ rule, changed, ...rest }: Saved): NewAuditEntry | undefined {
  if (changed.length === 0) return undefined
  const isSwitchOff = changed.every((field) => field === 'isActive') && !rule.isActive
  const details = { changed, version: rule.version, ...rest }
  return { action: 'rule.updated', subject: rule.id, details, isSwitchOff }
}

export function deletedEntry({ id, name }: { id: string; name: string }, cancelled: number): NewAuditEntry {
  return { action: 'rule.deleted', subject: id, details: { name, cancelled } }
}
