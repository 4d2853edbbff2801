import { spawnSync } from 'node:child_process'
import {
  connections,
  consoleSettings,
  EnvironmentError,
  readEnvironment,
  sealing,
  tokenSettings,
} from '@automation/process/settings'
import t from 'tap'
import { Type } from 'typebox'

const Schema = Type.Object({
  NAME: Type.String({ description: 'whom to greet' }),
  TIMES: Type.Integer({ default: 3, minimum: 1 }),
  LOUD: Type.Optional(Type.Boolean()),
})

t.test('a text is converted to the type of its setting, and defaults fill the rest', async (t) => {
  t.same(readEnvironment(Schema, { NAME: 'Ada', LOUD: 'true', OTHER: 'x' }), {
    NAME: 'Ada',
    TIMES: 3,
    LOUD: true,
  })
  t.same(readEnvironment(Schema, { NAME: 'Ada', TIMES: '7' }), { NAME: 'Ada', TIMES: 7 })
})

t.test('a whole number is written in digits, and nothing else is read as one', async (t) => {
  const schema = Type.Object({ ...Schema.properties, PORT: Type.Optional(Type.Integer({ minimum: 0 })) })
  for (const TIMES of ['1', '64', '007'])
    t.match(readEnvironment(schema, { NAME: 'Ada', TIMES, PORT: TIMES }), {
      ...{ TIMES: Number(TIMES), PORT: Number(TIMES) },
    })
  for (const TIMES of ['4.5', '4.0', '1e1', '0x4', '+4', '4n', '1_000', '1,000', '4 5', 'true', 'null'])
    t.throws(
      () => readEnvironment(schema, { NAME: 'Ada', TIMES, PORT: TIMES }),
      /^Invalid environment:\n {2}TIMES must be integer\n {2}PORT must be integer$/,
      TIMES,
    )
  t.throws(() => readEnvironment(schema, { NAME: 'Ada', TIMES: '-1' }), /TIMES must be >= 1/)
})

t.test('an empty variable counts as not set', async (t) => {
  t.same(readEnvironment(Schema, { NAME: 'Ada', TIMES: '' }), { NAME: 'Ada', TIMES: 3 })
  t.throws(() => readEnvironment(Schema, { NAME: '' }), /NAME is required \(whom to greet\)/)
})

t.test('white space at both ends of a value is no part of it', async (t) => {
  for (const space of ['\n', '\r\n', ' ', '\t', '\u00a0', '\ufeff'])
    t.same(
      readEnvironment(Schema, {
        NAME: `${space}Ada Lovelace${space}`,
        TIMES: `7${space}`,
        LOUD: `true${space}`,
      }),
      {
        NAME: 'Ada Lovelace',
        TIMES: 7,
        LOUD: true,
      },
    )
  t.throws(() => readEnvironment(Schema, { NAME: ' \n' }), /NAME is required/)
})

