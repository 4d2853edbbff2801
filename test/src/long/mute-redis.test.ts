import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { type Answer, startRunningProduct, until } from '../fixtures/product.js'
import { openTcpProxy, type TcpProxy } from '../storm/tcp-proxy.js'

const running = await startRunningProduct({ apis: 0, workers: 0 })
const { product, call } = running
const own = running.database.forWorkspace(running.workspaceId)
t.teardown(() => running.stop())
const line = await openLine()
const lineOfApi = await openLine()
await product.startWorker({ REDIS_URL: urlOf(line) })
await product.startApi({ REDIS_URL: urlOf(lineOfApi) })
const path = '/api/automation-rules/trigger/LEAD_CREATED'

async function openLine(): Promise<TcpProxy> {
  const line = await openTcpProxy(() => product.redis?.port ?? 0)
  t.teardown(() => line.close())
  return line
}

function urlOf({ port }: TcpProxy): string {
  const url = new URL(product.redisUrl)
  url.port = String(port)
  return url.href
}

async function post(): Promise<string> {
  const { status, body }: Answer = await call('POST', path, { data: {} }, { prefer: 'respond-async' })
  if (status !== 202) throw new Error(`${status}`)
  return body.id
}

async function isDone(id: string): Promise<boolean> {
  return (await own.event.findUniqueOrThrow({ where: { id } })).doneAt !== null
}

/** @returns whether it was within the time (ms) */
async function isDoneWithin(id: string, limitMs: number): Promise<boolean> {
  const deadline = Date.now() + limitMs
  await until(async () => Date.now() > deadline || (await isDone(id)))
  return isDone(id)
}

t.test('a worker whose lines to Redis go mute for good takes jobs again on new ones', async (t) => {
  t.ok(await isDoneWithin(await post(), 10_000), 'on good lines')
  line.muteForGood()
  const start = Date.now()
  t.ok(await isDoneWithin(await post(), 60_000), 'on lines that it has opened since')
  t.comment(`done after ${Date.now() - start} ms`)
})

t.test('a worker that has nothing to do keeps its lines', async (t) => {
  const before = line.accepted()
  // Longer than a call may wait for its response.
  await delay(20_000)
  t.equal(line.accepted(), before)
  t.ok(await isDoneWithin(await post(), 10_000))
})

/** Whether an outcome comes by a reply: without one the API looks for it after 2 s. */
async function isReplied(): Promise<boolean> {
  const start = Date.now()
  const { status } = await call('POST', path, { data: {} })
  return status === 200 && Date.now() - start < 1_800
}

t.test('an API whose lines to Redis go mute for good gets replies again on new ones', async (t) => {
  await until(isReplied)
  lineOfApi.muteForGood()
  const start = Date.now()
  let isBack = false
  await until(async () => {
    isBack = await isReplied()
    return isBack || Date.now() - start > 60_000
  })
  t.ok(isBack)
  t.comment(`replied to after ${Date.now() - start} ms`)
})
