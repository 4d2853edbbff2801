import { type Administrator, changeWorkspace, DateTime, Refused } from '@automation/access'
import { isUuid, type WorkspaceTransaction } from '@automation/database'
import { Type } from 'typebox'
import {
  type EmailTemplateToCreate,
  type EmailTemplateToUpdate,
  findEmailTemplateFaults,
  MailText,
  TemplateName,
} from './template-schemas.js'
import {
  createdTemplateEntry,
  deletedTemplateEntry,
  insertTemplates,
  listTemplateChanges,
  saveTemplate,
  type TemplateRow,
} from './write-templates.js'

export const EmailTemplate = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: TemplateName,
    text: MailText,
    html: MailText,
    createdAt: DateTime,
    updatedAt: DateTime,
  },
  { title: 'EmailTemplate' },
)
export type EmailTemplate = Type.Static<typeof EmailTemplate>

/** @throws Refused where the template is faulty, its name is taken, or the workspace has 200 templates */
export function createEmailTemplate(
  administrator: Administrator,
  { name, text = null, html = null }: EmailTemplateToCreate,
): Promise<EmailTemplate> {
  const { workspaceId } = administrator
  return changeWorkspace(administrator, async (transaction) => {
    refuseFaultyTexts({ text, html })
    await refuseTakenName(transaction, workspaceId, name)
    const [row] = await insertTemplates(transaction, workspaceId, [{ name, text, html }])
    return { result: presentTemplate(row as TemplateRow), entry: createdTemplateEntry(row as TemplateRow) }
  })
}

/** @throws Refused where there is no such template, it would be faulty, or its new name is taken */
export function updateEmailTemplate(
  administrator: Administrator,
  id: string,
  fields: Type.Static<typeof EmailTemplateToUpdate>,
): Promise<EmailTemplate> {
  return changeWorkspace(administrator, async (transaction) => {
    const before = await findRow(transaction, id)
    const { name = before.name, text = before.text, html = before.html } = fields
    refuseFaultyTexts({ text, html })
    if (listTemplateChanges(before, { name, text, html }).length === 0)
      return { result: presentTemplate(before), entry: undefined }
    if (name !== before.name) await refuseTakenName(transaction, administrator.workspaceId, name)
    const { row, entry } = await saveTemplate(transaction, before, { name, text, html })
    return { result: presentTemplate(row), entry }
  })
}

/** Rules that name a deleted template send the built-in mail. @throws Refused where there is no such template */
export function deleteEmailTemplate(administrator: Administrator, id: string): Promise<void> {
  return changeWorkspace(administrator, async (transaction) => {
    const row = await findRow(transaction, id)
    await transaction.emailTemplate.delete({ where: { id } })
    return { result: undefined, entry: deletedTemplateEntry(row) }
  })
}

/** @throws Refused where there is no such template */
export async function findEmailTemplate(
  database: Pick<WorkspaceTransaction, 'emailTemplate'>,
  id: string,
): Promise<EmailTemplate> {
  return presentTemplate(await findRow(database, id))
}

function refuseFaultyTexts(texts: { text: string | null; html: string | null }): void {
  const [fault] = findEmailTemplateFaults(texts)
  if (fault) throw new Refused('validation_failed', fault.message, fault.field)
}

/** Changes of a workspace happen one after another, so a name that is free here is still free when it is written. */
async function refuseTakenName(
  { emailTemplate }: Pick<WorkspaceTransaction, 'emailTemplate'>,
  workspaceId: string,
  name: string,
): Promise<void> {
  const taken = await emailTemplate.findUnique({
    where: { workspaceId_name: { workspaceId, name } },
    select: { id: true },
  })
  if (taken) throw new Refused('name_taken', 'An email template of this name exists')
}

async function findRow({ emailTemplate }: Pick<WorkspaceTransaction, 'emailTemplate'>, id: string) {
  const row = isUuid(id) ? await emailTemplate.findUnique({ where: { id } }) : null
  if (row === null) throw new Refused('email_template_not_found', 'Email template not found')
  return row
}

function presentTemplate({ id, name, text, html, createdAt, updatedAt }: TemplateRow): EmailTemplate {
  return { id, name, text, html, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}
