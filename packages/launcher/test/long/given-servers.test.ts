import { once } from 'node:events'
import t from 'tap'
import { makeTemporaryDirectory } from '../../src/product/temporary-directory.js'
import { findFreePort } from '../../src/servers/ports.js'
import { startRedis } from '../../src/servers/redis.js'
import { askRedis } from '../fixtures/ask-redis.js'
import { createEmptyDatabase } from '../fixtures/empty-database.js'
import { startDemo, triggerLead } from '../fixtures/start-demo.js'

t.test(
  'the demo runs on given servers with keys, ports and mails of its own, even if the shell exports others',
  async (t) => {
    const { path, remove } = await makeTemporaryDirectory()
    t.teardown(remove)
    const url = await createEmptyDatabase()
    // The shared one has the keys of other tests.
    const redis = await startRedis({ directory: `${path}/given-redis`, persistent: false })
    t.teardown(() => redis.stop())
    const metricsPort = await findFreePort()
    const { launcher, demo, output } = await startDemo(path, await findFreePort(), {
      DATABASE_URL: url,
      REDIS_URL: redis.url,
      HOST: 'x86_64-conda-linux-gnu',
      METRICS_PORT: `${metricsPort}`,
      SMTP_URL: 'smtp://127.0.0.1:1',
      QUEUE_PREFIX: '{production}',
      PGOPTIONS: '--nonsense',
    })
    t.match(output, `DATABASE_URL: the demo uses ${new URL(url).host}${new URL(url).pathname}`)
    t.match(
      output,
      /REDIS_URL: the demo uses 127\.0\.0\.1:\d+, with keys that begin with \{automation-demo-[0-9a-f]{16}\}/,
    )
    t.match(output, 'SMTP_URL is not used by the demo')
    t.match(await triggerLead(demo), { triggered: 1 })
    const services = await Promise.all(
      [0, 1, 2].map(async (index) => (await fetch(`http://127.0.0.1:${metricsPort + index}/metrics`)).status),
    )
    t.same(services, [200, 200, 200], 'API, worker and board have metrics')
    const keys = (await askRedis(redis.url, 'KEYS *')).match(/^[^*$\r\n]\S*/gm) ?? []
    t.ok(keys.length > 0)
    t.same(
      keys.filter((key) => !key.startsWith('{automation-demo-')),
      [],
    )
    launcher.kill('SIGINT')
    t.same(await once(launcher, 'exit'), [0, null])
    const again = await startDemo(path, await findFreePort(), { DATABASE_URL: url })
    t.equal(again.demo.workspaceId, demo.workspaceId, 'the marked database serves a second time')
    again.launcher.kill('SIGINT')
    await once(again.launcher, 'exit')
  },
)
