import fc from 'fast-check'
import t from 'tap'
import { postgresNow } from '../src/clock.js'
import {
  executionIdOf,
  firstIdOf,
  firstTaskIdOf,
  idRangeOf,
  isUuid,
  lowestId,
  newId,
  ruleSetIdOf,
  taskIdOf,
  timeOf,
} from '../src/ids.js'

const event = { id: '0197a000-1234-7abc-8def-0123456789ab', addressee: null }

t.test('new ids are distinct UUIDs of version 7, and later ones are greater', async (t) => {
  const ids = Array.from({ length: 20_000 }, newId)
  t.equal(new Set(ids).size, ids.length)
  const unordered = ids.filter((id, index) => index > 0 && id <= (ids[index - 1] ?? ''))
  t.equal(unordered.length, 0, 'also within a millisecond')
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  t.same(
    ids.filter((id) => !form.test(id)),
    [],
  )
  const tails = new Set(ids.map((id) => id.slice(24)))
  t.ok(tails.size > 19_000, 'what stands at the end is random')
})

t.test('an id contains the time of its creation', async (t) => {
  const before = postgresNow()
  const time = timeOf(newId())
  t.ok(before <= time && time <= postgresNow())
  t.equal(timeOf('0197a000-1234-7abc-8def-0123456789ab'), 0x0197a0001234)
})

t.test(
  'the first id of a time is greater than all earlier ids, and not greater than any id of that time',
  async (t) => {
    t.equal(firstIdOf(0x0197a0001234), '0197a000-1234-7000-8000-000000000000')
    t.equal(firstIdOf(0x0197a0001234 + 0.9), firstIdOf(0x0197a0001234))
    t.equal(firstIdOf(0), '00000000-0000-7000-8000-000000000000')
    t.equal(timeOf(firstIdOf(1_700_000_000_000)), 1_700_000_000_000)
    t.ok(firstIdOf(0x0197a0001234) <= event.id && event.id < firstIdOf(0x0197a0001235))
    t.ok(firstIdOf(postgresNow() - 1) < newId())
  },
)

