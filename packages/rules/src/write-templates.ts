import type { NewAuditEntry } from '@automation/access'
import { Refused } from '@automation/access'
import { newId, postgresNow, type WorkspaceTransaction } from '@automation/database'
import { maxTemplates } from './template-schemas.js'

/** The content of a template; null for a mail without this part. */
export interface TemplateFields {
  name: string
  text: string | null
  html: string | null
}

export interface TemplateRow extends TemplateFields {
  id: string
  createdAt: Date
  updatedAt: Date
}

/**
 * Inserts templates, under the lock of the workspace and with names that are free.
 *
 * @throws Refused where the workspace would have more than 200
 */
export async function insertTemplates(
  { emailTemplate }: Pick<WorkspaceTransaction, 'emailTemplate'>,
  workspaceId: string,
  inputs: TemplateFields[],
): Promise<TemplateRow[]> {
  if (inputs.length === 0) return []
  if ((await emailTemplate.count()) + inputs.length > maxTemplates)
    throw new Refused('limit_reached', `A workspace may have ${maxTemplates} email templates`)
  const now = new Date(postgresNow())
  const rows = inputs.map(({ name, text, html }) => {
    return { id: newId(), workspaceId, name, text, html, createdAt: now, updatedAt: now }
  })
  await emailTemplate.createMany({ data: rows })
  return rows
}

/** Saves a changed template, under the lock of the workspace and with a name that is free. */
export async function saveTemplate(
  { emailTemplate }: Pick<WorkspaceTransaction, 'emailTemplate'>,
  before: TemplateRow,
  { name, text, html }: TemplateFields,
): Promise<{ row: TemplateRow; entry: NewAuditEntry }> {
  const changed = listTemplateChanges(before, { name, text, html })
  // Workers identify a version by this time: two changes within a millisecond must not share it.
  const updatedAt = new Date(Math.max(postgresNow(), before.updatedAt.getTime() + 1))
  const row = await emailTemplate.update({ where: { id: before.id }, data: { name, text, html, updatedAt } })
  return { row, entry: { action: 'email_template.updated', subject: row.id, details: { name, changed } } }
}

export function listTemplateChanges(before: TemplateFields, after: TemplateFields): string[] {
  return (['name', 'text', 'html'] as const).filter((field) => after[field] !== before[field])
}

export function createdTemplateEntry({ id, name }: { id: string; name: string }): NewAuditEntry {
  return { action: 'email_template.created', subject: id, details: { name } }
}

export function deletedTemplateEntry({ id, name }: { id: string; name: string }): NewAuditEntry {
  return { action: 'email_template.deleted', subject: id, details: { name } }
}
