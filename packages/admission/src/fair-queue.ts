import { NotAdmitted } from './not-admitted.js'
import { type Asked, type Entry, type Resource, unlimited } from './resource.js'
import { type Place, Share, type Work } from './share.js'

/** An owner is forgotten when it has had no work for so long (ms). */
const forgetMs = 60_000
/** How often (ms) such owners are looked for. */
const lookEveryMs = 1_000
/** When (ms) refused work should be asked for again, at least and at most. */
const leastRetryMs = 500
const longestRetryMs = 10_000

/**
 * Start-time fair queueing (SFQ; Goyal, Vin and Cheng, 1996): shares one resource among owners by what their work costs.
 *
 *   enter ─▶ a place is free, and its owner may have one ─▶ admitted ─▶ leave(cost)
 *     │                                                        └─▶ pause(cost) ─▶ waits before its owner's other work ─▶ admitted
 *     ├─▶ waits ─▶ its owner's tag is the lowest ─▶ admitted
 *     └─▶ its line is full, it has waited too long, or the queue is closed: NotAdmitted
 *
 * A piece of work begins at its owner's tag in virtual time, and moves that tag on by its cost. The lowest tag is next, and virtual time is the tag of what
 * began last. So of two owners with work waiting neither gets more than the other but for their two largest pieces. An owner that was idle begins at the
 * present virtual time: it has saved up nothing and owes nothing. Among equal tags the owner that has used least of late is next, then the one with fewer places.
 *
 * The cost is measured, in the one unit of the resource, so it is known when the work leaves. Until then its owner is charged with an estimate: what its work, or
 * that of all, costs of late.
 *
 * All of this is in the memory of one process. Work that never leaves keeps its place: what it waits for has to have a time limit.
 */
export class FairQueue {
  readonly #resource: typeof unlimited & Resource
  readonly #now: () => number
  readonly #shares = new Map<string, Share>()
  /** Owners that have work waiting. */
  readonly #line = new Set<Share>()
  #virtualNow = 0
  #highestTag = 0
  #places = 0
  #waiting = 0
  /** Of all work so far. */
  #count = 0
  /** What work costs, of any owner. */
  #typical = 0
  #isClosed = false
  #isGathering = false
  #lookedAt = 0

  /** @param now ms, by a monotonic clock */
  constructor(resource: Resource, now: () => number = () => performance.now()) {
    this.#resource = { ...unlimited, ...resource }
    this.#now = now
  }

  /** How many places are taken. */
  get taken(): number {
    return this.#places
  }

  /** How much work waits. */
  get waiting(): number {
    return this.#waiting
  }

  /** How many owners have work, or had some in the last minute. */
  get owners(): number {
    return this.#shares.size
  }

