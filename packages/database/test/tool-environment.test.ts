import t from 'tap'
import { toolEnvironment } from '../src/tool-environment.js'

t.test('a program of Postgres connects as the driver does', async (t) => {
  const all = toolEnvironment('postgresql://ada:p%40ss@db.example.com:6432/rules?connection_limit=5')
  t.strictSame(all, {
    PGHOST: 'db.example.com',
    PGPORT: '6432',
    PGUSER: 'ada',
    PGPASSWORD: 'p@ss',
    PGDATABASE: 'rules',
    PGSSLMODE: 'disable',
  })
  t.match(toolEnvironment('postgresql:///rules?host=/run/postgresql'), { PGHOST: '/run/postgresql' })
  const tls = {
    'sslmode=disable': { PGSSLMODE: 'disable' },
    'sslmode=no-verify': { PGSSLMODE: 'require' },
    'sslmode=prefer': { PGSSLMODE: 'verify-full', PGSSLROOTCERT: '/extra.pem' },
    'sslmode=verify-full&sslrootcert=/none/ca.pem': {
      PGSSLMODE: 'verify-full',
      PGSSLROOTCERT: '/none/ca.pem',
    },
    'sslmode=require&uselibpqcompat=true': { PGSSLMODE: 'require' },
  }
  for (const [query, variables] of Object.entries(tls)) {
    const found = toolEnvironment(`postgresql://ada@localhost/rules?${query}`, '/extra.pem')
    t.match(found, variables, query)
    t.equal(found.PGSSLROOTCERT, 'PGSSLROOTCERT' in variables ? variables.PGSSLROOTCERT : undefined, query)
  }
  const plain = toolEnvironment('postgresql://ada@localhost/rules?sslmode=verify-full')
  t.match(plain, { PGSSLROOTCERT: 'system' }, 'the certificates of the machine')
})