t.test(
  'the id of an execution is computed from its event and its rule, the same in every version',
  async (t) => {
    const [first, second] = ['0197a000-0000-7000-8000-000000000001', '0197a000-0000-7000-8000-000000000002']
    const id = executionIdOf(event, first)
    // Every later version has to find stored rows again.
    t.equal(id, '0197a000-1234-8b96-905b-401e243054c5')
    t.match(id, /^0197a000-1234-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    t.not(executionIdOf(event, second), id)
    t.not(executionIdOf({ ...event, id: event.id.replace(/b$/, 'c') }, first), id)
    t.equal(timeOf(id), timeOf(event.id))
    const variants = new Set(Array.from({ length: 200 }, () => executionIdOf(event, newId()).charAt(19)))
    t.same([...variants].sort(), ['8', '9', 'a', 'b'])
    t.equal(executionIdOf({ ...event, addressee: { kind: 'rule' } }, first), event.id, 'by hand they are one')
    for (const eventId of [event.id, id]) {
      const of = (kind: 'rule' | 'tick' | 'subscription') =>
        executionIdOf({ id: eventId, addressee: { kind } }, first)
      t.strictSame([of('rule'), of('subscription')], [eventId, eventId])
      t.equal(of('tick'), executionIdOf({ id: eventId, addressee: null }, first), 'a tick was not requested')
    }
  },
)

t.test('the range of some ids has them and their executions, and nothing of another time', async (t) => {
  // Bytewise, as Postgres compares them, and with times that are near to each other.
  const ids = fc.tuple(fc.integer({ min: 0, max: 300 }), fc.uuid()).map(([ms, id]) => {
    return firstIdOf(1_767_571_200_000 + ms).slice(0, 13) + id.slice(13)
  })
  const property = fc.property(fc.array(ids, { minLength: 1 }), fc.uuid(), (some, ruleId) => {
    const [lowest, highest] = idRangeOf(some)
    const times = some.map(timeOf)
    const executions = some.map((id) => executionIdOf({ id, addressee: null }, ruleId))
    return (
      [...some, ...executions].every(
        (id) => bytesOf(lowest) <= bytesOf(id) && bytesOf(id) <= bytesOf(highest),
      ) &&
      timeOf(lowest) === Math.min(...times) &&
      timeOf(highest) === Math.max(...times)
    )
  })
  t.doesNotThrow(() => fc.assert(property))
  const [lowest, highest] = idRangeOf([])
  t.ok(lowest > highest, 'no id is in the range of none')
})

function bytesOf(id: string): bigint {
  return BigInt(`0x${id.replaceAll('-', '')}`)
}

t.test(
  'the id of a task is computed from its execution, its action and their moment, the same in every version',
  async (t) => {
    const execution = { id: '0197a000-1234-8b96-905b-401e243054c5', reopened: 0 }
    const createdAt = new Date(0x0197a0005678)
    const id = taskIdOf(execution, 19, createdAt)
    t.equal(id, '0197a000-5678-8013-b8f1-f1b2560bf7da')
    t.equal(timeOf(id), createdAt.getTime(), 'lists find it by the time at which it was created')
    const others = [
      taskIdOf({ ...execution, reopened: 1 }, 19, createdAt),
      taskIdOf({ ...execution, id: event.id }, 19, createdAt),
      taskIdOf(execution, 18, createdAt),
      taskIdOf(execution, 19, new Date(createdAt.getTime() + 1)),
    ]
    t.equal(new Set([id, ...others]).size, 5, 'an action that starts again creates another task')
    const form = /^0197a000-5678-80[01][0-9a-f]-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    const ids = Array.from({ length: 20 }, (_, actionIndex) => taskIdOf(execution, actionIndex, createdAt))
    for (const each of ids) t.match(each, form)
    t.strictSame(ids.toSorted(), ids, 'in the order of the actions')
  },
)

t.test(
  'the id of a set of rules is computed from its rules and their order, the same in every version',
  async (t) => {
    t.equal(ruleSetIdOf(['a', 'b']), 'c8687a08-aa5d-86ed-8204-4328fa6a697a')
    const sets = [['a', 'b'], ['b', 'a'], ['ab'], ['a', 'b', 'c'], ['a'], []]
    t.equal(new Set(sets.map(ruleSetIdOf)).size, sets.length)
    for (const set of sets)
      t.match(ruleSetIdOf(set), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  },
)

t.test('isUuid accepts a whole UUID in lower or upper case, and nothing else', async (t) => {
  for (const text of [event.id, event.id.toUpperCase()]) t.ok(isUuid(text), text)
  for (const value of ['', `${event.id} `, ` ${event.id}`, `${event.id}0`, `x${event.id}`, event.id.slice(1)])
    t.notOk(isUuid(value), value)
  for (const value of [null, undefined, 7, {}, [event.id]]) t.notOk(isUuid(value), JSON.stringify(value))
})

t.test(
  'a clock that was ahead, and is set back, is followed; one that steps back a little keeps the order',
  async (t) => {
    const now = Date.now()
    t.intercept(Date, 'now', { value: () => now + 3_600_000 })
    const ahead = newId()
    t.equal(timeOf(ahead), postgresNow())
    t.intercept(Date, 'now', { value: () => now + 3_590_000 })
    t.ok(newId() > ahead)
    t.intercept(Date, 'now', { value: () => now })
    t.equal(timeOf(newId()), postgresNow())
  },
)

t.test(
  'tasks have higher ids than the first of their executions, though the clock of a worker is a week behind',
  async (t) => {
    const [older, newer] = [firstIdOf(Date.now() - 1_000), newId()]
    t.equal(firstTaskIdOf([newer, older]), firstTaskIdOf([older]))
    t.ok(firstTaskIdOf([older]) < firstIdOf(timeOf(older) - 7 * 86_400_000))
    t.ok(
      firstTaskIdOf([older]) > firstIdOf(timeOf(older) - 40 * 86_400_000),
      'not so low that all leaves are read',
    )
    t.equal(firstTaskIdOf([lowestId]), firstIdOf(0))
  },
)
