import type { Sealer } from '@automation/access'
import fp from 'fastify-plugin'
import { Type } from 'typebox'
import { findResponse } from '../acceptance/idempotency/find-response.js'
import { createKeptResponses, type KeptResponses } from '../acceptance/idempotency/kept-responses.js'
import {
  findUsedKey,
  IdempotencyHeader,
  keyTextOf,
  readRequestKey,
} from '../acceptance/idempotency/request-key.js'
import { sendStored } from '../acceptance/idempotency/stored-response.js'
import { refusals } from '../errors.js'

declare module 'fastify' {
  interface FastifyInstance {
    keptResponses: KeptResponses
    /** Of a secret in a request, for the hash of the request. */
    digestSecret: Sealer['digest']
  }
  interface FastifyContextConfig {
    /**
     * The route accepts an Idempotency-Key, and this is committed together with its key: a change (changeOnce), or an event (runEvent).
     * parts: each part of the body has a key of its own.
     */
    key?: 'change' | 'event' | 'parts'
  }
}

/**
 * Documents the key of all routes that accept one, answers repeats of changes, and refuses a key that would have no effect: its caller
 * relies on it. A repeat gets its response before the handler looks at anything: what the first request named may be deleted since, or its
 * time be over.
 */
export default fp<{ sealer: Sealer }>(
  async (app, { sealer }) => {
    app.decorate('keptResponses', createKeptResponses(app.database))
    app.decorate('digestSecret', (text) => sealer.digest(text))

    app.addHook('onRoute', (route) => {
      const { key } = route.config ?? {}
      if (key !== 'change' && key !== 'event') return
      const { properties } = (route.schema?.headers ?? {}) as { properties?: Record<string, Type.TSchema> }
      const headers = Type.Object({ ...IdempotencyHeader.properties, ...properties })
      route.schema = { ...route.schema, headers }
    })

    app.addHook('preHandler', async (request, reply) => {
      const { config } = request.routeOptions
      const text = keyTextOf(request)
      // What needs no role is sent by providers of webhooks, or reads what everybody may.
      if (text === undefined || config.role === undefined) return
      if (config.key === undefined) throw refusals.keyNotAccepted()
      // A faulty body was refused before, too. An event is looked for when its key is taken: most have a new one.
      if (config.key !== 'change' || request.validationError !== undefined) return
      const key = await findUsedKey(request, text, () => readRequestKey(request))
      const response = key && (await findResponse(request, key))
      if (response !== undefined) return sendStored(reply, response)
    })
  },
  { name: 'idempotency', dependencies: ['resources', 'bodies'] },
)
