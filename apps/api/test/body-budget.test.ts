import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { rules, startApi } from './fixtures/api.js'

const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL, BODIES_IN_FLIGHT: '4194304' })
const trigger = `${rules}/trigger/LEAD_CREATED`
const later = { prefer: 'respond-async' }
const large = { body: { data: { text: 'x'.repeat(400_000) } }, headers: later }

t.test(
  'a workspace has a quarter of the memory for large bodies, and leaves the rest to others',
  async (t) => {
    const busy = await api.makeWorkspace()
    const quiet = await api.makeWorkspace()
    await api.app.database.system
      .$transaction(
        async (transaction) => {
          // Events wait here, and hold their bodies.
          await transaction.$executeRaw`LOCK TABLE events IN ACCESS EXCLUSIVE MODE`
          const asked = Array.from({ length: 20 }, () => busy.call('POST', trigger, large))
          const small = busy.call('POST', trigger, { body: { data: {} }, headers: later })
          const other = quiet.call('POST', trigger, large)
          const first = await Promise.race(asked)
          t.match(first, {
            status: 429,
            headers: { 'retry-after': '1' },
            body: { error: /\(BODIES_IN_FLIGHT: 4194304 bytes, 1048576 of one workspace\)/ },
          })
          await transaction.$executeRaw`ROLLBACK`
          const statuses = (await Promise.all(asked)).map(({ status }) => status)
          t.equal(statuses.filter((status) => status === 202).length, 2, '2 of 400,000 bytes are in 1 MiB')
          t.equal(statuses.filter((status) => status === 429).length, 18)
          t.equal((await api.app.metrics.bodiesRefused.get()).values[0]?.value, 18, 'and each is counted')
          t.equal((await small).status, 202)
          t.equal((await other).status, 202)
        },
        { timeout: 30_000 },
      )
      .catch(() => {})
    t.equal((await busy.call('POST', trigger, large)).status, 202, 'and it is free again')
  },
)

t.test('a caller who hangs up before the response holds nothing', async (t) => {
  const own = await startApi(t, { DATABASE_URL, BODIES_IN_FLIGHT: '4194304' })
  await own.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = own.app.server.address() as AddressInfo
  const { id, tokens, call } = await own.makeWorkspace()
  const victim = await own.makeWorkspace()
  let arrived = 0
  let sent = 0
  const { noteBody } = own.app
  own.app.noteBody = (request, length) => {
    arrived++
    // The response is written to a socket that is gone.
    request.raw.socket.destroy()
    noteBody(request, length)
  }
  const posts = [
    {
      path: trigger,
      headers: `authorization: Bearer ${tokens.operator}\r\nx-workspace-id: ${id}\r\nprefer: respond-async\r\n`,
    },
    { path: `/api/incoming-webhooks/x/${victim.id}`, headers: '' },
  ]
  const body = JSON.stringify(large.body)
  for (const { path, headers } of posts)
    for (let n = 0; n < 12; n++) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\n${headers}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
      sent++
      await once(socket, 'close')
    }
  own.app.noteBody = noteBody
  t.equal(arrived, sent)
  await setTimeout(200)
  t.equal((await call('POST', trigger, large)).status, 202)
  t.equal((await victim.call('POST', trigger, large)).status, 202)
})
