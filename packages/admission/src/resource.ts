/** What a resource has, and how long its line may be. */
export interface Resource {
  /** Places: so much work at a time. */
  total: number
  /** Of one owner. Default: all. */
  perOwner?: number
  /** Of one owner and key (`Asked.key`). Default: all. */
  perKey?: number
  /** How much work of one owner may wait. Default: any number. */
  waiting?: number
  /** How long (ms) it may wait. Default: as long as it takes. */
  timeoutMs?: number
  /** An owner whose work costs more than this has one place, and what other parties ask for is refused (`Asked.party`). Default: none is long. */
  longCost?: number
  /** Work enters together, up to so much of it and so much cost, and has one place until all of it has left. Default: each by itself. */
  together?: { count: number; cost: number }
}

export const unlimited = {
  perOwner: Number.POSITIVE_INFINITY,
  perKey: Number.POSITIVE_INFINITY,
  waiting: Number.POSITIVE_INFINITY,
  timeoutMs: Number.POSITIVE_INFINITY,
  longCost: Number.POSITIVE_INFINITY,
}

/** About one piece of work. */
export interface Asked {
  /** In the unit of the resource, if it is known. Default: what work costs of late. */
  cost?: number
  /** Work of one owner with the same key has a part of its places. */
  key?: string
  /** How long (ms) it may wait, if that is less than the resource allows. */
  timeoutMs?: number
  /** It continues what has begun: it goes before its owner's other work, and is not refused for the length of the line. */
  continues?: boolean
  /** Who asks. Of an owner whose work is long, only the party that came first may wait. */
  party?: object
  /** Work that is not wanted any more leaves the line, with the signal's reason. */
  signal?: AbortSignal
}

/** Work that has a place. Its cost is that of all of it so far, in the unit of the resource. */
export interface Entry {
  /** Gives the place back. @param cost default: the ms for which it had a place */
  leave(cost?: number): void
  /** Gives the place back and waits for another one, before its owner's other work. Long work does so between two parts. */
  pause(cost: number): Promise<void>
}
