import t from 'tap'
import { createDueShare, createFairShare, createPace, priorities } from '../src/fair-share.js'

const burst = 200
const perSecond = 50
/** Of a flood. */
const firstPlace = priorities.flood
const lastPlace = firstPlace + 9_999

t.test('a workspace within its share always has the highest priority, whatever others do', async (t) => {
  const clock = openClock()
  const findPlace = openShare(clock.now)
  const places = new Set<number>()
  for (let second = 0; second < 300; second++) {
    add(findPlace, 'flood', 1_000)
    for (const place of add(findPlace, 'quiet', perSecond)) places.add(place)
    clock.forward(1_000)
  }
  t.strictSame([...places], [0])
})

t.test('a burst has the highest priority, too, and again once it has drained', async (t) => {
  const clock = openClock()
  const findPlace = openShare(clock.now)
  t.strictSame(new Set(add(findPlace, 'bursting', burst)), new Set([0]))
  t.equal(findPlace('bursting'), firstPlace, 'what goes beyond it is not')
  clock.forward(5_000)
  t.strictSame(new Set(add(findPlace, 'bursting', burst)), new Set([0]))
})

t.test(
  'each job of a flood has a lower priority than the one before, so its jobs keep their order',
  async (t) => {
    const places = add(
      openShare(() => 0),
      'flood',
      burst + 500,
    )
    t.strictSame(
      places.slice(burst),
      Array.from({ length: 500 }, (_, index) => firstPlace + index),
    )
  },
)

t.test('an endless flood reaches the lowest priority and no lower', async (t) => {
  const places = add(
    openShare(() => 0),
    'flood',
    100_000,
  )
  t.equal(Math.max(...places), lastPlace)
  t.equal(places.at(-1), lastPlace)
})

t.test('a flood is forgotten: the longest after 204 seconds, a short one sooner', async (t) => {
  for (const [jobs, seconds] of [
    [100_000, (burst + lastPlace) / perSecond],
    [burst + 50, 6],
  ] as const) {
    const clock = openClock()
    const findPlace = openShare(clock.now)
    const last = add(findPlace, 'flood', jobs).at(-1) ?? 0
    clock.forward(1_000)
    t.equal(findPlace('flood'), last + 1 - perSecond, 'it moves up each second')
    clock.forward(seconds * 1_000)
    t.strictSame(new Set(add(findPlace, 'flood', burst)), new Set([0]), `${jobs} jobs`)
  }
})

t.test('a second flood takes turns with the first, though it came later', async (t) => {
  const findPlace = openShare(() => 0)
  const jobs = [...fill(findPlace, 'first', 3_000), ...fill(findPlace, 'second', 3_000)]
  // As BullMQ takes jobs: by priority, and in the order of arrival within one.
  const taken = jobs.toSorted((left, right) => left.place - right.place).slice(2 * burst)
  for (let index = 0; index < taken.length; index += 2) {
    const pair = taken.slice(index, index + 2).map(({ workspace }) => workspace)
    if (new Set(pair).size < 2) return t.fail(`both of ${pair.join(' and ')} at ${index}`)
  }
  t.equal(taken.length, 6_000 - 2 * burst)
})

t.test('beyond 20,000 workspaces the one idle for longest is removed, never a flood', async (t) => {
  const findPlace = openShare(() => 0)
  add(findPlace, 'ended', burst)
  add(findPlace, 'flood', burst)
  for (let number = 0; number < 20_000; number++) {
    findPlace(`workspace ${number}`)
    if (number % 1_000 === 0) findPlace('flood')
  }
  t.ok(findPlace('flood') > 0, 'the flood is known')
  t.equal(findPlace('ended'), 0, 'nothing is kept of who is gone')
})

t.test('a burst over many workspaces of one creator is no longer than that over one', async (t) => {
  const findPlace = createFairShare(openClock().now)
  const places = Array.from({ length: 1_000 }, (_, n) =>
    findPlace({ workspaceId: `workspace ${n % 10}`, createdBy: 'user:one' }),
  )
  t.strictSame(new Set(places.slice(0, burst)), new Set([priorities.front]))
  t.strictSame(new Set(places.slice(burst)), new Set([priorities.crowd]))
  t.equal(findPlace({ workspaceId: 'of another', createdBy: 'user:two' }), priorities.front)
  t.equal(findPlace({ workspaceId: 'of nobody', createdBy: null }), priorities.front)
})

t.test('what a workspace creates counts for it, too', async (t) => {
  const findPlace = createFairShare(openClock().now)
  for (let n = 0; n < burst; n++) findPlace({ workspaceId: `child ${n % 10}`, createdBy: 'workspace:root' })
  t.equal(findPlace({ workspaceId: 'root', createdBy: null }), priorities.crowd)
})

