import {
  createSigningSecret,
  listSigningSecrets,
  NewSigningSecret,
  Provider,
  retireSigningSecret,
  revokeSigningSecret,
  type Sealer,
  SecretDirection,
  SigningSecret,
  SigningSecretToCreate,
} from '@automation/access'
import { parseDuration } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { fillMissingBody } from '../../plugins/bodies.js'
import { bodyFaults } from '../../plugins/validation.js'
import { Id, refusalResponses } from '../responses.js'

const defaultOverlap = '24h'
const Retirement = Type.Object(
  {
    overlap: Type.Optional(
      Type.String({
        default: defaultOverlap,
        description: 'for how long it still signs: an integer with s, m, h, d or w, at most 366 days',
      }),
    ),
  },
  { additionalProperties: false },
)

export const signingSecretRoutes: FastifyPluginAsyncTypebox<{ sealer: Sealer }> = async (app, { sealer }) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      tags: ['Administration'],
      summary: 'List the signing secrets, newest first; those that are retired or revoked too',
      querystring: Type.Object({
        direction: Type.Optional(SecretDirection),
        provider: Type.Optional(Provider),
      }),
      response: { 200: Type.Object({ data: Type.Array(SigningSecret) }), ...refusalResponses() },
    },
    handler: async ({ query, workspace }) => ({
      data: await listSigningSecrets(workspace.database, query),
    }),
  })

  app.post('/', {
    config: { role: 'admin' },
    schema: {
      tags: ['Administration'],
      summary: 'Create a signing secret, for a provider or for what we send; its text is shown this once',
      body: SigningSecretToCreate,
      response: { 201: NewSigningSecret, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const secret = await createSigningSecret(administratorOf(request), sealer, request.body)
      return reply
        .status(201)
        .headers({ location: `${app.prefix}/${secret.id}`, 'cache-control': 'no-store' })
        .send(secret)
    },
  })

  app.post('/:id/retire', {
    attachValidation: true,
    config: { role: 'admin' },
    preValidation: fillMissingBody,
    schema: {
      tags: ['Administration'],
      summary: 'Retire a signing secret: it signs for a while longer, until its sender has the next one',
      params: Type.Object({ id: Id }),
      body: Retirement,
      response: { 200: SigningSecret, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request) => {
      const faults = bodyFaults(request.validationError ?? {})
      const { overlap = defaultOverlap } = request.body
      // What is no text is a fault of shape, told already, and may be anything.
      const overlapMs = parseDuration(typeof overlap === 'string' ? overlap : defaultOverlap)
      if (overlapMs === undefined)
        faults.push({
          field: 'overlap',
          message: 'Must be a duration such as 30m, 24h or 7d, at most 366 days',
        })
      if (overlapMs === undefined || faults.length > 0) throw refusals.invalid(faults)
      return retireSigningSecret(administratorOf(request), request.params.id, overlapMs)
    },
  })

  app.delete('/:id', {
    config: { role: 'admin' },
    schema: {
      tags: ['Administration'],
      summary: 'Revoke a signing secret: from the next webhook on it signs nothing',
      params: Type.Object({ id: Id }),
      response: { 204: Type.Null(), ...refusalResponses(404, 413, 415) },
    },
    handler: async (request, reply) => {
      await revokeSigningSecret(administratorOf(request), request.params.id)
      return reply.status(204).send(null)
    },
  })
}
