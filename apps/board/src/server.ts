import { readOrExit } from '@automation/environment'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.js'
import { readConfig } from './config.js'

const config = readOrExit(readConfig)
const app = await buildApp(config)

closeWithGrace({ delay: 25_000, logger: app.log }, async ({ err }) => {
  if (err) app.log.error({ err }, 'closing after a fault')
  await app.close()
})
// Whoever started this process over an IPC channel learns when it serves, and takes it along when it goes.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
if (process.connected === false) process.kill(process.pid, 'SIGTERM')

await app.listen({ host: config.host, port: config.port })
process.send?.({
  ready: true,
  port: (app.server.address() as { port: number }).port,
  metricsPort: app.metricsPort,
})
