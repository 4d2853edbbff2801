import { orNull } from '@automation/access'
import { escapeLike } from '@automation/database'
import { findDoubtfulPlaceholders, findMailTemplateFaults, type WorkLimits } from '@automation/engine'
import { EmailTemplate, findEmailTemplate } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { refusals } from '../../errors.js'
import type { Resource } from '../../etag.js'
import { cutPage, pageArguments } from '../../lists/page.js'
import { SearchText } from '../../lists/search-text.js'
import { warnOfTexts } from '../../long-numbers.js'
import { fillMissingBody } from '../../plugins/bodies.js'
import { bodyFaults } from '../../plugins/validation.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { refuseFaults } from '../rules/check-rule.js'

/** A list contains no texts: those of 200 templates may be 40 million characters. */
const ListedTemplate = Type.Omit(EmailTemplate, ['text', 'html'], { title: 'EmailTemplateSummary' })
const TemplateListQuery = Type.Object({
  ...PageQuery,
  q: Type.Optional(Type.String({ ...SearchText, description: 'Text that the name contains' })),
})

const Values = Type.Object({}, { additionalProperties: true })
const MailToPreview = Type.Object(
  {
    data: Type.Optional({ ...Values, description: 'Data of the event' }),
    variables: Type.Optional({
      ...Values,
      description: 'Variables of the action, with their placeholders already rendered',
    }),
    subject: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Subject of the action, with its placeholders',
      }),
    ),
  },
  { additionalProperties: false, title: 'MailToPreview' },
)
const Part = orNull(Type.String())
const MailPreview = Type.Object(
  {
    subject: Part,
    text: Part,
    html: Part,
    warnings: Type.Array(Type.String({ description: 'For example, a placeholder whose field is missing' })),
  },
  { title: 'PreviewedMail' },
)

const TemplateParams = Type.Object({ id: Id })
const defaultLimit = 50

/** What If-Match of a change is compared with. */
export const resource: Resource = (transaction, { params }) =>
  findEmailTemplate(transaction, (params as Type.Static<typeof TemplateParams>).id)

export const templateReadRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listEmailTemplates',
      summary: 'List the email templates without their texts, newest first',
      description: 'Read one template to get its texts.',
      querystring: TemplateListQuery,
      response: {
        200: Type.Object(
          { emailTemplates: Type.Array(ListedTemplate), nextCursor: NextCursor },
          { title: 'EmailTemplatePage' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace: { reads: database } }) => {
      const limit = query.limit ?? defaultLimit
      const { where, ...page } = pageArguments(query, limit)
      const contains = escapeLike(query.q ?? '')
      const templates = await database.emailTemplate.findMany({
        where: { AND: [where, { name: { contains, mode: 'insensitive' } }] },
        select: { id: true, name: true, createdAt: true, updatedAt: true },
        ...page,
      })
      const cut = cutPage(templates, limit)
      return {
        emailTemplates: cut.page.map(({ createdAt, updatedAt, ...template }) => ({
          ...template,
          createdAt: createdAt.toISOString(),
          updatedAt: updatedAt.toISOString(),
        })),
        nextCursor: cut.nextCursor,
      }
    },
  })

  app.get('/:id', {
    config: { role: 'viewer', resource },
    schema: {
      operationId: 'getEmailTemplate',
      summary: 'Get an email template',
      description: 'With its text and its HTML part. Send its `ETag` as If-Match with a change.',
      params: TemplateParams,
      response: { 200: EmailTemplate, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }) => findEmailTemplate(workspace.database, params.id),
  })

  app.post('/:id/preview', {
    attachValidation: true,
    config: { role: 'viewer' },
    preValidation: fillMissingBody,
    schema: {
      operationId: 'previewEmailTemplate',
      summary: 'Preview the email that a template renders for an event. Nothing is sent',
      description:
        'Give the data of an event to see what the recipient gets, and which placeholders found nothing.',
      params: TemplateParams,
      body: MailToPreview,
      response: { 200: MailPreview, ...refusalResponses(404, 413, 415, 422) },
    },
    handler: async (request) => {
      const { body, params, validationError, workspace } = request
      // First of all: a body that is no object has no fields.
      const faults = bodyFaults(validationError ?? {})
      const { data = {}, variables = {}, subject = null } = body
      refuseFaults([...faults, ...findMailTemplateFaults({ subject })])
      const { text, html } = await findEmailTemplate(workspace.database, params.id)
      // A template that another version has stored may not be one here.
      refuseFaults(findMailTemplateFaults({ text, html }))
      const mail = await request.evaluate('renderMail', {
        texts: { subject, text, html },
        data,
        variables,
        limits: workLimits,
      })
      if ('fault' in mail) throw refusals.invalid([{ field: 'data', message: mail.fault }])
      const { warnings = [] } = warnOfTexts(request.longNumbers) ?? {}
      const doubtful = Object.entries({ subject, text, html }).flatMap(([field, value]) =>
        findDoubtfulPlaceholders(value, field),
      )
      return {
        ...mail,
        warnings: [
          ...[...warnings, ...doubtful].map(({ field, message }) => `${field}: ${message}`),
          ...mail.warnings,
        ],
      }
    },
  })
}
