import type { FastifyInstance } from 'fastify'

/** Listens until the benchmark ends or stops this process. */
export async function serve(app: FastifyInstance): Promise<void> {
  const stop = () => process.exit()
  process.on('SIGTERM', stop)
  process.on('disconnect', stop)
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  process.send?.({ ready: true, port: Number(port) })
}
