import { readFile } from 'node:fs/promises'
import t from 'tap'
import { findingCodes, presentFinding } from '../src/findings.js'

t.test('each finding is one sentence, and names its subject', async (t) => {
  for (const code of findingCodes) {
    const { message } = presentFinding({ code, about: '$& it' })
    t.match(message, /^[A-Z].*[^.]\.$/, code)
    t.notMatch(message, '%s')
  }
  t.match(presentFinding({ code: 'header_missing', about: '$& it' }).message, '$& it')
})

t.test('the documentation for senders lists every finding', async (t) => {
  const page = await readFile(new URL('../../../../docs/reference/signing.md', import.meta.url), 'utf8')
  for (const code of findingCodes) t.ok(page.includes(`\`${code}\``), code)
})
