import {
  Credential,
  CredentialToPatch,
  CredentialToPut,
  findCredentialFaults,
  isCredentialName,
  listCredentials,
  patchCredential,
  putCredential,
  readCredential,
  type Sealer,
} from '@automation/access'
import { deleteCredential } from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { cutList } from '../../lists/page.js'
import { bodyFaults } from '../../plugins/validation.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'

const CredentialParams = Type.Object({
  name: Type.String({ description: 'Name of the credential, as in {{credentials.NAME}}' }),
})

export const credentialRoutes: FastifyPluginAsyncTypebox<{ sealer: Sealer }> = async (app, { sealer }) => {
  app.get('/', {
    config: { role: 'viewer', callers: { support: false } },
    schema: {
      operationId: 'listCredentials',
      summary: 'List the credentials of the workspace, by name',
      description: 'No response contains their values. A workspace has at most 200.',
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object(
          { data: Type.Array(Credential), nextCursor: NextCursor },
          { title: 'CredentialList' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async ({ query, workspace }) =>
      cutList(await listCredentials(workspace.database), query, {
        list: 'credentials',
        placeOf: ({ name }) => name,
      }),
  })

  app.get('/:name', {
    config: { role: 'viewer', callers: { support: false } },
    schema: {
      operationId: 'getCredential',
      summary: 'Get a credential, without its values',
      description: 'As the list has it: its kind, its hosts and its last use.',
      params: CredentialParams,
      response: { 200: Credential, ...refusalResponses(404) },
    },
    handler: async ({ params, workspace }) => readCredential(workspace.database, params.name),
  })

  app.put('/:name', {
    attachValidation: true,
    config: { role: 'admin' },
    schema: {
      operationId: 'putCredential',
      summary: 'Create a credential, or replace its values and hosts',
      description:
        'Calls send it as `{{credentials.NAME}}`, and only to its hosts. It is stored encrypted, and no response contains it. 201: the credential is new. 200: all of its values and hosts were replaced; calls use them within a second, and rules stay as they are.',
      params: CredentialParams,
      body: CredentialToPut,
      response: {
        200: { ...Credential, 'x-response-description': 'The credential existed before' },
        201: { ...Credential, 'x-response-description': 'The credential is new' },
        ...refusalResponses(409, 413, 415, 422),
      },
    },
    handler: async (request, reply) => {
      const { name } = request.params
      const faults = [
        ...(isCredentialName(name)
          ? []
          : [
              {
                field: 'name',
                message: 'Must be a letter, then at most 63 letters, digits, dashes or underscores',
              },
            ]),
        ...bodyFaults(request.validationError ?? {}),
        ...findCredentialFaults(request.body),
      ]
      if (faults.length > 0) throw refusals.invalid(faults)
      const { credential, isNew } = await putCredential(administratorOf(request), sealer, name, request.body)
      return reply.status(isNew ? 201 : 200).send(credential)
    },
  })

  app.patch('/:name', {
    config: { role: 'admin' },
    schema: {
      operationId: 'patchCredential',
      summary: 'Change part of a credential',
      description:
        'Fields that you omit stay as they are; null removes `scope` or `audience`. Its kind stays. With another `tokenUrl`, or a host that it was not for, its secrets have to be sent, too (422).',
      params: CredentialParams,
      body: CredentialToPatch,
      response: { 200: Credential, ...refusalResponses(404, 413, 415, 422) },
    },
    handler: async (request) =>
      patchCredential(administratorOf(request), sealer, request.params.name, request.body),
  })

  app.delete('/:name', {
    config: { role: 'admin' },
    schema: {
      operationId: 'deleteCredential',
      summary: 'Delete a credential that no active rule and no draft uses',
      description:
        'One that is in use is 409 with `credential_in_use`, and the message says where. A waiting execution that still names it fails at its call.',
      params: CredentialParams,
      response: { 204: Type.Null(), ...refusalResponses(404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      await deleteCredential(administratorOf(request), request.params.name)
      return reply.status(204).send(null)
    },
  })
}
