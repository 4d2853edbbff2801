import { Type } from 'typebox'
import { readRedisUrl } from './redis-url.js'
import { serverUrl } from './url-settings.js'

const databaseUrl = {
  DATABASE_URL: serverUrl(/^postgres(ql)?:\/\//, {
    description: 'postgresql://user:password@host:5432/name',
  }),
}
/** For commands that need nothing else. */
export const DatabaseEnvironment = Type.Object(databaseUrl)

/** The settings that every process needs to reach its servers. */
export const connections = {
  ...databaseUrl,
  REDIS_URL: Type.Refine(
    serverUrl(
      /^rediss?(\+sentinel|\+cluster)?:\/\/[^/?#]/,
      {
        description:
          'redis://user:password@host:6379/0, whose path is the number of a database; redis+sentinel://user:password@host:26379,host:26379/name/0, whose hosts are Sentinels that know the primary by this name; or redis+cluster://user:password@host:6379,host:6379, whose hosts are nodes of a Redis Cluster',
      },
      hasDatabaseNumber,
      (text) => readRedisUrl(text)?.url,
    ),
    (text) => !/^rediss?\+cluster:.*(\/0*[1-9]|[?&]db=0*[1-9])/.test(text),
    () => 'must be a URL without the number of a database: a Redis Cluster has none but 0',
  ),
  QUEUE_PREFIX: Type.String({
    default: '{automation}',
    pattern: '^[^:]+$',
    description: 'prefix of every Redis key; two services can share one Redis under different prefixes',
  }),
  QUEUES: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 64,
    description:
      'number of queues that jobs are spread over, by workspace; workers read those of all processes, whatever number they have',
  }),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
}

/** The client of Redis would use database 0 for a path that is no number. */
function hasDatabaseNumber({ pathname, searchParams }: URL): boolean {
  return /^(\/\d*)?$/.test(pathname) && /^\d*$/.test(searchParams.get('db') ?? '')
}

/** The same settings under the names that the code uses. */
export function connectionsOf(environment: Type.Static<Type.TObject<typeof connections>>) {
  return {
    databaseUrl: environment.DATABASE_URL,
    redisUrl: environment.REDIS_URL,
    queuePrefix: environment.QUEUE_PREFIX,
    queues: environment.QUEUES,
    logLevel: environment.LOG_LEVEL,
  }
}
