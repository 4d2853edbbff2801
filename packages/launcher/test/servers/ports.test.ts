import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import t from 'tap'
import { findFreePort, isPortFree } from '../../src/servers/ports.js'

t.test('a port that was found is not found by another process while this one lives', async (t) => {
  const port = await findFreePort()
  t.ok(await isPortFree(port), 'a server may listen there')
  // As another process reserves it.
  const other = createSocket('udp4')
  other.bind({ port, address: '127.0.0.1', exclusive: true })
  await t.rejects(once(other, 'listening'), { code: 'EADDRINUSE' })
  other.close()
})
