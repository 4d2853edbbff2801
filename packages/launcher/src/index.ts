export { findChromiumBinary } from './binaries/chromium-binary.js'
export { findIn } from './binaries/find-on-path.js'
export { findPostgresTools, type PostgresTools } from './binaries/postgres-tools.js'
export { findServerUser } from './binaries/server-user.js'
export { CannotStart } from './cannot-start.js'
export { welcomeRule } from './demo/welcome-rule.js'
export { entries, useModules } from './entries.js'
export { createPrivateDatabase } from './product/private-database.js'
export {
  type ApiProcess,
  type BoardProcess,
  type ConsoleProcess,
  type Product,
  startProduct,
} from './product/product.js'
export type { ProductOptions } from './product/product-options.js'
export { type NodeProcess, startNode } from './product/start-node.js'
export { makeTemporaryDirectory, type TemporaryDirectory } from './product/temporary-directory.js'
export { findFreePort } from './servers/ports.js'
export { type PostgresOptions, startPostgres } from './servers/postgres.js'
export { type RedisOptions, startRedis } from './servers/redis.js'
export { type Exit, type RunningProcess, runProcess, waitUntilReady } from './servers/running-process.js'
export type { Server } from './servers/server.js'
