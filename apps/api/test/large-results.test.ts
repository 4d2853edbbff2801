import { createPrivateDatabase } from '@automation/launcher'
import t from 'tap'
import { ruleBody, rules, startApi, type Workspace } from './fixtures/api.js'

const DATABASE_URL = await createPrivateDatabase(process.env.DATABASE_URL ?? '')
const api = await startApi(t, { DATABASE_URL })
const maxBytes = 4 * 1_048_576
const mb = 1_048_576

/** As JSON a control character takes six. With the first text, each character takes two bytes in memory. */
const texts = { 'two bytes a character': '€', 'one byte a character': 'e' }
/** A megabyte of characters, and six as JSON. */
const large = {
  type: 'SEND_WEBHOOK',
  config: { url: 'https://example.com', body: { b: '{{t}}'.repeat(6) } },
}

async function createRule({ call }: Workspace, body: object): Promise<string> {
  const created = await call<{ id: string }>('POST', rules, { body })
  if (created.status !== 201) throw new Error(JSON.stringify(created.body))
  return `${rules}/${created.body.id}/execute`
}

/** How far (MB) the memory of this process, which is the API's, grows. */
async function measureGrowth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss()
  let most = before
  const look = () => (most = Math.max(most, process.memoryUsage.rss()))
  const timer = setInterval(look, 5)
  await work()
  clearInterval(timer)
  look()
  return (most - before) / mb
}

/** In `npm test` the ends of a range. */
const drawEnds = <Item>(items: Item[]) =>
  process.env.TEST_LONG ? items : items.filter((_, index) => index === 0 || index === items.length - 1)

for (const [title, first] of Object.entries(texts))
  t.test(`a dry run of any size is a small response or a refusal: ${title}`, async (t) => {
    const workspace = await api.makeWorkspace()
    const data = { t: first + '\u0001'.repeat(173_900) }
    const grownMb = await measureGrowth(async () => {
      for (const actions of drawEnds([1, 2, 3, 5, 9, 10, 12, 14, 20])) {
        const path = await createRule(
          workspace,
          ruleBody({ conditions: [], actions: Array(actions).fill(large) }),
        )
        for (const url of [path, `${path}?explain=true`, `${rules}/trigger/LEAD_CREATED`]) {
          const { status, body } = await workspace.call('POST', url, { body: { data, dryRun: true } })
          if (status === 200) t.ok(JSON.stringify(body).length <= maxBytes, `${actions} actions`)
          else
            t.match(
              [status, body],
              [400, { error: /larger than 4 MiB|timed out|evaluation limit|of memory/ }],
              `${actions} actions`,
            )
        }
      }
    })
    t.ok(grownMb < 200, `the API grew by ${grownMb} MB`)
    const small = await createRule(await api.makeWorkspace(), ruleBody({ conditions: [] }))
    t.ok(small)
  })

t.test('a check of rules with long texts has all findings, with texts cut', async (t) => {
  for (const count of drawEnds([8, 32, 64])) {
    const { call } = await api.makeWorkspace()
    for (let n = 0; n < count; n++)
      await call('POST', rules, {
        body: ruleBody({
          conditions: [{ field: 'a', operator: 'equals', value: 'é'.repeat(100_000) }],
          actions: [{ type: 'CREATE_TASK', config: { title: 'Call' } }],
        }),
      })
    const { status, body } = await call<{ findings: object[]; notKnown: object[] }>('POST', `${rules}/check`)
    t.equal(status, 200, `${count} rules`)
    t.ok(JSON.stringify(body).length < maxBytes)
    t.match(body.findings[0], { code: 'duplicate', witness: { data: { a: `${'é'.repeat(1_000)}…` } } })
    t.equal(body.findings.length, count - 1, 'each copy once')
  }
})
