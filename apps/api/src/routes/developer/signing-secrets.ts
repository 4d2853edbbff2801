import {
  type Administrator,
  Counterparty,
  createSigningSecret,
  findSecretFaults,
  listSigningSecrets,
  NewSigningSecret,
  putSigningSecret,
  readSigningSecret,
  retireSigningSecret,
  revokeSigningSecret,
  type Sealer,
  SecretDirection,
  SigningSecret,
  SigningSecretToCreate,
  SigningSecretToPut,
} from '@automation/access'
import { capitalize, findDurationFault, parseDuration } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { cutList } from '../../lists/page.js'
import { fillMissingBody } from '../../plugins/bodies.js'
import { bodyFaults } from '../../plugins/validation.js'
import { Id, NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { presentCreated } from './present-created.js'

const defaultOverlap = '24h'
const Retirement = Type.Object(
  {
    overlap: Type.Optional(
      Type.String({
        default: defaultOverlap,
        description: 'How long the secret remains valid: an integer with s, m, h, d or w, at most 366 days',
      }),
    ),
  },
  { additionalProperties: false, title: 'SigningSecretToRetire' },
)

export const signingSecretRoutes: FastifyPluginAsyncTypebox<{ sealer: Sealer }> = async (app, { sealer }) => {
  app.get('/', {
    config: { role: 'admin' },
    schema: {
      operationId: 'listSigningSecrets',
      summary: 'List the signing secrets, including retired and revoked secrets, newest first',
      description: 'The list has all secrets in use, and the newest of the others, at most 1,000 together.',
      querystring: Type.Object({
        direction: Type.Optional(SecretDirection),
        provider: Type.Optional(Counterparty),
        ...PageQuery,
      }),
      response: {
        200: Type.Object(
          { data: Type.Array(SigningSecret), nextCursor: NextCursor },
          { title: 'SigningSecretList' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace }) =>
      cutList(await listSigningSecrets(workspace.database, query), query, {
        list: 'signing-secrets',
        placeOf: ({ id }) => id,
        isNewestFirst: true,
      }),
  })

  app.post('/', {
    config: { role: 'admin', key: 'change' },
    schema: {
      operationId: 'createSigningSecret',
      summary: 'Create a signing secret. Only this response contains its text',
      description:
        'An incoming secret signs the webhooks of a provider, in the way that `scheme` names. The secrets in use of a provider have one scheme (409, `scheme_in_use`). If the provider has made the secret, send it as `secret`. An outgoing secret signs webhooks that the service sends.',
      body: SigningSecretToCreate,
      response: { 201: NewSigningSecret, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const faults = findSecretFaults(request.body)
      if (faults.length > 0) throw refusals.invalid(faults)
      const create = (administrator: Administrator) =>
        createSigningSecret(administrator, sealer, request.body)
      const present = (secret: NewSigningSecret) => presentCreated(`${app.prefix}/${secret.id}`, secret)
      return sendStored(reply, await changeOnce(request, create, present, 'secret'))
    },
  })

  app.get('/:id', {
    config: { role: 'admin' },
    schema: {
      operationId: 'getSigningSecret',
      summary: 'Get a signing secret, without its text',
      description: 'As in the list, also if it was retired or revoked.',
      params: Type.Object({ id: Id }),
      response: { 200: SigningSecret, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }) => readSigningSecret(workspace.database, params.id),
  })

  app.put('/:id', {
    config: { role: 'admin' },
    schema: {
      operationId: 'putSigningSecret',
      summary: 'Store the text that the provider has made, or other settings of the scheme',
      description:
        'For an incoming secret that is in use. What is omitted stays; `settings` replace all earlier ones. The previous text is not valid from then on: to rotate without a gap, create a second secret.',
      params: Type.Object({ id: Id }),
      body: SigningSecretToPut,
      response: { 200: SigningSecret, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request) =>
      putSigningSecret(administratorOf(request), sealer, request.params.id, request.body),
  })

  app.post('/:id/retire', {
    attachValidation: true,
    config: { role: 'admin', key: 'change' },
    preValidation: fillMissingBody,
    schema: {
      operationId: 'retireSigningSecret',
      summary: 'Retire a signing secret. It remains valid while the sender switches to the next secret',
      description:
        'Use it to rotate without a gap: create the next secret, give it to the sender, and retire the old one with an overlap. A secret that was revoked or has retired is 409.',
      params: Type.Object({ id: Id }),
      body: Retirement,
      response: { 200: SigningSecret, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const faults = bodyFaults(request.validationError ?? {})
      const { overlap = defaultOverlap } = request.body
      // A value that is not a text was reported as a fault of shape already.
      const overlapMs = parseDuration(typeof overlap === 'string' ? overlap : defaultOverlap)
      if (overlapMs === undefined)
        faults.push({ field: 'overlap', message: capitalize(String(findDurationFault(`${overlap}`))) })
      if (overlapMs === undefined || faults.length > 0) throw refusals.invalid(faults)
      const retire = (administrator: Administrator) =>
        retireSigningSecret(administrator, request.params.id, overlapMs)
      const present = (body: SigningSecret) => ({ status: 200, headers: {}, body })
      return sendStored(reply, await changeOnce(request, retire, present))
    },
  })

  app.delete('/:id', {
    config: { role: 'admin' },
    schema: {
      operationId: 'revokeSigningSecret',
      summary: 'Revoke a signing secret with immediate effect',
      description: 'Use it after a leak: the next webhook that it signs is refused. To rotate, retire it.',
      params: Type.Object({ id: Id }),
      response: { 204: Type.Null(), ...refusalResponses(404, 413, 415) },
    },
    handler: async (request, reply) => {
      await revokeSigningSecret(administratorOf(request), request.params.id)
      return reply.status(204).send(null)
    },
  })
}
