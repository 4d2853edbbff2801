import { orNull } from '@automation/access'
import { findNewerEvents, mostNewer } from '@automation/history'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { checkQuery } from '../../lists/history-filter.js'
import { Id, refusalResponses } from '../../responses.js'
import { EventWatch } from '../../watching/event-watch.js'

const longestSeconds = 25

const NewestQuery = Type.Object({
  after: Type.Optional(Type.String({ description: 'Id of an event: only newer ones count' })),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: longestSeconds,
      description: 'Seconds to wait for a newer event. Default: 0.',
    }),
  ),
})

const NewestEvents = Type.Object(
  {
    newestId: orNull({
      ...Id,
      description: 'The newest event that is known, `after` if none is newer; null: there is no event',
    }),
    count: Type.Integer({
      minimum: 0,
      maximum: mostNewer,
      description: `Events that are newer than \`after\`, at most ${mostNewer}; 0 without \`after\``,
    }),
  },
  { title: 'NewestEvents' },
)

/** For a page that announces new events: it asks again and again, and each request waits for the next event. */
export const newestRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const watch = new EventWatch()
  // Otherwise the end of the process would wait for them.
  app.addHook('preClose', async () => watch.close())

  app.get('/newest', {
    config: { role: 'viewer' },
    schema: {
      operationId: 'getNewestEvents',
      summary: 'Wait for new events',
      description:
        'With `wait`, the response comes when an event is committed that is newer than `after`, or than all that there are, within about a second, or when the time is over. All who wait for events of a workspace share one query a second; if too many wait, the response comes at once.',
      querystring: NewestQuery,
      response: { 200: NewestEvents, ...refusalResponses() },
    },
    handler: async (request) => {
      const { query, workspace } = request
      checkQuery(NewestQuery, query)
      const { after, wait = 0 } = query
      const { id, reads } = workspace
      if (wait > 0) app.liftDeadline(request)
      const { newestId = null, count } = await watch.watch(id, {
        after: after?.toLowerCase(),
        waitMs: wait * 1_000,
        read: (floor) => findNewerEvents(reads, id, floor),
        isGone: () => request.raw.socket.destroyed,
      })
      return { newestId, count }
    },
  })
}
