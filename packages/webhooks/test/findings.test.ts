import { readFile } from 'node:fs/promises'
import t from 'tap'
import { findingCodes, tellFinding } from '../src/findings.js'

t.test('each finding is one sentence, and names what it is about', async (t) => {
  for (const code of findingCodes) {
    const { message } = tellFinding({ code, about: '$& it' })
    t.match(message, /^[A-Z].*[^.]\.$/, code)
    t.notMatch(message, '%s')
  }
  t.match(tellFinding({ code: 'header_missing', about: '$& it' }).message, '$& it')
})

t.test('the page for senders names every finding', async (t) => {
  const page = await readFile(new URL('../../../../docs/signing.md', import.meta.url), 'utf8')
  for (const code of findingCodes) t.ok(page.includes(`\`${code}\``), code)
})
