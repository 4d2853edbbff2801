import { openBrowser } from '@automation/launcher/open-browser'
import t from 'tap'
import { login, startBoard } from '../fixtures/board.js'
import { openTestQueue, workspaceId } from '../fixtures/test-queue.js'

const redisUrl = process.env.REDIS_URL ?? ''
const browser = await openBrowser(t)
const httpCredentials = { username: login.user, password: login.password }

t.test(
  'a user logs in, sees the queue and its jobs, opens a failed one, and can change nothing',
  async (t) => {
    const testQueue = await openTestQueue(t, redisUrl)
    const failed = await testQueue.addFailed('Postgres was away')
    await testQueue.addActive()
    await testQueue.addDelayed()
    await testQueue.addWaiting(3)
    await testQueue.addWaiting()
    const board = await startBoard(t, {
      QUEUE_PREFIX: testQueue.prefix,
      CONSOLE_URL: 'https://console.example',
    })
    const url = await board.listen()
    const { page, hosts, complaints } = await browser.visit({ httpCredentials })
    await page.goto(url)
    await page.getByText('Read-only').waitFor()
    await page.getByText('Events and due executions').click()

    for (const [state, count, name] of [
      ['Waiting', 2, `trigger: 3 events of workspace ${workspaceId}`],
      ['Active', 1, `trigger: 1 event of workspace ${workspaceId}`],
      ['Delayed', 1, `resume: an execution of workspace ${workspaceId}`],
      ['Failed', 1, `execute: 1 event of workspace ${workspaceId}`],
    ] as const) {
      await page.locator(`a[href*="status=${state.toLowerCase()}"]`, { hasText: `${count}` }).click()
      await page.getByText(name, { exact: true }).waitFor()
    }
    await page.getByText(`${failed.id}`).click()
    await page.waitForURL(`${url}/queue/automation/${failed.id}*`)
    await page.getByText('Error: Postgres was away').waitFor()
    const eventId = (failed.data as { events: { id: string }[] }).events[0]?.id
    const link = page.getByRole('link', { name: 'Event', exact: true })
    t.equal(await link.getAttribute('href'), `https://console.example/w/${workspaceId}/events?id=${eventId}`)
    t.strictSame([...hosts], [new URL(url).host], 'nobody else was asked')
    t.strictSame(complaints, [])

    t.equal(await page.getByRole('button', { name: 'Retry all' }).count(), 0)
    const refusal = await page.evaluate(
      async (path) => (await fetch(path, { method: 'PUT' })).status,
      `${url}/api/queues/automation/${failed.id}/retry`,
    )
    t.equal(refusal, 403)
    t.ok(await failed.isFailed())
  },
)

t.test('if writes are allowed, a failed job is retried with two clicks', async (t) => {
  const testQueue = await openTestQueue(t, redisUrl)
  const failed = await testQueue.addFailed('Postgres was away')
  const board = await startBoard(t, { QUEUE_PREFIX: testQueue.prefix, BOARD_WRITES: 'true' })
  const url = await board.listen()
  const { page, hosts, complaints } = await browser.visit({ httpCredentials })
  await page.goto(`${url}/queue/automation?status=failed`)
  await page.getByText('Writes allowed').waitFor()
  await page.getByRole('button', { name: 'Retry all' }).click()
  await page.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('No failed jobs in this queue').waitFor()
  t.ok(await failed.isWaiting())
  t.strictSame([...hosts], [new URL(url).host])
  t.strictSame(complaints, [])
})

t.test('a wrong password shows nothing', async (t) => {
  const board = await startBoard(t)
  const { page } = await browser.visit({
    httpCredentials: { username: login.user, password: 'a wrong password' },
  })
  const response = await page.goto(await board.listen())
  t.equal(response?.status(), 401)
  t.equal(await page.locator('script').count(), 0)
})
