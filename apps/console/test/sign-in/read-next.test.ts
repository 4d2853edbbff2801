import t from 'tap'
import { readNext } from '../../src/sign-in/read-next.js'

t.test('after the sign-in only paths of this console are opened', async (t) => {
  for (const next of ['/w/1/today', '/w/1/runs?status=failed&id=2', '/w/1/rules/3?tab=json'])
    t.equal(readNext(next), next)
  for (const next of [
    undefined,
    '',
    '/',
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/w/\\evil.example',
    '/w/../../api/x',
    '/w/%2e%2e/api',
    '/api/events',
    '/session',
    'javascript:alert(1)',
    '/w/1\nset-cookie: a=b',
    '/w/ü',
    ['/w/1'],
  ])
    t.equal(readNext(next), '/', String(next))
})
