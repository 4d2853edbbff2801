import t from 'tap'
import { readDemoSettings } from '../../src/demo/demo-settings.js'

t.test('the demo takes over settings that tune it, and nothing else of a shell', async (t) => {
  const tuning = {
    LOG_LEVEL: 'debug',
    RATE_LIMIT_ANONYMOUS: '1/1',
    OTEL_TRACES_EXPORTER: 'otlp',
    OUTBOUND_PORTS: '443',
    EMBED_ORIGINS: 'http://localhost:5173',
  }
  const { env, remarks } = readDemoSettings({
    ...tuning,
    BODY_LIMIT: '',
    AWS_SECRET: 'x',
    PGHOST: 'db.example.com',
  })
  t.strictSame(env, tuning)
  t.same(remarks, [])
})

t.test('a setting that could do harm is not taken over, and one sentence says so', async (t) => {
  const { env, remarks } = readDemoSettings({
    SMTP_URL: 'smtp://user:secret@mail.example.com',
    RETENTION_DAYS: '1',
    QUEUE_PREFIX: '{production}',
    JWKS_URL: 'https://id.example.com/keys',
  })
  t.strictSame(env, {})
  t.same(remarks, [
    'SMTP_URL is not used by the demo: mails are written to files.',
    'RETENTION_DAYS is not used by the demo: it keeps its history for the default time.',
    'QUEUE_PREFIX is not used by the demo: its queue has a name of its own.',
    'JWKS_URL is not used by the demo: it signs its own tokens.',
  ])
})

t.test('a setting that is gone is named, and nothing starts', async (t) => {
  t.throws(() => readDemoSettings({ RULE_WORK: '5', READ_POOL: '8' }), {
    name: 'CannotStart',
    message: /^RULE_WORK is no longer a setting: .*\nREAD_POOL is no longer a setting: /,
  })
})

t.test('HOST is followed only if it is an address of this machine', async (t) => {
  for (const HOST of ['0.0.0.0', '::', '127.0.0.1', 'localhost']) {
    t.match(readDemoSettings({ HOST }), { host: HOST, remarks: { length: 0 } })
  }
  t.match(readDemoSettings({}), { host: '127.0.0.1', remarks: { length: 0 } })
  for (const HOST of ['x86_64-conda-linux-gnu', 'laptop', '192.0.2.1']) {
    t.same(readDemoSettings({ HOST }), {
      host: '127.0.0.1',
      env: {},
      remarks: [`HOST is ${HOST}, which is no address of this machine: API and board listen on 127.0.0.1.`],
    })
  }
})
