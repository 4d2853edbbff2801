import type { Database } from '@automation/database'
import t from 'tap'
import { awaitStart } from '../src/await-start.js'
import { log } from './fixtures/harness.js'

/** Answers with each of these in turn: rows, or an error. */
function answering(answers: (object[] | Error)[]) {
  const left = [...answers]
  const run = async () => {
    const answer = left.shift()
    if (answer instanceof Error) throw answer
    return answer ?? []
  }
  return { database: { run } as Pick<Database, 'run'>, left }
}

const restore = { asOf: new Date(0), markedAt: new Date(1_000) }

t.test('a worker of a database that was not restored starts at once, with one question', async (t) => {
  const { database, left } = answering([[], [restore]])
  await awaitStart(database, log, () => t.fail('it is not paused'))
  t.equal(left.length, 1)
})

t.test(
  'a worker of a restored one waits, says so once, and does not start while Postgres is silent',
  async (t) => {
    const away = new Error('Connection terminated unexpectedly')
    const { database, left } = answering([away, [restore], [restore], away, away, [restore], []])
    const paused: object[] = []
    await awaitStart(database, log, (one) => paused.push(one), 1)
    t.strictSame(left, [])
    t.strictSame(paused, [{ asOf: '1970-01-01T00:00:00.000Z', markedAt: '1970-01-01T00:00:01.000Z' }])
  },
)