t.test('a creator within 500 jobs a second is always in front', async (t) => {
  const clock = openClock()
  const findPlace = createFairShare(clock.now)
  const places = new Set<number>()
  for (let tenth = 0; tenth < 600; tenth++) {
    for (let n = 0; n < 50; n++)
      places.add(findPlace({ workspaceId: `workspace ${n % 10}`, createdBy: 'user:one' }))
    clock.forward(100)
  }
  t.strictSame([...places], [priorities.front])
})

t.test('a flood in one workspace of a creator leaves the front to the others of the same', async (t) => {
  const clock = openClock()
  const findPlace = createFairShare(clock.now)
  for (let n = 0; n < 5_000; n++) findPlace({ workspaceId: 'flood', createdBy: 'user:one' })
  clock.forward(1_000)
  t.equal(findPlace({ workspaceId: 'quiet', createdBy: 'user:one' }), priorities.front)
  t.ok(findPlace({ workspaceId: 'flood', createdBy: 'user:one' }) > priorities.flood + 4_000)
})

t.test('of executions that are due in the same second, some of each creator are in front', async (t) => {
  const findPlace = createDueShare(() => 0)
  const places = Array.from({ length: 6_000 }, (_, n) =>
    findPlace({ workspaceId: `workspace ${n % 10}`, createdBy: 'user:one' }, 1_500),
  )
  t.strictSame(new Set(places.slice(0, 50)), new Set([priorities.front]))
  t.strictSame(new Set(places.slice(50, 200)), new Set([priorities.herd]))
  t.equal(places[200], priorities.flood, 'a workspace has 20 that are no flood')
  t.equal(places.at(-1), priorities.flood + 579)
  t.equal(findPlace({ workspaceId: 'other' }, 1_500), priorities.front, 'the herd of another delays none')
  t.equal(findPlace({ workspaceId: 'workspace 1', createdBy: 'user:one' }, 2_000), priorities.front)
})

t.test(
  'executions count for the second in which they are due, and those that are late for the present one',
  async (t) => {
    const findPlace = createDueShare(() => 10_000)
    const spread = Array.from({ length: 60 }, (_, n) =>
      findPlace({ workspaceId: 'spread' }, 70_000 - n * 1_000),
    )
    t.strictSame(new Set(spread), new Set([priorities.front]))
    const late = Array.from({ length: 30 }, (_, n) => findPlace({ workspaceId: 'late' }, n * 300))
    t.strictSame(late.filter((place) => place > priorities.front).length, 10)
  },
)

t.test('twenty events that rules have caused begin at once, and further ones 200 a second', async (t) => {
  const clock = openClock()
  const pace = createPace(clock.now)
  const findDelay = (workspaceId: string) => pace(workspaceId, 1)
  t.strictSame(new Set(add(findDelay, 'flood', 20)), new Set([0]))
  const delays = add(findDelay, 'flood', 10_000)
  t.equal(delays[0], 5)
  t.equal(delays[999], 5_000)
  t.equal(delays.at(-1), 5_000, 'and none later than 5 s')
  t.equal(findDelay('other'), 0, 'another workspace has a pace of its own')
})

t.test('a job of many events has the turn of its last one', async (t) => {
  const pace = createPace(openClock().now)
  t.strictSame(
    [20, 20, 1, 20, 2_000].map((events) => pace('flood', events)),
    [0, 100, 105, 205, 5_000],
  )
})

t.test('a pace is kept while a flood goes on, and forgotten when it has ended', async (t) => {
  const clock = openClock()
  const pace = createPace(clock.now)
  const findDelay = (workspaceId: string) => pace(workspaceId, 1)
  add(findDelay, 'flood', 220)
  clock.forward(500)
  t.equal(findDelay('flood'), 505, 'those that were delayed before it are first')
  clock.forward(10_000)
  t.strictSame(new Set(add(findDelay, 'flood', 20)), new Set([0]))
  t.equal(findDelay('flood'), 5, 'nothing was saved up')
})

/** Of workspaces without a creator. */
function openShare(now: () => number): (workspaceId: string) => number {
  const findPlace = createFairShare(now)
  return (workspaceId) => findPlace({ workspaceId })
}

function openClock() {
  let ms = 0
  return {
    now: () => ms,
    forward(byMs: number): void {
      ms += byMs
    },
  }
}

function add(findPlace: (workspaceId: string) => number, workspace: string, jobs: number): number[] {
  return Array.from({ length: jobs }, () => findPlace(workspace))
}

function fill(findPlace: (workspaceId: string) => number, workspace: string, jobs: number) {
  return add(findPlace, workspace, jobs).map((place) => ({ workspace, place }))
}
