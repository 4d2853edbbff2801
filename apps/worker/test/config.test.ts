import t from 'tap'
import { readConfig } from '../src/config.js'

const required = {
  DATABASE_URL: 'postgresql://unused',
  REDIS_URL: 'redis://unused',
  ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
}

t.test('by default, outbound calls reach the ports of the web on any public host', async (t) => {
  t.same(readConfig(required).outbound, {
    allow: [],
    ports: [
      { from: 80, to: 80 },
      { from: 443, to: 443 },
      { from: 8443, to: 8443 },
    ],
    hosts: undefined,
    concurrency: 100,
  })
})

t.test('lists are read with or without blanks, and hosts are normalized as in a URL', async (t) => {
  const { outbound } = readConfig({
    ...required,
    OUTBOUND_ALLOW: '10.0.0.0/8, 192.168.1.7,fd00::/8, ::1',
    OUTBOUND_PORTS: '443, 8000-8999',
    OUTBOUND_HOSTS: 'Example.COM, *.bücher.example.,10.0.0.1',
    OUTBOUND_CONCURRENCY: '7',
  })
  t.same(outbound, {
    allow: [
      { address: '10.0.0.0', prefixLength: 8, family: 'ipv4' },
      { address: '192.168.1.7', prefixLength: 32, family: 'ipv4' },
      { address: 'fd00::', prefixLength: 8, family: 'ipv6' },
      { address: '::1', prefixLength: 128, family: 'ipv6' },
    ],
    ports: [
      { from: 443, to: 443 },
      { from: 8000, to: 8999 },
    ],
    hosts: ['example.com', '*.xn--bcher-kva.example', '10.0.0.1'],
    concurrency: 7,
  })
})

t.test('all faults of the settings are reported at once', async (t) => {
  const error = t.throws(() =>
    readConfig({
      ...required,
      ENCRYPTION_KEY: '',
      OUTBOUND_ALLOW: '10.0.0.0/33',
      OUTBOUND_PORTS: '0',
      OUTBOUND_HOSTS: 'https://example.com',
      OUTBOUND_CONCURRENCY: '0',
    }),
  ) as unknown as Error
  t.match(error.message, /ENCRYPTION_KEY is required/)
  t.match(error.message, /OUTBOUND_ALLOW must be comma-separated CIDRs such as 10\.0\.0\.0\/8/)
  t.match(error.message, /OUTBOUND_PORTS must be comma-separated ports or ranges/)
  t.match(error.message, /OUTBOUND_HOSTS must be comma-separated host names/)
  t.match(error.message, /OUTBOUND_CONCURRENCY must be >= 1/)
})

t.test('a list with one item that cannot be read is refused as a whole', async (t) => {
  const faults = {
    OUTBOUND_ALLOW: [
      '10.0.0.0/-1',
      '10.0.0.0/8/8',
      '10.0.0.0/',
      '10.0.0/8',
      'fe80::1%eth0',
      '::1/129',
      '10.0.0.1,',
      'x',
    ],
    OUTBOUND_PORTS: ['443,', '65536', '10-9', '0-5', '-5', '1e3', '80 443'],
    OUTBOUND_HOSTS: ['example.com:443', 'a@b', '*', '*.*.example.com', 'x.*', 'a b', 'a,,b', '[::1]', 'a%41'],
  }
  for (const [name, texts] of Object.entries(faults))
    for (const text of texts)
      t.throws(() => readConfig({ ...required, [name]: text }), new RegExp(`${name} must be`), text)
})

t.test('RETENTION_DAYS is 30 by default and 3650 at most; 0 keeps history for ever', async (t) => {
  const daysOf = (RETENTION_DAYS?: string) => readConfig({ ...required, RETENTION_DAYS }).retentionDays
  t.equal(daysOf(), 30)
  for (const days of [0, 1, 3_650]) t.equal(daysOf(`${days}`), days)
  for (const text of ['-1', '3651', 'ever']) t.throws(() => daysOf(text), /RETENTION_DAYS must be/, text)
})

t.test('SMTP_URL is a mail server, or a directory for mails', async (t) => {
  for (const url of ['smtp://user:password@host:587', 'smtps://host', 'file:///var/mail'])
    t.equal(readConfig({ ...required, SMTP_URL: url }).mail.url, url)
  for (const SMTP_URL of ['http://host', 'smtp://', 'file://host/mail', 'file:///a%2fb', 'mail'])
    t.throws(() => readConfig({ ...required, SMTP_URL }), /SMTP_URL must be/, SMTP_URL)
})

t.test(
  'a worker has at least four connections, because sweeper and retention hold two for seconds',
  async (t) => {
    const poolOf = (DATABASE_POOL: string) => readConfig({ ...required, DATABASE_POOL }).databasePool
    t.equal(poolOf('4'), 4)
    t.throws(() => poolOf('3'), /DATABASE_POOL must be >= 4/)
  },
)