t.test('a URL that cannot be used is one line, without its value', async (t) => {
  const schema = Type.Object({ ...connections, ...tokenSettings, ...consoleSettings })
  const right = {
    DATABASE_URL: 'postgresql://user:password@host:5432/name',
    REDIS_URL: 'redis://host:6379',
    CONSOLE_SECRET: 'x'.repeat(32),
  }
  const wrong: (readonly [name: string, value: string])[] = [
    ...['#', '/', '?', '12#', '12/', '12?', 'x@y/', 'x@y#', 'x@y?'].flatMap((text) => [
      ['DATABASE_URL', `postgresql://user:${text}do-not-show@host:5432/name`] as const,
      ['REDIS_URL', `redis://user:${text}do-not-show@host:6379/0`] as const,
    ]),
    ['DATABASE_URL', 'postgresql://user:do-not-show@one:5432,two:5432/name'],
    ['DATABASE_URL', 'postgresql://user:do-not-show@one,two/name'],
    ['DATABASE_URL', 'postgresql://user:do-not-show@host:99999/name'],
    ['DATABASE_URL', 'mysql://user:do-not-show@host/name'],
    ['DATABASE_URL', 'host=do-not-show'],
    ['REDIS_URL', 'redis://one,two:6379'],
    ['REDIS_URL', 'redis://:do-not-show%@host'],
    ['REDIS_URL', 'redis://:do-not-show%zz@host'],
    ['REDIS_URL', 'redis://do-not-show/abc'],
    ['REDIS_URL', 'redis://do-not-show/-1'],
    ['REDIS_URL', 'redis://do-not-show/1/2'],
    ['REDIS_URL', 'redis://do-not-show/1.5'],
    ['REDIS_URL', 'redis://do-not-show?db=one'],
    ['REDIS_URL', 'redis+cluster://one,do-not-show:port'],
    ['REDIS_URL', 'redis+cluster://one,/'],
    ['REDIS_URL', 'redis+cluster://:do-not-show@one,two/3'],
    ['REDIS_URL', 'redis+cluster://:do-not-show@one,two?db=3'],
    ['REDIS_URL', 'redis+cluster://one/do-not-show'],
    ['REDIS_URL', 'redis+other://do-not-show'],
    ['REDIS_URL', 'redis+sentinel://do-not-show:26379'],
    ['REDIS_URL', 'redis+sentinel://do-not-show/'],
    ['REDIS_URL', 'redis+sentinel://do-not-show,/name'],
    ['REDIS_URL', 'redis+sentinel://one,do-not-show:port/name'],
    ['REDIS_URL', 'redis+sentinel://one:26379/name:6379'],
    ['REDIS_URL', 'redis+sentinel://user:do-not-show%@one/name'],
    ['REDIS_URL', 'redis+sentinel://one/name/do-not-show'],
    ['REDIS_URL', 'redis://'],
    ['REDIS_URL', 'redis://:do-not-show@/0'],
    ['JWKS_URL', 'https://'],
    ['JWKS_URL', 'https://do-not-show:port/'],
    ['JWKS_URL', 'do-not-show'],
    ['CONSOLE_URL', 'https://do-not-show:port'],
  ]
  for (const [name, value] of wrong) {
    const error = t.throws(
      () => readEnvironment(schema, { ...right, [name]: value }),
      EnvironmentError,
      value,
    )
    const { message = '' } = error as unknown as Error
    t.match(message, new RegExp(`^Invalid environment:\\n  ${name} must be a URL [^\\n]+$`), value)
    t.notMatch(message, /do-not-show/)
  }
  const all = Object.fromEntries(wrong.map(([name]) => [name, 'do-not-show']))
  t.throws(() => readEnvironment(schema, all), /^Invalid environment:(\n [^\n]*){5}$/)
})

t.test('a URL that Postgres or Redis can be reached by is accepted', async (t) => {
  const schema = Type.Object(connections)
  const databases = [
    'postgres://host',
    'postgresql://user@host/name',
    `postgresql://user:${encodeURIComponent('#/?@:%,&= ')}@host/name?sslmode=verify-full&sslrootcert=/etc/ca.pem`,
    'postgresql://user:100%@host/name',
    'postgresql://user:a:b,c;d=e&f$g!h*i(j)k~l@[::1]:5432/name',
    'postgresql://user:password@/name?host=/var/run/postgresql',
    'postgresql:///name?host=/var/run/postgresql',
    'postgresql://user@%2Fvar%2Frun%2Fpostgresql/name',
  ]
  for (const DATABASE_URL of databases)
    t.match(readEnvironment(schema, { DATABASE_URL, REDIS_URL: 'redis://host' }), { DATABASE_URL })
  const caches = [
    'redis://:secret@host',
    'rediss://user:p%40ss@host:6380/12',
    'redis://[::1]:6379/',
    'redis://host?db=3',
    'redis+sentinel://one/my-primary',
    'redis+sentinel://user:p%40ss@one:26379,[::1]:26380,three/my.primary/2',
    'rediss+sentinel://:secret@one,two/my_primary?sentinelPassword=p%40ss',
    'redis+cluster://one',
    'redis+cluster://user:p%40ss@one:6379,[::1]:6380,three',
    'rediss+cluster://:secret@one,two/0',
  ]
  for (const REDIS_URL of caches)
    t.match(readEnvironment(schema, { DATABASE_URL: 'postgres://host', REDIS_URL }), { REDIS_URL })
})

