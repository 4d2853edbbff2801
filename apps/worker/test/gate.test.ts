import { setImmediate } from 'node:timers/promises'
import { matchLists } from '@automation/launcher/match-lists'
import fc from 'fast-check'
import t from 'tap'
import { createAdmission } from '../src/admission.js'
import { createBreaker } from '../src/calls/breaker.js'
import { Gate, type GateEntry } from '../src/calls/gate.js'
import type { CallOwner } from '../src/calls/held-bytes.js'
import type { OutsideAction } from '../src/effects/effect.js'
import { destinationOf } from '../src/effects/effect.js'

type Entered = Extract<GateEntry, { kind: 'entered' }>

/** A workspace without a creator, where none is named. */
function of(workspaceId: string, createdBy: string | null = null): CallOwner {
  return { workspaceId, createdBy, heapBytes: 0 }
}

function mustEnter(gate: Gate, workspaceId: string, destination: string): Entered {
  const entry = gate.tryEnter(of(workspaceId), destination)
  if (entry?.kind !== 'entered') throw new Error(`${workspaceId} found no place: ${entry?.kind}`)
  return entry
}

/** Makes calls that never end. */
function holdPlaces(
  gate: Gate,
  workspaceId: string,
  count: number,
  destination = (index: number) => `d${index}`,
) {
  return Array.from({ length: count }, (_, index) => gate.enter(of(workspaceId), destination(index)))
}

t.test(
  'an owner has half of the slots, each destination of a workspace a tenth, and at least one',
  async (t) => {
    const countFree = (places: number, destination: (index: number) => string) => {
      const gate = new Gate(createAdmission(places))
      let entered = 0
      while (gate.tryEnter(of('a'), destination(entered))?.kind === 'entered') entered += 1
      return entered
    }
    const same = () => 'x'
    const another = (index: number) => `x${index}`
    t.same(
      [100, 40, 8, 3, 1].map((places) => countFree(places, same)),
      [10, 4, 1, 1, 1],
    )
    t.same(
      [100, 40, 8, 3, 1].map((places) => countFree(places, another)),
      [50, 20, 4, 1, 1],
    )
  },
)

t.test('200 hanging calls of one owner do not delay others', async (t) => {
  const gate = new Gate(createAdmission(100))
  void holdPlaces(gate, 'tarpit', 200)
  t.equal(gate.waiting, 150)
  const entries = Array.from({ length: 25 }, (_, index) => gate.tryEnter(of('other'), `d${index % 3}`))
  t.ok(entries.every((entry) => entry?.kind === 'entered'))
  t.equal((await gate.enter(of('third'), 'd0')).kind, 'entered')
})

t.test('the number of waiting calls is limited, and an owner may have half of it', async (t) => {
  const gate = new Gate(createAdmission(100))
  for (const id of ['a', 'b']) for (let index = 0; index < 45; index++) mustEnter(gate, id, `d${index}`)
  for (const id of ['a', 'b']) {
    void holdPlaces(gate, id, 600, () => 'd0')
    t.equal((await gate.enter(of(id), 'd0')).kind, 'full')
  }
  t.equal(gate.waiting, 1_000)
  t.equal(gate.tryEnter(of('c'), 'd0')?.kind, 'full', 'the limit of all owners')
})

t.test('a cancelled call stops waiting, and takes no slot', async (t) => {
  const gate = new Gate(createAdmission(1))
  const first = mustEnter(gate, 'a', 'x')
  const giveUp = new AbortController()
  const impatient = gate.enter(of('a'), 'x', 0, giveUp.signal)
  const patient = gate.enter(of('b'), 'x')
  giveUp.abort(new Error('enough'))
  await t.rejects(impatient, { message: 'enough' })
  t.equal(gate.waiting, 1)
  first.leave(true)
  t.equal((await patient).kind, 'entered')
  await t.rejects(
    gate.enter(of('a'), 'x', 0, giveUp.signal),
    { message: 'enough' },
    'cancelled before it waits',
  )
})

t.test('a call that leaves twice frees one slot', async (t) => {
  const gate = new Gate(createAdmission(1))
  const entry = mustEnter(gate, 'a', 'x')
  entry.leave(true)
  entry.leave(true)
  mustEnter(gate, 'a', 'x')
  t.equal(gate.tryEnter(of('b'), 'x'), undefined)
})

