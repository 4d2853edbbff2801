import { baseUrl, connections, observability, readEnvironment } from '@automation/process/settings'
import { Type } from 'typebox'

export const Environment = Type.Object({
  REDIS_URL: connections.REDIS_URL,
  QUEUE_PREFIX: connections.QUEUE_PREFIX,
  LOG_LEVEL: connections.LOG_LEVEL,
  METRICS_PORT: observability.METRICS_PORT,
  BOARD_USER: Type.String({
    pattern: '^[^:]+$',
    description:
      'user name of the login, without a colon; the board is off until this and BOARD_PASSWORD are set',
  }),
  BOARD_PASSWORD: Type.String({
    minLength: 12,
    description: 'password of the login, 12 characters or more',
  }),
  BOARD_WRITES: Type.Boolean({
    default: false,
    description: 'true lets logged-in users retry, remove and add jobs, and pause the queue',
  }),
  HOST: Type.String({ default: '127.0.0.1', description: 'address to listen on' }),
  BOARD_HOST: Type.Optional(Type.String({ description: 'address to listen on; if not set, HOST' })),
  BOARD_PORT: Type.Integer({
    default: 3002,
    minimum: 0,
    maximum: 65_535,
    description: 'port to listen on; 0 takes any free port',
  }),
  BOARD_BASE_PATH: Type.String({
    default: '/',
    pattern: '^(/[\\w.~-]+)*/?$',
    description: 'path under which a proxy forwards requests, as in /board',
  }),
  BOARD_API_URL: Type.Optional(
    baseUrl({
      description: 'URL of the API for the users of the board; without it no job links to its event',
    }),
  ),
  BOARD_CONSOLE_URL: Type.Optional(
    baseUrl({
      description: 'URL of the console for the users of the board; jobs link to it instead of the API',
    }),
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
    queuePrefix: environment.QUEUE_PREFIX,
    logLevel: environment.LOG_LEVEL,
    /** undefined: no metrics. */
    metricsPort: environment.METRICS_PORT,
    user: environment.BOARD_USER,
    password: environment.BOARD_PASSWORD,
    allowsWrites: environment.BOARD_WRITES,
    host: environment.BOARD_HOST ?? environment.HOST,
    port: environment.BOARD_PORT,
    /** Without a trailing slash: empty if the board is at the root. */
    basePath: environment.BOARD_BASE_PATH.replace(/\/+$/, ''),
    apiUrl: environment.BOARD_API_URL?.replace(/\/+$/, ''),
    consoleUrl: environment.BOARD_CONSOLE_URL?.replace(/\/+$/, ''),
    trustProxy: environment.TRUST_PROXY?.split(',').map((cidr) => cidr.trim()) ?? false,
  }
}
