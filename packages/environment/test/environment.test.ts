import { spawnSync } from 'node:child_process'
import { EnvironmentError, readEnvironment, sealing, tokenSettings } from '@automation/environment'
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

t.test('an empty variable counts as not set', async (t) => {
  t.same(readEnvironment(Schema, { NAME: 'Ada', TIMES: '' }), { NAME: 'Ada', TIMES: 3 })
  t.throws(() => readEnvironment(Schema, { NAME: '' }), /NAME is required \(whom to greet\)/)
})

t.test('all faults are reported at once', async (t) => {
  const error = t.throws(() => readEnvironment(Schema, { TIMES: '0', LOUD: 'very' })) as unknown
  t.ok(error instanceof EnvironmentError)
  t.match((error as Error).message, /NAME is required/)
  t.match((error as Error).message, /TIMES must be >= 1/)
  t.match((error as Error).message, /LOUD must be boolean/)
})

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
  for (const keys of [`${key},`, `,${key}`, `${key},,${key}`, `${key};${key}`, `${key},AAAA`, ` ${key}`])
    t.throws(() => read(keys, secret), /ENCRYPTION_KEY must match/, keys)
  for (const secrets of [
    `${secret},`,
    `,${secret}`,
    `${secret},short`,
    `short,${secret}`,
    `${secret},${' '.repeat(40)}x`,
  ])
    t.throws(() => read(key, secrets), /JWT_SECRET must match .* 32 characters or more/, secrets)
})

t.test('a process with an invalid environment prints the faults and exits, without a stack', async (t) => {
  const expected = {
    'api/dist/src/server.js': /DATABASE_URL is required[\s\S]*REDIS_URL must match/,
    'worker/dist/src/main.js': /DATABASE_URL is required[\s\S]*REDIS_URL must match/,
    'board/dist/src/server.js':
      /BOARD_USER is required[\s\S]*BOARD_PASSWORD is required[\s\S]*REDIS_URL must match/,
  }
  for (const [entry, faults] of Object.entries(expected)) {
    const path = new URL(`../../../../apps/${entry}`, import.meta.url).pathname
    const env = { PATH: process.env.PATH, REDIS_URL: 'nonsense' }
    const { status, stderr } = spawnSync(process.execPath, [path], { env, encoding: 'utf8' })
    t.equal(status, 1)
    t.match(stderr, faults)
    t.notMatch(stderr, / at /)
  }
})
