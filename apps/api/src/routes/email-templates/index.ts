import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { readRoutes } from './read.js'
import { writeRoutes } from './write.js'

/** What the mails of SEND_EMAIL are written with. */
export const emailTemplateRoutes: FastifyPluginAsyncTypebox = async (app) => {
  await app.register(readRoutes)
  await app.register(writeRoutes)
}
