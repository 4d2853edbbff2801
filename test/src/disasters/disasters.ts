import { cells } from './cells/cells.js'
import { clockPostgres, clocks } from './clocks.js'
import type { Disaster } from './disaster.js'
import { diskFullPostgres, diskFullRedis } from './disk-full.js'
import { diskFullMail } from './disk-full-mail.js'
import { memory } from './memory.js'
import { networkDisasters } from './network.js'
import { pgbouncer } from './pgbouncer.js'
import { pointInTime } from './point-in-time.js'
import { postgresAsync } from './postgres-async.js'
import { postgresSync } from './postgres-sync.js'
import { queues } from './queues.js'
import { redisCluster } from './redis-cluster.js'
import { redisSentinel } from './redis-sentinel.js'
import { restore } from './restore.js'
import { upgrade } from './upgrade/upgrade.js'

/** In the order of the list. */
export const disasters: readonly Disaster[] = [
  postgresSync,
  postgresAsync,
  pgbouncer,
  redisSentinel,
  redisCluster,
  queues,
  ...networkDisasters,
  clocks,
  clockPostgres,
  diskFullPostgres,
  diskFullRedis,
  diskFullMail,
  memory,
  upgrade,
  restore,
  pointInTime,
  cells,
]
