import { connections, observability, originUrl, readEnvironment } from '@automation/process/settings'
import { Type } from 'typebox'

export const Environment = Type.Object({
  REDIS_URL: connections.REDIS_URL,
  DATABASE_URL: Type.Optional(connections.DATABASE_URL),
  QUEUE_PREFIX: connections.QUEUE_PREFIX,
  LOG_LEVEL: connections.LOG_LEVEL,
  METRICS_PORT: observability.METRICS_PORT,
  BOARD_PASSWORD: Type.String({
    minLength: 12,
    description: 'password of the user operator, 12 characters or more; the board is off until it is set',
  }),
  BOARD_WRITES: Type.Boolean({
    default: false,
    description: 'true lets logged-in users retry, remove and add jobs, and pause the queue',
  }),
  HOST: Type.String({ default: '127.0.0.1', description: 'address to listen on' }),
  BOARD_PORT: Type.Integer({
    default: 3002,
    minimum: 0,
    maximum: 65_535,
    description: 'port to listen on; 0 takes any free port',
  }),
  CONSOLE_URL: Type.Optional(
    originUrl({ description: 'URL under which browsers open the console; jobs link to it' }),
  ),
  TRUST_PROXY: Type.Optional(
    Type.String({ description: 'comma-separated CIDRs of the proxies whose X-Forwarded-For is trusted' }),
  ),
})

export type Config = ReturnType<typeof readConfig>

/** @throws EnvironmentError that lists all faults at once */
export function readConfig(variables: Record<string, string | undefined> = process.env) {
  const environment = readEnvironment(Environment, variables)
  return {
    redisUrl: environment.REDIS_URL,
    /** undefined: jobs have ids, and no names. */
    databaseUrl: environment.DATABASE_URL,
    queuePrefix: environment.QUEUE_PREFIX,
    logLevel: environment.LOG_LEVEL,
    /** undefined: no metrics. */
    metricsPort: environment.METRICS_PORT,
    password: environment.BOARD_PASSWORD,
    allowsWrites: environment.BOARD_WRITES,
    host: environment.HOST,
    port: environment.BOARD_PORT,
    /** undefined: jobs link to nothing. */
    consoleUrl: environment.CONSOLE_URL?.replace(/\/+$/, ''),
    trustProxy: environment.TRUST_PROXY?.split(',').map((cidr) => cidr.trim()) ?? false,
  }
}
