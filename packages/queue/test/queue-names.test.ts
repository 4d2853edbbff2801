import { newId } from '@automation/database'
import t from 'tap'
import { prefixOf, queueOf } from '../src/queue-names.js'

t.test(
  'the first queue has the prefix of the service, and each other one a hash tag of its own',
  async (t) => {
    t.equal(prefixOf('{automation}', 0), '{automation}')
    t.equal(prefixOf('{automation}', 3), '{automation:3}')
    t.equal(prefixOf('my-{rules}-here', 12), 'my-{rules:12}-here')
    t.equal(prefixOf('plain', 0), 'plain')
    t.equal(prefixOf('plain', 1), 'plain:1')
  },
)

t.test('workspaces are spread over all queues, each in one of them', async (t) => {
  const ids = Array.from({ length: 4_000 }, () => newId())
  t.ok(ids.every((id) => queueOf(id, 1) === 0))
  const counts = [0, 0, 0, 0]
  for (const id of ids) counts[queueOf(id, 4)] = (counts[queueOf(id, 4)] ?? 0) + 1
  // A fair share is 1,000; one below 800 has a chance of less than one in a billion.
  t.ok(Math.min(...counts) > 800, counts.join())
})