  /** The part of what all have used of late that one owner has, who has used most: 0 to 1. */
  get busiestShare(): number {
    const now = this.#now()
    const used = [...this.#shares.values()].map((share) => share.usedUntil(now))
    const all = used.reduce((sum, one) => sum + one, 0)
    return all === 0 ? 0 : Math.max(...used) / all
  }

  /** Waits for a place. @throws NotAdmitted, or the reason of the signal, by its promise */
  async enter(name: string, asked: Asked = {}): Promise<Entry> {
    asked.signal?.throwIfAborted()
    const share = this.#shareOf(name)
    if (!asked.continues && this.#isFull(share, asked)) throw this.#refusalOf(share, 'own')
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        asked.signal?.removeEventListener('abort', cancel)
      }
      const settle = {
        admit: () => {
          end()
          resolve(this.#open(work))
        },
        refuse: (error: unknown) => {
          end()
          reject(error)
        },
      }
      let timer: NodeJS.Timeout | undefined
      const cancel = () => this.#refuse(work, asked.signal?.reason)
      const work: Work = { ...asked, ...settle, share, number: this.#count++, estimate: 0, place: undefined }
      this.#wait(work)
      if (work.place !== undefined) return
      asked.signal?.addEventListener('abort', cancel)
      const mostMs = this.#resource.timeoutMs
      const timeoutMs = Math.max(0, Math.min(asked.timeoutMs ?? mostMs, mostMs))
      if (timeoutMs < Number.POSITIVE_INFINITY)
        timer = setTimeout(() => this.#refuse(work, this.#refusalOf(share, share.blame(work))), timeoutMs)
    })
  }

  /** @returns undefined if no place is free */
  tryEnter(name: string, asked: Asked = {}): Entry | undefined {
    const share = this.#shareOf(name)
    const settle = { admit: () => {}, refuse: () => {} }
    const work: Work = { ...asked, ...settle, share, number: this.#count++, estimate: 0, place: undefined }
    this.#wait(work)
    if (work.place !== undefined) return this.#open(work)
    this.#remove(work)
    return undefined
  }

  /** Runs work that costs as much as it asks for, or the ms that it takes. @throws NotAdmitted */
  async run<Result>(name: string, run: () => Promise<Result>, asked?: Asked): Promise<Result> {
    const entry = await this.enter(name, asked)
    try {
      return await run()
    } finally {
      entry.leave(asked?.cost)
    }
  }

  /** From now on all is refused but what continues. */
  close(): void {
    this.#isClosed = true
    for (const share of [...this.#line])
      for (const work of share.waiting.filter(({ continues }) => !continues))
        this.#refuse(work, new NotAdmitted('closed', 0))
  }

  #open(work: Work): Entry {
    let enteredAt = this.#now()
    let paid = 0
    const giveBack = (cost: number) => {
      this.#giveBack(work, cost - paid)
      paid = cost
    }
    return {
      leave: (cost = paid + this.#now() - enteredAt) => {
        work.share.present.delete(work)
        giveBack(cost)
        this.#admitNext()
        this.#forgetIdle()
      },
      pause: (cost) =>
        new Promise((resolve) => {
          giveBack(cost)
          work.continues = true
          work.admit = () => {
            enteredAt = this.#now()
            resolve()
          }
          this.#wait(work)
        }),
    }
  }

  #isFull(share: Share, asked: Asked): boolean {
    if (this.#isClosed || share.waiting.length >= this.#resource.waiting) return true
    return this.#isLong(share) && !share.isOfFirst(asked)
  }

  /** It may be asked for again when what is before it has had its time. */
  #refusalOf(share: Share, because: 'own' | 'others'): NotAdmitted {
    if (this.#isClosed) return new NotAdmitted('closed', 0)
    const ms = (share.waiting.length + ++share.refused) * share.typical
    return new NotAdmitted(because, Math.min(Math.max(ms, leastRetryMs), longestRetryMs))
  }

  #wait(work: Work): void {
    const { share } = work
    if (share.isIdle) share.tag = Math.max(share.tag, this.#virtualNow)
    share.present.add(work)
    share.addWaiting(work)
    this.#waiting++
    this.#line.add(share)
    if (this.#resource.together === undefined) this.#admitNext()
    else this.#gather()
  }

  /** What enters in one turn of the event loop enters together. */
  #gather(): void {
    if (this.#isGathering) return
    this.#isGathering = true
    setImmediate(() => {
      this.#isGathering = false
      this.#admitNext()
    })
  }

  #remove(work: Work): void {
    const { share } = work
    share.removeWaiting(work)
    this.#waiting--
    if (share.waiting.length === 0) this.#line.delete(share)
    if (work.place === undefined) share.present.delete(work)
  }

  #refuse(work: Work, error: unknown): void {
    if (work.place !== undefined) return
    this.#remove(work)
    work.refuse(error)
  }

  #admitNext(): void {
    while (this.#line.size > 0 && this.#places < this.#resource.total) {
      const place: Place = { shares: new Set(), work: 0 }
      const admitted = this.#fill(place)
      if (admitted.length === 0) return
      this.#places++
      for (const work of admitted) work.admit()
    }
  }

  #fill(place: Place): Work[] {
    const { count, cost } = this.#resource.together ?? { count: 1, cost: 0 }
    const admitted: Work[] = []
    let left = cost
    while (admitted.length < count) {
      const next = this.#findNext(place)
      if (next === undefined) break
      const estimate = next.cost ?? (next.share.typical || this.#typical)
      if (admitted.length > 0 && estimate > left) break
      left -= estimate
      this.#take(next, place, estimate)
      admitted.push(next)
    }
    return admitted
  }

  #take(work: Work, place: Place, estimate: number): void {
    const { share } = work
    Object.assign(work, { place, estimate })
    this.#remove(work)
    if (!place.shares.has(share)) share.places++
    place.shares.add(share)
    place.work++
    this.#virtualNow = Math.max(this.#virtualNow, share.tag)
    share.charge(work)
    this.#highestTag = Math.max(this.#highestTag, share.tag)
  }

  #giveBack(work: Work, cost: number): void {
    const { place, share } = work
    if (place === undefined) return
    work.place = undefined
    share.settle(work, cost, this.#now())
    this.#typical += (cost - this.#typical) / 16
    this.#highestTag = Math.max(this.#highestTag, share.tag)
    if (--place.work === 0) {
      this.#places--
      for (const each of place.shares) each.places--
    }
    if (!this.#isLong(share)) return
    for (const other of share.waiting.filter((other) => !other.continues && !share.isOfFirst(other)))
      this.#refuse(other, this.#refusalOf(share, 'own'))
  }

  #findNext(place: Place): Work | undefined {
    let next: Work | undefined
    for (const share of this.#line) {
      if (!place.shares.has(share) && share.places >= this.#placesOf(share)) continue
      if (next === undefined || this.#isBefore(share, next.share))
        next = share.findFirst(this.#resource.perKey) ?? next
    }
    return next
  }

  #placesOf(share: Share): number {
    return this.#isLong(share) ? 1 : this.#resource.perOwner
  }

  #isLong({ typical }: Share): boolean {
    return typical > this.#resource.longCost
  }

  #isBefore(one: Share, other: Share): boolean {
    if (one.tag !== other.tag) return one.tag < other.tag
    const now = this.#now()
    const more = one.usedUntil(now) - other.usedUntil(now)
    return more === 0 ? one.places < other.places : more < 0
  }

  #shareOf(name: string): Share {
    const known = this.#shares.get(name)
    if (known !== undefined) return known
    const share = new Share()
    this.#shares.set(name, share)
    return share
  }

  #forgetIdle(): void {
    // At the end of all work all are equal.
    if (this.#places === 0 && this.#waiting === 0) this.#virtualNow = this.#highestTag
    const now = this.#now()
    if (now - this.#lookedAt < lookEveryMs) return
    this.#lookedAt = now
    for (const [name, share] of this.#shares)
      if (share.isIdle && share.tag <= this.#virtualNow && now - share.usedAt > forgetMs)
        this.#shares.delete(name)
  }
}
