import {
  type Administrator,
  ApiKey,
  ApiKeyToCreate,
  createApiKey,
  findApiKey,
  findExpiryFault,
  listApiKeys,
  NewApiKey,
  revokeApiKey,
} from '@automation/access'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { cutList } from '../../lists/page.js'
import { bodyFaults } from '../../plugins/validation.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { presentCreated } from './present-created.js'

export const apiKeyRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      operationId: 'listApiKeys',
      summary: 'List the API keys, including expired and revoked keys, newest first',
      description: 'The list has all keys in use and the newest of the others, at most 1,000 together.',
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object({ data: Type.Array(ApiKey), nextCursor: NextCursor }, { title: 'ApiKeyList' }),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace }) =>
      cutList(await listApiKeys(workspace.database), query, {
        list: 'api-keys',
        placeOf: ({ id }) => id,
        isNewestFirst: true,
      }),
  })

  app.post('/', {
    attachValidation: true,
    config: { role: 'admin', key: 'change' },
    schema: {
      operationId: 'createApiKey',
      summary: 'Create an API key. Only this response contains its text',
      description:
        'Store the text at once: it cannot be read again. Give a key the fewest scopes, and an expiry. A workspace has at most 100 keys in use (409, `limit_reached`).',
      body: ApiKeyToCreate,
      response: { 201: NewApiKey, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const faults = bodyFaults(request.validationError ?? {})
      const { expiresAt } = request.body
      const expiryFault = typeof expiresAt === 'string' ? findExpiryFault(expiresAt) : undefined
      if (expiryFault !== undefined) faults.push({ field: 'expiresAt', message: expiryFault })
      if (faults.length > 0) throw refusals.invalid(faults)
      const create = (administrator: Administrator) => createApiKey(administrator, request.body)
      const present = (key: NewApiKey) => presentCreated(`${app.prefix}/${key.id}`, key)
      return sendStored(reply, await changeOnce(request, create, present, 'key'))
    },
  })

  app.get('/:id', {
    config: { role: 'admin' },
    schema: {
      operationId: 'getApiKey',
      summary: 'Get an API key, without its text',
      description: 'As in the list, also if it has expired or was revoked.',
      params: Type.Object({ id: Id }),
      response: { 200: ApiKey, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }) => findApiKey(workspace.database, params.id),
  })

  app.delete('/:id', {
    config: { role: 'admin' },
    schema: {
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key with immediate effect',
      description:
        'The next request with the key is 401. A key that was revoked already stays revoked, and the response is the same.',
      params: Type.Object({ id: Id }),
      response: { 204: Type.Null(), ...refusalResponses(404, 413, 415) },
    },
    handler: async (request, reply) => {
      await revokeApiKey(administratorOf(request), request.params.id)
      return reply.status(204).send(null)
    },
  })
}