t.test('ten workspaces of one creator delay a quiet workspace’s calls no more than one would', async (t) => {
  const findDelays = async (
    createdBy: string | null,
    workspaces: number,
    destination: (n: number) => string,
  ) => {
    let now = 0
    const gate = new Gate(createAdmission(100), () => now)
    const underWay: { until: number; entry: Entered }[] = []
    const begin = (entry: GateEntry) => {
      if (entry.kind === 'entered') underWay.push({ until: now + 10_000, entry })
    }
    for (let n = 0; n < workspaces; n++)
      for (let call = 0; call < 300; call++)
        void gate.enter(of(`busy-${n}`, createdBy), destination(call)).then(begin)
    const delays: number[] = []
    for (now = 0; now < 100_000; now += 1_000) {
      for (const ended of underWay.filter(({ until }) => until <= now)) {
        underWay.splice(underWay.indexOf(ended), 1)
        ended.entry.leave(true)
      }
      const askedAt = now
      void gate.enter(of('quiet'), destination(0)).then((entry) => {
        delays.push(now - askedAt)
        if (entry.kind === 'entered') entry.leave(true)
      })
      await setImmediate()
    }
    return { most: Math.max(...delays), count: delays.length }
  }
  for (const [kind, destination] of [
    ['webhooks', (n: number) => `https://${n % 30}.example`],
    ['mails', () => 'smtp'],
  ] as const) {
    const one = await findDelays('user:ada', 1, destination)
    t.strictSame(one, { most: 0, count: 100 }, kind)
    t.strictSame(await findDelays('user:ada', 10, destination), one, kind)
    t.ok((await findDelays(null, 10, destination)).most > 0, `${kind} of ten owners do delay it`)
  }
})

t.test('all workspaces of one creator have half of the slots and of the waiting calls', async (t) => {
  const gate = new Gate(createAdmission(100))
  const entries = Array.from({ length: 8 }, (_, n) =>
    Array.from({ length: 300 }, (_, call) => gate.enter(of(`w${n}`, 'user:ada'), `d${call % 30}`)),
  ).flat()
  t.equal(gate.inFlight, 50)
  t.equal(gate.waiting, 500)
  void Promise.allSettled(entries)
  t.equal((await gate.enter(of('w9', 'user:ada'), 'd')).kind, 'full')
  mustEnter(gate, 'other', 'd')
})

const mebibyte = 1_048_576

/** A call of an event of its own. */
function heavy(owner: string, heapBytes = mebibyte): CallOwner {
  return { ...of(`${owner}-workspace`, owner), heapBytes }
}

t.test('calls that hold much in memory are limited by bytes, in flight and waiting', async (t) => {
  const gate = new Gate(createAdmission(100), undefined, undefined, 64 * mebibyte)
  const countHeld = (owner: string) => {
    for (let held = 0; ; held++) {
      const caller = heavy(owner)
      const entry = gate.tryEnter(caller, 'tarpit')
      if (entry?.kind === 'full') return held
      if (entry === undefined) void gate.enter(caller, 'tarpit')
    }
  }
  t.equal(countHeld('ada'), 21, 'a third')
  t.equal(gate.inFlight, 10)
  t.equal(gate.waiting, 11)
  t.equal(countHeld('bob'), 14, 'a third of the rest')
  t.equal(gate.tryEnter(heavy('cy'), 'd')?.kind, 'entered', 'there is room for the next owner')
  t.equal(gate.tryEnter(of('ada-workspace', 'ada'), 'd')?.kind, 'entered', 'and for light calls')
})

t.test('calls of one event share its data, and each counts what it renders', async (t) => {
  const gate = new Gate(createAdmission(100), undefined, undefined, 8 * mebibyte)
  const event = heavy('ada', 2 * mebibyte)
  const entries = Array.from({ length: 20 }, (_, n) => gate.tryEnter(event, `d${n}`))
  t.ok(entries.every((entry) => entry?.kind === 'entered'))
  const rendering = heavy('bob', 2)
  t.equal(gate.tryEnter(rendering, 'd', mebibyte)?.kind, 'entered')
  t.equal(gate.tryEnter(rendering, 'd', mebibyte)?.kind, 'entered')
  t.equal(gate.tryEnter(rendering, 'd', mebibyte)?.kind, 'full')
})

