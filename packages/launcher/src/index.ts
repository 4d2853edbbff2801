export { CannotStart } from './cannot-start.js'
export { findChromiumBinary } from './chromium-binary.js'
export { findFreePort } from './ports.js'
export { type PostgresOptions, startPostgres } from './postgres.js'
export { createPrivateDatabase } from './private-database.js'
export {
  type ApiProcess,
  type BoardProcess,
  type Product,
  type ProductOptions,
  startProduct,
} from './product.js'
export { type RedisOptions, startRedis } from './redis.js'
export type { Exit, RunningProcess } from './running-process.js'
export type { Server } from './server.js'
export { type NodeProcess, startNode } from './start-node.js'
export { makeTemporaryDirectory, type TemporaryDirectory } from './temporary-directory.js'
