import { readOrExit } from '@automation/environment'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.js'
import { readConfig } from './config.js'

const config = readOrExit(readConfig)
const app = await buildApp(config)

closeWithGrace({ delay: 25_000, logger: app.log }, async ({ err }) => {
  if (err) app.log.error({ err }, 'shutting down after an error')
  await app.close()
})
// A parent process with an IPC channel is notified when this process is ready, and this process ends with its parent.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
if (process.connected === false) process.kill(process.pid, 'SIGTERM')

await app.listen({ host: config.host, port: config.port })
process.send?.({
  ready: true,
  port: (app.server.address() as { port: number }).port,
  metricsPort: app.metricsPort,
})
