import type { Administrator } from '@automation/access'
import { findMailTemplateFaults } from '@automation/engine'
import {
  createEmailTemplate,
  deleteEmailTemplate,
  EmailTemplate,
  EmailTemplateToCreate,
  EmailTemplateToUpdate,
  findEmailTemplateFaults,
  updateEmailTemplate,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { bodyFaults } from '../../plugins/validation.js'
import { Id, refusalResponses } from '../../responses.js'
import { refuseFaults } from '../rules/check-rule.js'
import { resource } from './read.js'

const TemplateParams = Type.Object({ id: Id })

/** A partial update is a PATCH; PUT does the same. */
const updates = [
  {
    method: 'PUT',
    operationId: 'updateEmailTemplate',
    summary: 'Update any subset of the fields of an email template',
  },
  {
    method: 'PATCH',
    operationId: 'patchEmailTemplate',
    summary: 'Update any subset of the fields of an email template, like PUT',
  },
] as const

export const templateWriteRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/', {
    attachValidation: true,
    config: { role: 'editor', key: 'change' },
    schema: {
      operationId: 'createEmailTemplate',
      summary: 'Create an email template for SEND_EMAIL',
      description:
        'SEND_EMAIL names it in `template`. It needs a text, an HTML part or both. A name that is in use is 409 with `name_taken`; a workspace has at most 200 templates.',
      body: EmailTemplateToCreate,
      response: { 201: EmailTemplate, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { body, validationError } = request
      refuseFaults([...bodyFaults(validationError ?? {}), ...findEmailTemplateFaults(body)])
      const create = (administrator: Administrator) => createEmailTemplate(administrator, body)
      const present = (template: EmailTemplate) => {
        return { status: 201, headers: { location: `${app.prefix}/${template.id}` }, body: template }
      }
      return sendStored(reply, await changeOnce(request, create, present))
    },
  })

  for (const { method, operationId, summary } of updates)
    app.route({
      method,
      url: '/:id',
      attachValidation: true,
      config: { role: 'editor', resource },
      schema: {
        operationId,
        summary,
        description:
          'Fields that you omit stay, and null removes a part. Emails that are already waiting use the new text, too.',
        params: TemplateParams,
        body: EmailTemplateToUpdate,
        response: { 200: EmailTemplate, ...refusalResponses(404, 409, 413, 415, 422) },
      },
      handler: async (request) => {
        const { body, params, validationError } = request
        refuseFaults([...bodyFaults(validationError ?? {}), ...findMailTemplateFaults(body)])
        return updateEmailTemplate(administratorOf(request), params.id, body)
      },
    })

  app.delete('/:id', {
    config: { role: 'editor', resource },
    schema: {
      operationId: 'deleteEmailTemplate',
      summary: 'Delete an email template. Actions that name it then send the built-in email',
      description: 'Emails that are waiting use the built-in email, too.',
      params: TemplateParams,
      response: { 204: Type.Null(), ...refusalResponses(404, 413, 415) },
    },
    handler: async (request, reply) => {
      await deleteEmailTemplate(administratorOf(request), request.params.id)
      return reply.status(204).send(null)
    },
  })
}
