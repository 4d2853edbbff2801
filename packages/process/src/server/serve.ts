import closeWithGrace from 'close-with-grace'
import type { FastifyInstance } from 'fastify'

/** How long (s) a process may take to end: requests under way get their responses. */
const graceSeconds = 25

/** Serves an app until the process is asked to end: the whole life of a process that has nothing else to wait for. */
export async function serve(
  app: FastifyInstance,
  { host, port }: { host: string; port: number },
): Promise<void> {
  endGracefully(app)
  await app.listen({ host, port })
  reportReady(app)
}

/**
 * Closes the app at SIGTERM, at SIGINT, after an error, and when the parent process has ended.
 *
 * @param drain what comes before, and how long (s) it takes: nothing after an error
 */
export function endGracefully(
  app: FastifyInstance,
  drain: { seconds: number; run(): Promise<void> } = { seconds: 0, run: async () => {} },
): void {
  closeWithGrace({ delay: (graceSeconds + drain.seconds) * 1_000, logger: app.log }, async ({ err }) => {
    if (err) app.log.error({ err }, 'shutting down after an error')
    else await drain.run()
    await app.close()
  })
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  if (process.connected === false) process.kill(process.pid, 'SIGTERM')
}

/** Notifies a parent process with an IPC channel that this process is ready, and on which ports. */
export function reportReady(app: FastifyInstance & { metricsPort?: number | undefined }): void {
  const { port } = app.server.address() as { port: number }
  process.send?.({ ready: true, port, metricsPort: app.metricsPort })
}
