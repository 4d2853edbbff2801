import {
  ApiKey,
  ApiKeyToCreate,
  createApiKey,
  findExpiryFault,
  listApiKeys,
  NewApiKey,
  revokeApiKey,
} from '@automation/access'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { bodyFaults } from '../../plugins/validation.js'
import { Id, refusalResponses } from '../responses.js'

export const apiKeyRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      tags: ['Administration'],
      summary: 'List the API keys, newest first; those that are expired or revoked too',
      response: { 200: Type.Object({ data: Type.Array(ApiKey) }), ...refusalResponses() },
    },
    handler: async ({ workspace }) => ({ data: await listApiKeys(workspace.database) }),
  })

  app.post('/', {
    attachValidation: true,
    config: { role: 'admin' },
    schema: {
      tags: ['Administration'],
      summary: 'Create an API key; its text is shown this once',
      body: ApiKeyToCreate,
      response: { 201: NewApiKey, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const faults = bodyFaults(request.validationError ?? {})
      const { expiresAt } = request.body
      const expiryFault = typeof expiresAt === 'string' ? findExpiryFault(expiresAt) : undefined
      if (expiryFault !== undefined) faults.push({ field: 'expiresAt', message: expiryFault })
      if (faults.length > 0) throw refusals.invalid(faults)
      const key = await createApiKey(administratorOf(request), request.body)
      return reply
        .status(201)
        .headers({ location: `${app.prefix}/${key.id}`, 'cache-control': 'no-store' })
        .send(key)
    },
  })

  app.delete('/:id', {
    config: { role: 'admin' },
    schema: {
      tags: ['Administration'],
      summary: 'Revoke an API key: from the next request on it is none',
      params: Type.Object({ id: Id }),
      response: { 204: Type.Null(), ...refusalResponses(404, 413, 415) },
    },
    handler: async (request, reply) => {
      await revokeApiKey(administratorOf(request), request.params.id)
      return reply.status(204).send(null)
    },
  })
}
