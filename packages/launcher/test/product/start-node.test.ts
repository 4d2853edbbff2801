import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startNode } from '../../src/product/start-node.js'

const entry = fileURLToPath(new URL('../fixtures/fake-process.js', import.meta.url))

t.test(
  'a process is returned once it reports that it is ready, and shuts down when it is stopped',
  async (t) => {
    const log = `${t.testdir()}/fake.log`
    const fake = await startNode({ name: 'fake', entry, env: { FAKE_MODE: 'busy' }, log })
    t.equal(fake.port, 4242)
    t.notOk(fake.hasExited())
    await fake.stop()
    t.same(await fake.exited, { code: 0, signal: null })
    t.match(await readFile(log, 'utf8'), 'shutting down')
    await t.resolves(fake.stop(), 'stopping twice does no harm')
  },
)

t.test('a process that ends before it is ready is reported with its last output', async (t) => {
  const log = `${t.testdir()}/fake.log`
  await t.rejects(startNode({ name: 'fake', entry, env: { FAKE_MODE: 'dies' }, log }), {
    name: 'CannotStart',
    message: /fake ended before it was ready.*REDIS_URL is missing/s,
  })
})

t.test('a killed process reports its signal', async (t) => {
  const fake = await startNode({ name: 'fake', entry, env: {}, log: `${t.testdir()}/fake.log` })
  fake.kill('SIGKILL')
  t.same(await fake.exited, { code: null, signal: 'SIGKILL' })
})

t.test('a paused process can be stopped', async (t) => {
  const fake = await startNode({ name: 'fake', entry, env: {}, log: `${t.testdir()}/fake.log` })
  fake.kill('SIGSTOP')
  await fake.stop()
  t.same(await fake.exited, { code: 0, signal: null })
})

t.test('a process inherits no setting of the shell', async (t) => {
  process.env.SMTP_URL = 'smtp://mail.example.com'
  t.teardown(() => {
    delete process.env.SMTP_URL
  })
  const log = `${t.testdir()}/fake.log`
  const fake = await startNode({ name: 'fake', entry, env: { FAKE_MODE: 'lists variables' }, log })
  await fake.stop()
  const names = (await readFile(log, 'utf8')).split('\n', 1)[0]?.split(' ') ?? []
  t.match(names, /PATH/)
  t.notOk(names.includes('SMTP_URL'))
})
