import fp from 'fastify-plugin'
import { linkNext } from '../lists/link-next.js'

/** Links each page of a list to the next one. A list that is written as text does so itself. */
export default fp(
  async (app) => {
    app.addHook('preSerialization', (request, reply, payload: { nextCursor?: unknown } | null, done) => {
      // The cursor of a search is in its body.
      if (typeof payload?.nextCursor === 'string' && request.method !== 'POST')
        linkNext(reply, payload.nextCursor)
      done(null, payload)
    })
  },
  { name: 'paging' },
)
