import fp from 'fastify-plugin'

/**
 * A graceful end: requests under way are answered and told to close their connection. Without that word a kept-alive
 * connection would hold the process until its idle time is over.
 */
export default fp(async (app) => {
  let isClosing = false
  app.addHook('preClose', async () => {
    isClosing = true
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
})
