import t from 'tap'
import { sayError } from '../../pages/logic/say-error.js'

t.test('an error is told without the words of the engine, and nothing else is changed', async (t) => {
  for (const [error, told] of [
    [
      'config.for.match.invoice must have at least 1 character: {{invoice}} is missing',
      'for.match.invoice is empty: {{invoice}} is missing',
    ],
    ['config.url must be a URL: {{host}} is missing', 'url must be a URL: {{host}} is missing'],
    ['calls may not reach port 9', 'calls may not reach port 9'],
    ['the config.json of the server', 'the config.json of the server'],
  ] as const)
    t.equal(sayError(error), told)
})
