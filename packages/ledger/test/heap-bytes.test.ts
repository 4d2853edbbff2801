import t from 'tap'
import { heapBytesOf } from '../src/unfinished/heap-bytes.js'

t.test(
  'JSON of many small parts takes many times its text in memory, and long texts about as much',
  async (t) => {
    const list = (item: string) => `[${Array.from({ length: 10_000 }, () => item).join(',')}]`
    const factorOf = (json: string) => Math.round(heapBytesOf(json) / json.length)
    t.equal(factorOf(list('{}')), 17)
    t.equal(factorOf(list('{"name":"Somebody","email":"somebody@example.com"}')), 3)
    t.equal(factorOf(list(`"${'x'.repeat(1_000)}"`)), 1)
    t.equal(heapBytesOf('{}'), 26)
  },
)
