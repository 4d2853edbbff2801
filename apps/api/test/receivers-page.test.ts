import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { readSigningVectors } from '@automation/webhooks/signing-vectors'
import t, { type Test } from 'tap'
import { loadPageReceiver } from './fixtures/page-receiver.js'

const root = new URL('../../../../', import.meta.url)
const page = await readFile(new URL('docs/guides/receive-our-webhooks.md', root), 'utf8')

interface Case {
  name: string
  secret: string
  headers: Record<string, string>
  body: Buffer
  /** Unix seconds. */
  now: number
  valid: boolean
}

/** The published vectors as we send them, and faults of the page's own. */
async function readCases(t: Test): Promise<Case[]> {
  const cases = (await readSigningVectors())
    .filter(({ signature }) => /^v1=[0-9a-f]{64}$/.test(signature))
    .map(({ name, secret, id, timestamp, body, signature, valid }) => ({
      ...{ name, secret, valid, now: Number(timestamp) },
      headers: {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${Buffer.from(signature.slice(3), 'hex').toString('base64')}`,
      },
      body,
    }))
  t.ok(cases.filter(({ valid }) => valid).length >= 5, `${cases.length} vectors`)
  const { vector } = await loadPageReceiver(t.testdir())
  const { secret, headers, body } = vector
  const now = Number(headers['webhook-timestamp'])
  const own = { name: 'of the page', secret, headers, body: Buffer.from(body), now, valid: true }
  const { 'webhook-signature': signature, ...unsigned } = headers
  const other = `v1,${Buffer.alloc(32).toString('base64')}`
  return [
    ...cases,
    own,
    { ...own, name: 'one of two', headers: { ...headers, 'webhook-signature': `${other} ${signature}` } },
    { ...own, name: 'late', now: now + 301, valid: false },
    { ...own, name: 'early', now: now - 301, valid: false },
    { ...own, name: 'another body', body: Buffer.from(`${body} `), valid: false },
    { ...own, name: 'another signature', headers: { ...headers, 'webhook-signature': other }, valid: false },
    { ...own, name: 'no signature', headers: unsigned as Case['headers'], valid: false },
    { ...own, name: 'no time', headers: { ...headers, 'webhook-timestamp': '' }, valid: false },
    { ...own, name: 'no headers', headers: {}, valid: false },
  ]
}

function findCode(heading: string): string {
  const part = page.split(`\n### ${heading}\n`)[1] ?? ''
  return /^```\w+\n([\s\S]*?)^```$/m.exec(part)?.[1] ?? ''
}

/** Writes the example beside the function of the page, and a queue that keeps what it gets. */
async function load<Module>(t: Test, heading: string) {
  const directory = t.testdir({
    'enqueue.mjs':
      'export const queued = []\nexport const enqueue = async (...webhook) => { queued.push(webhook) }',
    'example.mjs': findCode(heading),
  })
  await loadPageReceiver(directory)
  const { queued } = (await import(`${directory}/enqueue.mjs`)) as { queued: [string, string][] }
  return { ...((await import(`${directory}/example.mjs`)) as Module), queued }
}

/** The examples ask the clock. */
function setClock(t: Test, { now, secret }: Case): void {
  t.intercept(Date, 'now', { value: () => now * 1_000 })
  process.env.WEBHOOK_SECRET = secret
}

t.teardown(() => delete process.env.WEBHOOK_SECRET)

t.test('the example for Express takes what we sign, and nothing else', async (t) => {
  const { receive, queued } = await load<{
    receive(request: object, response: { sendStatus(status: number): void }): Promise<void>
  }>(t, 'Express')
  for (const one of await readCases(t))
    await t.test(one.name, async (t) => {
      setClock(t, one)
      const statuses: number[] = []
      // As body-parser leaves it where there was none.
      const body = one.body.length === 0 ? {} : one.body
      await receive({ headers: one.headers, body }, { sendStatus: (status) => void statuses.push(status) })
      t.strictSame(statuses, [one.valid ? 204 : 401])
      const expected = [one.headers['webhook-id'], one.body.toString()]
      t.strictSame(queued.splice(0), one.valid ? [expected] : [])
    })
})

t.test('the example for Next.js takes what we sign, and nothing else', async (t) => {
  const { POST, queued } = await load<{ POST(request: Request): Promise<Response> }>(t, 'Next.js')
  for (const one of await readCases(t))
    await t.test(one.name, async (t) => {
      setClock(t, one)
      const { headers, body } = one
      const request = new Request('https://example.com/webhooks', { method: 'POST', headers, body })
      t.equal((await POST(request)).status, one.valid ? 204 : 401)
      t.equal(queued.splice(0).length, one.valid ? 1 : 0)
    })
})

t.test('the function in Python takes what we sign, and nothing else', async (t) => {
  const run = promisify(execFile)
  const isThere = await run('python3', ['--version']).catch(() => undefined)
  if (!isThere) return t.comment('python3 is not on this machine')
  const cases = await readCases(t)
  const directory = t.testdir()
  await writeFile(`${directory}/receive.py`, findCode('Python'))
  await writeFile(
    `${directory}/cases.json`,
    JSON.stringify(cases.map(({ body, ...one }) => ({ ...one, body: body.toString('base64') }))),
  )
  const script = `
import base64, json
from receive import is_from_them
for one in json.load(open("cases.json")):
    headers = {name.title(): value for name, value in one["headers"].items()}
    print(is_from_them(one["secret"], headers, base64.b64decode(one["body"]), one["now"]))`
  const { stdout } = await run('python3', ['-c', script], { cwd: directory })
  t.strictSame(
    stdout.trim().split('\n'),
    cases.map(({ valid }) => (valid ? 'True' : 'False')),
  )
})
