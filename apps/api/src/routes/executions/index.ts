import type { WorkLimits } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { acknowledgeRoutes } from './acknowledge.js'
import { cancelRoutes } from './cancel.js'
import { executionListRoutes } from './list.js'
import { executionReadRoutes } from './read.js'
import { retryRoutes } from './retry.js'

/** What rules did: look it up, do again what failed, and cancel what waits. */
export const executionRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  await app.register(executionListRoutes, { workLimits })
  await app.register(executionReadRoutes, { workLimits })
  await app.register(retryRoutes)
  await app.register(cancelRoutes)
  await app.register(acknowledgeRoutes)
}
