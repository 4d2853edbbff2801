import type { WorkLimits } from '@automation/engine'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { templateReadRoutes } from './read.js'
import { templateWriteRoutes } from './write.js'

/** What the mails of SEND_EMAIL are written with. */
export const emailTemplateRoutes: FastifyPluginAsyncTypebox<{ workLimits: WorkLimits }> = async (
  app,
  { workLimits },
) => {
  await app.register(templateReadRoutes, { workLimits })
  await app.register(templateWriteRoutes)
}
