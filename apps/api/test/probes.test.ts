import { Redis } from 'ioredis'
import pg from 'pg'
import t from 'tap'
import { mayEvict } from '../src/routes/probes.js'
import { startApi } from './fixtures/api.js'

t.test('however many ask for readiness, Postgres and Redis are asked once a second', async (t) => {
  const { app, call } = await startApi(t)
  const run = app.database.run.bind(app.database)
  let [statements, infos] = [0, 0]
  const { info } = Redis.prototype
  t.intercept(Redis.prototype, 'info', {
    value(this: Redis, ...sections: string[]) {
      // The first command of a connection has none.
      if (sections[0] === 'memory') infos += 1
      return info.apply(this, sections as [string])
    },
  })
  t.intercept(app.database, 'run', {
    value: ((name: string, ...rest: [string, unknown[]]) => {
      if (name === 'read_migrations') statements += 1
      return run(name, ...rest)
    }) as typeof run,
  })
  const ready = { status: 200, body: { status: 'ready', postgres: 'ok', redis: 'ok', migrations: 'ok' } }
  const since = performance.now()
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(Array.from({ length: 40 }, () => call('GET', '/readyz')))
    for (const answer of answers) t.match(answer, ready)
  }
  const most = 1 + (performance.now() - since) / 1_000
  t.ok(statements >= 1 && statements <= most, `${statements} statements for 200 requests`)
  t.ok(infos >= 1 && infos <= most, `${infos} commands for 200 requests`)
})

t.test('a process is unready until its first queries have ended', async (t) => {
  const { app, call } = await startApi(t)
  let comeBack = () => {}
  const isWarm = app.warmUp(
    new Promise((resolve) => {
      comeBack = resolve
    }),
  )
  t.match(await call('GET', '/readyz'), { status: 503, body: { status: 'unready', postgres: 'ok' } })
  comeBack()
  await isWarm
  t.match(await call('GET', '/readyz'), { status: 200, body: { status: 'ready' } })
})

t.test('a process whose first queries fail logs it, and is ready', async (t) => {
  const { app, call } = await startApi(t)
  const logged: unknown[] = []
  app.log.warn = (...line: unknown[]) => void logged.push(line[1])
  t.intercept(app.database, 'warmUp', { value: () => Promise.reject(new Error('mute')) })
  await app.warmUp(Promise.resolve())
  t.strictSame(logged, ['could not run the first queries'])
  t.match(await call('GET', '/readyz'), { status: 200, body: { status: 'ready' } })
})

t.test('a process whose Postgres is a standby or an old primary is unready, and says so', async (t) => {
  const { app, call } = await startApi(t)
  const refused = Object.assign(new pg.DatabaseError('10.0.0.6:5432 is a standby', 0, 'error'), {
    code: '25006',
  })
  t.intercept(app.database, 'run', { value: () => Promise.reject(refused) })
  t.match(await call('GET', '/readyz'), {
    status: 503,
    body: { status: 'unready', postgres: 'read_only', migrations: 'unknown' },
  })
})

t.test('a process that is ending reports it at once', async (t) => {
  const { app, call } = await startApi(t)
  t.match(await call('GET', '/readyz'), { status: 200, body: { status: 'ready' } })
  await app.drain(0)
  t.match(await call('GET', '/readyz'), { status: 503, body: { status: 'ending', postgres: 'ok' } })
})

t.test(
  'a Redis that does not report its policy counts as usable, and one that evicts does not',
  async (t) => {
    const redis = new Redis(process.env.REDIS_URL ?? '')
    t.teardown(() => redis.disconnect())
    const info = await redis.info('memory')
    t.match(info, 'maxmemory_policy:noeviction')
    t.notOk(mayEvict(info))
    t.ok(mayEvict(info.replace('maxmemory_policy:noeviction', 'maxmemory_policy:allkeys-lru')))
    t.notOk(mayEvict(info.replace(/^maxmemory_policy:.*$/m, '')))
  },
)
