import type { WorkLimits } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { bulkReplayRoutes } from './bulk-replay.js'
import { eventListRoutes } from './list.js'
import { newestRoutes } from './newest.js'
import { postRoutes } from './post.js'
import { postBatchRoutes } from './post-batch.js'
import { eventReadRoutes } from './read.js'
import { replayRoutes } from './replay.js'
import { sampleRoutes } from './samples.js'
import { searchRoutes } from './search.js'
import { whyRoutes } from './why.js'

/** What comes in: let it in, look it up, and let it come in again. */
export const eventRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  await app.register(postRoutes, { workLimits })
  await app.register(postBatchRoutes)
  await app.register(eventListRoutes, { workLimits })
  await app.register(sampleRoutes)
  await app.register(newestRoutes)
  await app.register(eventReadRoutes)
  await app.register(searchRoutes, { workLimits })
  await app.register(whyRoutes, { workLimits })
  await app.register(replayRoutes)
  await app.register(bulkReplayRoutes)
}
