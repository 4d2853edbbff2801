import t from 'tap'
import { isPunycode } from '../src/templates/punycode.js'

t.test('what a host has after xn-- stands for text in another script, on each version of Node', async (t) => {
  // The first three are of RFC 3492, 7.1; all are what Node's own encoder makes of the hosts.
  for (const text of [
    'egbpdaj6bu4bxfgehfvwxn',
    'ihqwcrb4cv8a8dqg056pqjye',
    '4dbcagdahymbxekheh6e0a7fei0b',
    'bcher-kva',
  ])
    t.ok(isPunycode(text), text)
  for (const host of ['例子.测试', 'ドメイン', 'faß', 'straße', 'россия', 'ünïcödé'])
    for (const label of new URL(`http://${host}.x`).hostname.split('.'))
      if (label.startsWith('xn--')) t.ok(isPunycode(label.slice(4)), host)
  for (const text of ['', 'a', 'abc-', '-', 'bücher', '99999999', 'zzzzzzzzzzzz', 'a b', '0'.repeat(200)])
    t.notOk(isPunycode(text), text)
})