t.test('what a call held is given back once, however it ends', async (t) => {
  let now = 0
  const gate = new Gate(createAdmission(1), () => now, undefined, 4 * mebibyte)
  const giveUp = new AbortController()
  for (let round = 0; round < 10; round++) {
    const entry = gate.tryEnter(heavy('ada', 3 * mebibyte), 'd')
    t.equal(entry?.kind, 'entered', 'a call of any size, where nothing is held')
    if (entry?.kind === 'entered') for (let twice = 0; twice < 2; twice++) entry.leave(true)
  }
  const first = mustEnter(gate, 'a', 'd')
  const cancelled = gate.enter(heavy('ada', 3 * mebibyte), 'd', 0, giveUp.signal)
  t.equal(gate.tryEnter(heavy('bob', 3 * mebibyte), 'd')?.kind, 'full')
  giveUp.abort()
  await t.rejects(cancelled)
  const waiting = gate.enter(heavy('ada', 3 * mebibyte), 'd')
  for (let failure = 0; failure < 5; failure++) {
    now += 1
    if (failure === 0) first.leave(true)
    const entry = await (failure === 0 ? waiting : gate.enter(heavy('ada', 3 * mebibyte), 'd'))
    if (entry.kind === 'entered') entry.leave(false)
  }
  t.equal(gate.tryEnter(heavy('ada', 3 * mebibyte), 'd')?.kind, 'broken')
  t.equal(gate.tryEnter(heavy('ada', 3 * mebibyte), 'other')?.kind, 'entered')
})

const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const ownerOf = (id: string) => ('abc'.includes(id) ? 'user:ada' : null)
const ownedBy = (id: string) => of(id, ownerOf(id))
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('enter' as const), id: ids, to: fc.constantFrom('x', 'y') }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('try' as const), id: ids, to: fc.constantFrom('x', 'y') }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('leave' as const), at: fc.nat(), wasAnswered: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('give up' as const), at: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass time' as const), ms: fc.nat(100_000) }) },
)

t.test('in any sequence, limits hold, no call waits beside a free slot, and no slot is lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 20 }),
      fc.array(step, { minLength: 10, maxLength: 150 }),
      async (places, steps) => {
        let now = 0
        const gate = new Gate(createAdmission(places), () => now)
        const inFlight: { id: string; to: string; entry: Entered }[] = []
        const line: { id: string; to: string; controller: AbortController }[] = []
        const note = (id: string, to: string, entry: GateEntry | undefined) => {
          if (entry?.kind === 'entered') inFlight.push({ id, to, entry })
        }
        const wait = (id: string, to: string) => {
          const waiter = { id, to, controller: new AbortController() }
          line.push(waiter)
          gate
            .enter(ownedBy(id), to, 0, waiter.controller.signal)
            .then((entry) => note(id, to, entry))
            .catch(() => {})
            .finally(() => line.splice(line.indexOf(waiter), 1))
        }
        const leave = (at: number, wasAnswered: boolean) =>
          inFlight.splice(at % inFlight.length, 1)[0]?.entry.leave(wasAnswered)
        const count = (id: string, to?: string) =>
          inFlight.filter((one) => one.id === id && (to === undefined || one.to === to)).length
        const countOwner = (id: string) =>
          ownerOf(id) === null ? count(id) : inFlight.filter((one) => ownerOf(one.id) === ownerOf(id)).length
        const ofLane = Math.max(1, Math.floor(places / 10))
        const ofOwner = Math.max(1, places >> 1)
        const ofAll = Math.max(1, places - ofLane)

        for (const step of steps) {
          if (step.do === 'enter') wait(step.id, step.to)
          else if (step.do === 'try') note(step.id, step.to, gate.tryEnter(ownedBy(step.id), step.to))
          else if (step.do === 'leave') leave(step.at, step.wasAnswered)
          else if (step.do === 'give up') line[step.at % line.length]?.controller.abort(new Error('enough'))
          else now += step.ms
          await setImmediate()
          const isHeld = [...inFlight, ...line].every(
            ({ id, to }) => inFlight.length <= ofAll && countOwner(id) <= ofOwner && count(id, to) <= ofLane,
          )
          if (!isHeld) throw new Error('a limit was passed')
          const waitsInVain = line.some(
            ({ id, to }) => inFlight.length < ofAll && countOwner(id) < ofOwner && count(id, to) < ofLane,
          )
          if (waitsInVain) throw new Error('somebody waits where there is a place')
          if (gate.waiting !== line.length) throw new Error('the line is counted wrongly')
        }
        while (inFlight.length > 0) {
          leave(0, true)
          await setImmediate()
        }
        if (line.length > 0 || gate.waiting > 0) throw new Error('somebody was never let in')
        now += 1_000_000
        for (let index = 0; index < ofAll; index++) mustEnter(gate, `new${index}`, 'x')
      },
    ),
    { numRuns: 150 },
  )
})

