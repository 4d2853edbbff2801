import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { matchLists } from '@automation/launcher/match-lists'
import t from 'tap'
import { signWebhook } from '../src/sign-webhook.js'
import { openFlakyServer } from './fixtures/flaky-server.js'

const page = fileURLToPath(new URL('./fixtures/web-page.js', import.meta.url))

t.test('the client works with only the globals of browsers', async (t) => {
  const headers = { 'content-location': '/api/events/e1' }
  const { baseUrl, asked } = await openFlakyServer(t, [
    'cut',
    { status: 200, body: { rules: [] } },
    { status: 503 },
    { status: 200, headers, body: { triggered: 0, matched: 0, results: [] } },
  ])
  const child = spawn(process.execPath, ['--no-warnings', '--experimental-vm-modules', page, baseUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const loaded = JSON.parse(await text(child.stdout))
  matchLists(t, loaded, { rules: [], trigger: { status: 'done', id: 'e1' } })
  t.ok(loaded.modules > 20, 'it was loaded as separate modules')
  const parts = { secret: 'whsec_c2VjcmV0', id: 'evt_1', timestamp: '1789000000', body: '{}' }
  t.equal(loaded.signature, await signWebhook(parts))
  t.equal(asked.length, 4)
})
