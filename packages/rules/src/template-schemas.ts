import { type Fault, findMailTemplateFaults } from '@automation/engine'
import { Type } from 'typebox'

/** Of one workspace. */
export const maxTemplates = 200

export const TemplateName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Name that SEND_EMAIL actions use',
})
// One schema and not a union, so that a fault is reported once.
export const MailText = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  minLength: 1,
  maxLength: 100_000,
  description:
    'Text with placeholders such as {{path | filter}} for variables of the action and data of the event. null for an email without this part.',
})

export const EmailTemplateToCreate = Type.Object(
  { name: TemplateName, text: Type.Optional(MailText), html: Type.Optional(MailText) },
  { additionalProperties: false, title: 'EmailTemplateToCreate' },
)
export type EmailTemplateToCreate = Type.Static<typeof EmailTemplateToCreate>
export const EmailTemplateToUpdate = Type.Partial(EmailTemplateToCreate, {
  additionalProperties: false,
  title: 'EmailTemplateToUpdate',
})

/** Finds the faults of a template's two texts that the schema does not find. */
export function findEmailTemplateFaults({ text, html }: { text?: unknown; html?: unknown }): Fault[] {
  const hasNone = (text ?? null) === null && (html ?? null) === null
  return [
    ...(hasNone ? [{ field: 'text', message: 'Required if there is no html' }] : []),
    ...findMailTemplateFaults({ text, html }),
  ]
}