/** A gate with a clock of the test, and a destination with an open breaker. */
function breakDestination() {
  const clock = { now: 0 }
  const gate = new Gate(createAdmission(100), () => clock.now)
  for (let failure = 0; failure < 5; failure++) mustEnter(gate, 'a', 'x').leave(false)
  return { clock, gate }
}

t.test('after five failures in a row, a breaker opens for 30 seconds, for one workspace only', async (t) => {
  const { clock, gate } = breakDestination()
  t.same(gate.tryEnter(of('a'), 'x'), { kind: 'broken', retryAfterMs: 30_000 })
  clock.now = 10_000
  t.same(await gate.enter(of('a'), 'x'), { kind: 'broken', retryAfterMs: 20_000 })
  t.equal(gate.tryEnter(of('a'), 'y')?.kind, 'entered')
  t.equal(gate.tryEnter(of('b'), 'x')?.kind, 'entered')
})

t.test('a system clock that is set back does not keep a breaker open for longer', async (t) => {
  const gate = new Gate(createAdmission(100))
  for (let failure = 0; failure < 5; failure++) mustEnter(gate, 'a', 'x').leave(false)
  const [time, sinceStart] = [Date.now(), performance.now()]
  t.intercept(Date, 'now', { value: () => time - 3_600_000 })
  t.intercept(performance, 'now', { value: () => sinceStart + 31_000 })
  t.equal(gate.tryEnter(of('a'), 'x')?.kind, 'entered')
})

t.test('a response between two failures resets the count', async (t) => {
  const gate = new Gate(createAdmission(100))
  for (const wasAnswered of [false, false, false, false, true, false, false, false, false])
    mustEnter(gate, 'a', 'x').leave(wasAnswered)
  t.equal(gate.tryEnter(of('a'), 'x')?.kind, 'entered')
})

t.test('after the pause one call is the probe; its response closes the breaker', async (t) => {
  const { clock, gate } = breakDestination()
  clock.now = 30_000
  const probe = mustEnter(gate, 'a', 'x')
  t.same(gate.tryEnter(of('a'), 'x'), { kind: 'broken', retryAfterMs: 1_000 }, 'only one call is the probe')
  probe.leave(true)
  for (let call = 0; call < 10; call++) mustEnter(gate, 'a', 'x')
})

t.test('a probe that is not called after all leaves the next call to be one', async (t) => {
  const { clock, gate } = breakDestination()
  clock.now = 30_000
  mustEnter(gate, 'a', 'x').leave(undefined)
  mustEnter(gate, 'a', 'x').leave(true)
  t.equal(gate.tryEnter(of('a'), 'x')?.kind, 'entered')
})

t.test('the pause doubles with each failed probe, up to five minutes', async (t) => {
  const { clock, gate } = breakDestination()
  for (const restMs of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
    t.same(gate.tryEnter(of('a'), 'x'), { kind: 'broken', retryAfterMs: restMs })
    clock.now += restMs
    mustEnter(gate, 'a', 'x').leave(false)
  }
})

t.test('calls that began before the breaker opened neither count nor prolong its pause', async (t) => {
  const clock = { now: 0 }
  const gate = new Gate(createAdmission(100), () => clock.now)
  const calls = Array.from({ length: 10 }, () => mustEnter(gate, 'a', 'x'))
  for (const call of calls) call.leave(false)
  t.same(gate.tryEnter(of('a'), 'x'), { kind: 'broken', retryAfterMs: 30_000 })
})

