import { readFile, writeFile } from 'node:fs/promises'
import { mintToken } from '@automation/access'
import t from 'tap'
import { docsDirectory } from '../src/docs-directory.js'
import { type Answer, jwtSecret, mint, ruleBody, rules, startApi } from './fixtures/api.js'
import { storeEvent, storeExecution, storeRule } from './fixtures/history.js'
import { type Mistake, mistakesInRequests, mistakesInRules, type Sender } from './fixtures/mistakes.js'
import { writePage, writeRow } from './fixtures/write-messages.js'

// npm run messages: with --write it writes docs/reference/messages.md from the responses.

const path = new URL('reference/messages.md', docsDirectory)
const isWriting = process.argv.includes('--write')
const page = await readFile(path, 'utf8').catch(() => '')
const api = await startApi(t)
const workspace = await api.makeWorkspace()
const rule = await storeRule(workspace)
const waiting = await storeExecution(workspace, await storeEvent(workspace), rule.id, { status: 'waiting' })
const ids = { rule: rule.id, waiting: waiting.id, workspace: workspace.id }
const tokens = await makeTokens()
const before = await workspace.database.rule.count()

async function makeTokens(): Promise<Record<Sender, string | undefined>> {
  const { viewer, admin } = workspace.tokens
  const userId = workspace.users.viewer
  const key = async (name: string) => {
    const body = { name, scopes: ['receipts:read'] }
    return (await workspace.call<{ id: string; key: string }>('POST', '/api/developer/v1/api-keys', { body }))
      .body
  }
  const revoked = await key('Revoked')
  await workspace.call('DELETE', `/api/developer/v1/api-keys/${revoked.id}`)
  return {
    admin,
    viewer,
    nobody: undefined,
    garbage: 'garbage',
    expired: await mintToken({ secret: jwtSecret, userId, expiresInSeconds: -3_600 }),
    stranger: await mint('stranger'),
    unknownKey: revoked.key,
    receiptsKey: (await key('Receipts')).key,
  }
}

function make({ rule: fields, request = `POST ${rules}`, body, as = 'admin', headers = {} }: Mistake) {
  const [method, template] = request.split(' ') as ['POST', string]
  const filled = template.replace(/\{(\w+)\}/g, (_, name) => ids[name as keyof typeof ids])
  return api.call<{ error?: string; errors?: object[] }>(method, filled, {
    token: tokens[as],
    workspace: workspace.id,
    body: fields === undefined ? body : ruleBody(fields),
    headers,
  })
}

async function writeRows(mistakes: Mistake[]): Promise<{ mistake: Mistake; answer: Answer; row: string }[]> {
  const made = []
  for (const mistake of mistakes) {
    const answer = await make(mistake)
    made.push({ mistake, answer, row: writeRow(mistake, answer) })
  }
  return made
}

const inRules = await writeRows(mistakesInRules)
const inRequests = await writeRows(mistakesInRequests)
const rowsOf = (made: { row: string }[]) => made.map(({ row }) => row)
const written = writePage({ rules: rowsOf(inRules), requests: rowsOf(inRequests) })
if (isWriting) await writeFile(path, written)

const known = new Set(page.split('\n'))
for (const { mistake, answer, row } of [...inRules, ...inRequests])
  t.test(`the page has what the API says: ${mistake.title}`, async (t) => {
    t.equal(answer.status, mistake.status)
    if (!isWriting) t.ok(known.has(row), row)
  })

t.test('the page has no other rows, and nothing was created by a mistake', async (t) => {
  if (!isWriting) t.equal(page, written)
  t.ok(inRules.length + inRequests.length >= 60)
  t.equal(await workspace.database.rule.count(), before)
})
