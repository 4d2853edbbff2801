import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { listRoutes } from './list.js'
import { readRoutes } from './read.js'
import { replayRoutes } from './replay.js'
import { sampleRoutes } from './samples.js'

/** What came in: look it up, and let it come in again. */
export const eventRoutes: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(listRoutes)
  await app.register(sampleRoutes)
  await app.register(readRoutes)
  await app.register(replayRoutes)
}