t.test('calls that wait for a destination whose breaker opens are refused', async (t) => {
  const gate = new Gate(createAdmission(20))
  for (let failure = 0; failure < 4; failure++) mustEnter(gate, 'a', 'x').leave(false)
  const [call] = [mustEnter(gate, 'a', 'x'), mustEnter(gate, 'a', 'x')]
  const waiting = Promise.all([gate.enter(of('a'), 'x'), gate.enter(of('a'), 'x')])
  t.equal(gate.waiting, 2)
  call?.leave(false)
  for (const entry of await waiting) t.equal(entry.kind, 'broken')
  t.equal(gate.waiting, 0)
})

t.test('of the calls that wait at the end of the pause, one is the probe, others are refused', async (t) => {
  const clock = { now: 0 }
  const gate = new Gate(createAdmission(20), () => clock.now)
  for (let failure = 0; failure < 5; failure++) mustEnter(gate, 'a', 'x').leave(false)
  const others = Array.from({ length: 10 }, (_, index) => mustEnter(gate, 'a', `y${index}`))
  clock.now = 30_000
  const waiting = Promise.all([gate.enter(of('a'), 'x'), gate.enter(of('a'), 'x'), gate.enter(of('a'), 'x')])
  t.equal(gate.waiting, 3, 'since the owner has no free slot')
  for (const call of others) call.leave(true)
  const late = { kind: 'broken', retryAfterMs: 1_000 }
  matchLists(t, await waiting, [{ kind: 'entered' }, late, late])
})

t.test('the number of remembered destinations is limited: the oldest failure is forgotten', async (t) => {
  const breaker = createBreaker(() => 0)
  for (let failure = 0; failure < 5; failure++) breaker.end('first', false, false)
  t.equal(breaker.findRest('first'), 30_000)
  for (let index = 0; index < 10_000; index++) breaker.end(`other ${index}`, false, false)
  t.equal(breaker.findRest('first'), undefined)
})

t.test('a destination is the origin of a URL in lower case, and for mails the mail server', async (t) => {
  const find = (type: string, config: object) => destinationOf({ type, config, of: {} } as OutsideAction)
  t.equal(find('SEND_WEBHOOK', { url: 'HTTPS://Hooks.Example.COM:443/a?b' }), 'https://hooks.example.com')
  t.equal(find('SEND_NOTIFICATION', { url: 'http://x.example:8080' }), 'http://x.example:8080')
  t.equal(find('SEND_EMAIL', { to: 'a@x.example' }), 'smtp')
  t.equal(find('SEND_WEBHOOK', { url: 'http://' }), 'nowhere')
})

t.test('a mute mail server takes a tenth of the slots, and owners take turns at it', async (t) => {
  const gate = new Gate(createAdmission(100))
  const mails: GateEntry[] = []
  const begun: string[] = []
  for (let n = 0; n < 10; n++)
    for (let mail = 0; mail < 50; mail++)
      void gate.enter(of(`mailing-${n}`), 'smtp').then((entry) => {
        mails.push(entry)
        begun.push(`mailing-${n}`)
      })
  await setImmediate()
  t.equal(gate.inFlight, 10)
  t.same(
    begun.filter((workspace) => workspace === 'mailing-0').length,
    5,
    'one owner has half of them at most',
  )
  for (let n = 0; n < 20; n++) mustEnter(gate, 'other', `https://${n % 3}.example`)
  void gate.enter(of('late'), 'smtp').then(() => begun.push('late'))
  for (let n = 0; n < 11; n++) {
    const mail = mails.shift()
    if (mail?.kind === 'entered') mail.leave(true)
    await setImmediate()
  }
  t.ok(begun.includes('late'), 'a newcomer waits for one round, and not for 450 mails')
  t.equal(gate.inFlight, 30)
})

t.test('our mail server rests for all workspaces; a destination of a rule for its own alone', async (t) => {
  const gate = new Gate(createAdmission(100), () => 0)
  for (const destination of ['smtp', 'https://down.example'])
    for (let n = 0; n < 5; n++) mustEnter(gate, 'a', destination).leave(false)
  t.match(gate.tryEnter(of('a'), 'https://down.example'), { kind: 'broken' })
  t.match(gate.tryEnter(of('b'), 'https://down.example'), { kind: 'entered' })
  t.match(gate.tryEnter(of('a'), 'smtp'), { kind: 'broken' })
  t.match(gate.tryEnter(of('b'), 'smtp'), { kind: 'broken' })
})
