import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { redact } from '../../../pages/logic/history/redact.js'
import { curlOfCall, curlOfEvent } from '../../../pages/logic/history/write-curl.js'

/** What a shell makes of the command: its words, one a line, as JSON. */
async function readWords(command: string): Promise<string[]> {
  const print = `curl() { node -e 'console.log(JSON.stringify(process.argv.slice(1)))' -- "$@"; }; ${command}`
  const { stdout } = await promisify(execFile)('sh', ['-c', print], {
    env: { PATH: process.env.PATH, API_KEY: 'key' },
  })
  return JSON.parse(stdout)
}

t.test('a call is the same call as a command, and a secret is a variable', async (t) => {
  const command = curlOfCall({
    url: 'https://shop.example.com/a?b=1&c=$HOME',
    headers: { 'x-shop': "it's", Authorization: 'Bearer abc' },
    body: { text: "`rm -rf /` $(id) 'quoted'" },
  })
  t.notMatch(command, 'abc')
  t.strictSame(await readWords(command ?? ''), [
    ...['-X', 'POST', 'https://shop.example.com/a?b=1&c=$HOME', '-H', 'content-type: application/json'],
    ...['-H', "x-shop: it's", '-H', 'Authorization: ', '-d'],
    JSON.stringify({ text: "`rm -rf /` $(id) 'quoted'" }),
  ])
  t.equal(curlOfCall({ to: 'ada@example.com' }), undefined)
})

t.test('no data runs anything in the shell that it is pasted into', async (t) => {
  const hostile = fc.sample(fc.string({ unit: fc.constantFrom(...`'"\`$()\\;&|!\n a`), maxLength: 30 }), 20)
  const data = { hostile }
  const words = await readWords(curlOfEvent('https://api.example.com', 'w', { type: 'LEAD_CREATED', data }))
  t.strictSame(words.at(-1), JSON.stringify({ eventType: 'LEAD_CREATED', data }))
})

t.test('what is called a secret is dots, and a reference to a credential stays', async (t) => {
  t.strictSame(
    redact({
      url: 'https://a',
      headers: {
        Authorization: 'Bearer abc',
        'x-api-key': 'k',
        accept: 'json',
        Cookie: '{{credentials.SHOP}}',
      },
      list: [{ password: 'p', tokens: 3, accessToken: 't', author: 'Ada' }],
    }),
    {
      url: 'https://a',
      headers: { Authorization: '•••', 'x-api-key': '•••', accept: 'json', Cookie: '{{credentials.SHOP}}' },
      list: [{ password: '•••', tokens: 3, accessToken: '•••', author: 'Ada' }],
    },
  )
})
