import type { ExecutionRecord } from '@automation/ledger'
import t from 'tap'
import { openAttempt, settleAttempt } from '../src/calls/attempts.js'
import type { OutsideAction } from '../src/effects/effect.js'

t.test('an attempt says whom it reaches, and nothing of a URL but the host', async (t) => {
  const targetsOf = (type: string, config: object) => {
    const action = {
      type,
      config,
      warnings: [],
      of: { index: 0, type, captures: [] },
    } as unknown as OutsideAction
    const record = { results: [] } as unknown as ExecutionRecord
    openAttempt(record, action)
    const opened = record.results[0]?.to
    settleAttempt(record, action, { status: 'success' })
    t.strictSame(record.results[0]?.to, opened, 'and its end leaves that')
    return opened
  }
  t.strictSame(targetsOf('SEND_EMAIL', { to: 'ada@example.com', subject: '', template: 'x' }), [
    'ada@example.com',
  ])
  t.strictSame(
    targetsOf('SEND_EMAIL', {
      to: ['a@x.io', 'b@x.io'],
      cc: 'c@x.io',
      bcc: ['d@x.io'],
      subject: '',
      template: 'x',
    }),
    ['a@x.io', 'b@x.io', 'c@x.io', 'd@x.io'],
  )
  t.strictSame(
    targetsOf('SEND_WEBHOOK', { url: 'https://user:secret@Hooks.example.com/T0/secret?k=secret' }),
    ['hooks.example.com'],
  )
  t.strictSame(
    targetsOf('SEND_NOTIFICATION', { url: 'https://hooks.slack.com/{{credentials.CHAT}}', text: 'x' }),
    ['hooks.slack.com'],
  )
  t.strictSame(targetsOf('SEND_NOTIFICATION', { url: '{{credentials.CHAT}}', text: 'x' }), [])
})
