import t from 'tap'
import { createFairShare } from '../src/fair-share.js'

const burst = 200
const perSecond = 100
/** Of a backlog. */
const firstPlace = 1
const lastPlace = 10_000

t.test('an owner within its share always has the highest priority, whatever others do', async (t) => {
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

t.test('a flood is forgotten: the longest after 102 seconds, a short one sooner', async (t) => {
  for (const [jobs, seconds] of [
    [100_000, (burst + lastPlace) / perSecond],
    [burst + 150, 6],
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
  t.strictSame(new Set(places.slice(0, burst)), new Set([0]))
  t.strictSame(places.slice(burst, burst + 3), [1, 2, 3])
  t.equal(findPlace({ workspaceId: 'of another', createdBy: 'user:two' }), 0)
  t.equal(findPlace({ workspaceId: 'of nobody', createdBy: null }), 0)
})

t.test('what a workspace creates counts for it, too', async (t) => {
  const findPlace = createFairShare(openClock().now)
  for (let n = 0; n < burst; n++) findPlace({ workspaceId: `child ${n % 10}`, createdBy: 'workspace:root' })
  t.equal(findPlace({ workspaceId: 'root', createdBy: null }), 1)
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
