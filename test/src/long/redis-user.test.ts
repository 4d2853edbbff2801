import { readFile } from 'node:fs/promises'
import { neededCommands } from '@automation/queue'
import { Redis } from 'ioredis'
import t from 'tap'
import { startRunningProduct, until } from '../fixtures/product.js'

const guide = await readFile(new URL('../../../../docs/operate/processes.md', import.meta.url), 'utf8')
const [, commands = ''] = /`(\+@read [^`]+)`/.exec(guide) ?? []
const [, keys = '', channels = ''] = /`(~[^`]+)`, `(&[^`]+)`/.exec(guide) ?? []
const [, furtherKeys = ''] = /keys of further queues, too \(`(~[^`]+)`\)/.exec(guide) ?? []

const running = await startRunningProduct({ apis: 0, workers: 0 })
t.teardown(() => running.stop())
const { product, call } = running
const own = running.database.forWorkspace(running.workspaceId)
const admin = new Redis(product.redisUrl)
t.teardown(() => admin.disconnect())

/** @returns the variables of a process that is this user */
async function addUser(name: string, allowed: string[]): Promise<Record<string, string>> {
  await admin.acl('SETUSER', name, 'on', `>of-${name}`, keys, channels, ...allowed)
  const url = new URL(product.redisUrl)
  url.username = name
  url.password = `of-${name}`
  return { REDIS_URL: url.href }
}

const users = {
  'what the guide lets their user do': commands.split(' '),
  // BullMQ gives its connections names, and does without.
  'the commands that they look for at their start': [
    ...neededCommands.map((command) => `+${command}`),
    '+client|setname',
  ],
}
for (const [what, allowed] of Object.entries(users)) {
  t.test(`API and worker need no more of Redis than ${what}`, async (t) => {
    await admin.acl('LOG', 'RESET')
    const patterns = [keys, furtherKeys, channels]
    const user = await addUser('service', ['resetkeys', 'resetchannels', '-@all', ...patterns, ...allowed])
    const env = { ...user, QUEUES: '2' }
    const worker = await product.startWorker(env)
    const api = await product.startApi(env)
    const path = '/api/automation-rules/trigger/LEAD_CREATED'
    const post = () => call('POST', path, { data: {} })
    await until(async () => (await post()).status === 200)
    const wait = {
      name: 'Waits',
      trigger: 'LEAD_CREATED',
      conditions: [],
      actions: [{ type: 'WAIT', config: { duration: '1s' } }],
    }
    const { status } = await call('POST', '/api/automation-rules', wait)
    t.equal(status, 201)
    await Promise.all(Array.from({ length: 50 }, post))
    await until(async () => (await own.event.count({ where: { doneAt: null } })) === 0)
    await until(async () => (await own.execution.count({ where: { status: 'waiting' } })) === 0)
    await Promise.all([worker.stop(), api.stop()])
    product.apis.length = 0
    const denied = (await admin.acl('LOG')) as unknown as unknown[]
    t.same(denied, [], 'Redis has refused nothing')
  })
}

t.test('where its user lacks a command, a worker ends with the name of the command', async (t) => {
  const env = await addUser('short', [...commands.split(' '), '-zadd', '-bzpopmin'])
  const error = (await product.startWorker(env).catch((error) => error)) as Error
  t.match(error.message, /the user may not run bzpopmin, zadd/)
})

t.test('where its user lacks the keys of a further queue, a worker ends with its prefix', async (t) => {
  const env = await addUser('narrow', commands.split(' '))
  const error = (await product.startWorker({ ...env, QUEUES: '2' }).catch((error) => error)) as Error
  t.match(error.message, /the user may not run eval with the prefix \{automation:1\}\)/)
})
