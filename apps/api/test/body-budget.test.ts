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
