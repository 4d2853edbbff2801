import t from 'tap'
import { startApi } from '../fixtures/api.js'
import { fuzz } from '../fixtures/doors/fuzz.js'
import { readOperations } from '../fixtures/doors/operations.js'

const wanted = 50_000
// Always the same requests, so that a change fails for what it changed. Others: the command in fuzz.ts, with any seed.
const seed = 20_261_122
t.setTimeout(900_000)

t.test('whatever is asked, no answer is a 5xx, and each has the shape that the document tells', async (t) => {
  const house = await readOperations(() => startApi(t))
  const { requests, byStatus, faults } = await fuzz(house, seed, wanted)
  t.comment(`seed ${seed}: ${requests} requests ${JSON.stringify(byStatus)}`)
  t.strictSame(faults, [])
  t.ok(requests >= wanted, 'it was not cut short by faults')
  for (const status of [200, 201, 202, 204, 400, 401, 404, 422])
    t.ok(byStatus[status], `${status} was among the answers`)
})