t.test('all faults are reported at once', async (t) => {
  const error = t.throws(() => readEnvironment(Schema, { TIMES: '0', LOUD: 'very' })) as unknown
  t.ok(error instanceof EnvironmentError)
  t.match((error as Error).message, /NAME is required/)
  t.match((error as Error).message, /TIMES must be >= 1/)
  t.match((error as Error).message, /LOUD must be boolean/)
})

t.test(
  'settings that are gone are named with what holds instead, in one message with all faults',
  async (t) => {
    const variables = { RULE_WORK: '1000', DOCS: 'false', TIMES: '0', READ_POOL: ' ' }
    const { message } = t.throws(() => readEnvironment(Schema, variables)) as unknown as Error
    t.match(
      message,
      /^ {2}RULE_WORK is no longer a setting: the conditions of a rule may cost .* per event$/m,
    )
    t.match(message, /^ {2}DOCS is no longer a setting: /m)
    t.match(message, /NAME is required/)
    t.match(message, /TIMES must be >= 1/)
    t.notMatch(message, /READ_POOL/, 'an empty one was not set')
  },
)

t.test('ENCRYPTION_KEY and JWT_SECRET are lists, and each entry is long enough', async (t) => {
  const key = Buffer.alloc(32, '?').toString('base64')
  const secret = 'x'.repeat(32)
  const schema = Type.Object({ ...sealing, ...tokenSettings })
  const read = (ENCRYPTION_KEY: string, JWT_SECRET: string) =>
    readEnvironment(schema, { ENCRYPTION_KEY, JWT_SECRET })
  for (const separator of [',', ', ', ',  ']) {
    const lists = [[key, key, key].join(separator), [secret, secret].join(separator)] as const
    t.match(read(...lists), { ENCRYPTION_KEY: lists[0], JWT_SECRET: lists[1] })
  }
  for (const keys of [`${key},`, `,${key}`, `${key},,${key}`, `${key};${key}`, `${key},AAAA`])
    t.throws(() => read(keys, secret), /ENCRYPTION_KEY is not valid \(/, keys)
  for (const secrets of [
    `${secret},`,
    `,${secret}`,
    `${secret},short`,
    `short,${secret}`,
    `${secret},${' '.repeat(40)}x`,
  ])
    t.throws(() => read(key, secrets), /JWT_SECRET is not valid \(.* 32 characters or more/, secrets)
})

t.test('a process with an invalid environment prints the faults and exits, without a stack', async (t) => {
  const expected = {
    'api/dist/src/server.js': /DATABASE_URL is required[\s\S]*REDIS_URL must be a URL/,
    'worker/dist/src/main.js': /DATABASE_URL is required[\s\S]*REDIS_URL must be a URL/,
    'board/dist/src/server.js': /BOARD_PASSWORD is required[\s\S]*REDIS_URL must be a URL/,
  }
  for (const [entry, faults] of Object.entries(expected)) {
    const path = new URL(`../../../../../apps/${entry}`, import.meta.url).pathname
    const env = { PATH: process.env.PATH, REDIS_URL: 'nonsense', START_TIMEOUT: '600' }
    const { status, stderr } = spawnSync(process.execPath, [path], { env, encoding: 'utf8' })
    t.equal(status, 1)
    t.match(stderr, faults)
    t.match(stderr, /START_TIMEOUT is no longer a setting: a process waits 60 s/)
    t.notMatch(stderr, / at /)
  }
})
