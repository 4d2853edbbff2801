import type { WorkLimits } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { readRoutes } from './read.js'
import { writeRoutes } from './write.js'

/** What the mails of SEND_EMAIL are written with. */
export const emailTemplateRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  await app.register(readRoutes, { workLimits })
  await app.register(writeRoutes)
}
