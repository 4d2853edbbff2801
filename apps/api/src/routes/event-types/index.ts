import { type Administrator, orNull } from '@automation/access'
import { eventTypeDefinitions, isReservedType } from '@automation/engine'
import {
  createEventType,
  deleteEventType,
  EventTypeToCreate,
  EventTypeToUpdate,
  OwnEventType,
  updateEventType,
} from '@automation/rules'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeOnce } from '../../acceptance/idempotency/change-once.js'
import { sendStored } from '../../acceptance/idempotency/stored-response.js'
import { administratorOf } from '../../access/administrator.js'
import { refusals } from '../../errors.js'
import { NextCursor, PageQuery, refusalResponses } from '../../responses.js'
import { fieldRoutes } from './fields.js'

const ListedEventType = Type.Object(
  {
    ...OwnEventType.properties,
    isOwn: Type.Boolean({ description: 'false: a type of the catalogue, which every workspace has' }),
    createdAt: orNull(OwnEventType.properties.createdAt),
  },
  { title: 'ListedEventType' },
)

const defaultLimit = 100

export const eventTypeRoutes: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(fieldRoutes)
  app.get('/', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'listEventTypes',
      summary: 'List event types: those of the catalogue, then those of the workspace',
      description: 'Use it to offer the triggers of rules: each type has a description.',
      querystring: Type.Object(PageQuery),
      response: {
        200: Type.Object(
          { eventTypes: Type.Array(ListedEventType), nextCursor: NextCursor },
          { title: 'EventTypePage' },
        ),
        ...refusalResponses(),
      },
    },
    handler: async ({ query: { limit = defaultLimit, cursor }, workspace }) => {
      const own = await workspace.reads.ownEventType.findMany({ orderBy: { name: 'asc' } })
      const all = [
        ...eventTypeDefinitions.map(({ type, description }) => {
          return { name: type as string, description: description as string, isOwn: false, createdAt: null }
        }),
        ...own.map(({ name, description, createdAt }) => {
          return { name, description, isOwn: true, createdAt: createdAt.toISOString() }
        }),
      ]
      const start = cursor === undefined ? 0 : findStart(all, readName(cursor))
      const eventTypes = all.slice(start, start + limit)
      const last = eventTypes.at(-1)
      const hasMore = start + limit < all.length
      return { eventTypes, nextCursor: hasMore && last ? writeName(last.name) : null }
    },
  })

  app.post('/', {
    config: { role: 'editor', key: 'change' },
    schema: {
      operationId: 'createEventType',
      summary: 'Create an event type of the workspace',
      description:
        'Rules, triggers, webhooks and EMIT_EVENT accept it like the types of the catalogue. All processes know it within a second.',
      body: EventTypeToCreate,
      response: { 201: OwnEventType, ...refusalResponses(409, 413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { name } = request.body
      if (isReservedType(name)) throw refusals.invalidTriggerType(name, 'name')
      const create = async (administrator: Administrator) => {
        const created = await createEventType(administrator, request.body)
        app.eventTypes.forget(request.workspace.id)
        return created
      }
      const present = (type: OwnEventType) => {
        return { status: 201, headers: { location: `${app.prefix}/${type.name}` }, body: type }
      }
      return sendStored(reply, await changeOnce(request, create, present))
    },
  })

  app.patch('/:name', {
    config: { role: 'editor' },
    schema: {
      operationId: 'updateEventType',
      summary: 'Change the description of an event type of the workspace',
      description: 'Its name stays: rules and events have it. Types of the catalogue cannot be changed.',
      params: Type.Object({ name: Type.String({ description: 'Name of the event type' }) }),
      body: EventTypeToUpdate,
      response: { 200: OwnEventType, ...refusalResponses(404, 409, 413, 415, 422) },
    },
    handler: async (request) => updateEventType(administratorOf(request), request.params.name, request.body),
  })

  app.delete('/:name', {
    config: { role: 'editor' },
    schema: {
      operationId: 'deleteEventType',
      summary: 'Delete an event type of the workspace that no rule uses. Its events stay',
      description:
        'A type that a rule, or the settings of a signing secret, use is 409 with `event_type_in_use`, and one of the catalogue 409 with `event_type_of_catalogue`.',
      params: Type.Object({ name: Type.String({ description: 'Name of the event type' }) }),
      response: { 204: Type.Null(), ...refusalResponses(404, 409, 413, 415) },
    },
    handler: async (request, reply) => {
      await deleteEventType(administratorOf(request), request.params.name)
      app.eventTypes.forget(request.workspace.id)
      return reply.status(204).send(null)
    },
  })
}

/** The type after the last one of a page, also where that was deleted: those of the workspace are in the order of their names. */
function findStart(all: { name: string; isOwn: boolean }[], last: string): number {
  const index = all.findIndex(({ name }) => name === last)
  if (index !== -1) return index + 1
  const next = all.findIndex(({ name, isOwn }) => isOwn && name > last)
  return next === -1 ? all.length : next
}

const namePrefix = 'event type '

function writeName(name: string): string {
  return Buffer.from(namePrefix + name).toString('base64url')
}

function readName(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (!text.startsWith(namePrefix)) throw refusals.invalidCursor()
  return text.slice(namePrefix.length)
}
