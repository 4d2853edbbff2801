import t from 'tap'
import { spareLoopback } from '../../src/settings/index.js'

t.test('addresses of this machine are no matter of a proxy, and what is set stays', async (t) => {
  const spared = (environment: NodeJS.ProcessEnv) => {
    spareLoopback(environment)
    return environment
  }
  const loopback = 'localhost,127.0.0.1,::1,[::1]'
  t.strictSame(spared({}), { NO_PROXY: loopback })
  t.strictSame(spared({ NO_PROXY: '.internal' }), { NO_PROXY: `.internal,${loopback}` })
  t.strictSame(spared({ no_proxy: 'a.example' }), { no_proxy: `a.example,${loopback}` })
})
