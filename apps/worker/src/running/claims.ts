import { getHeapStatistics } from 'node:v8'
import { createBatcher, type Database, newId } from '@automation/database'
import { collectedAlone, Evaluation, parseCollection, ruleHolds, type WorkLimits } from '@automation/engine'
import {
  type ClaimedExecution,
  cancelledByHand,
  claimExecutions,
  closeBatch,
  type HeldLease,
  heapBytesOf,
  type LoadedEvent,
  readCollected,
  type Step,
} from '@automation/ledger'
import { LRUCache } from 'lru-cache'
import type { Leases } from '../calls/leases.js'
import type { Causation } from '../executions/causation.js'
import { EffectBudget } from '../executions/effect-budget.js'
import { collects, type Execution, end, failUnevaluated } from '../executions/execution.js'
import { createEventFinder } from '../executions/find-ending-event.js'
import { keyToClaim } from '../executions/key-to-claim.js'
import { makeReady, type ReadyRule } from '../executions/ready-rule.js'
import { isPassing } from '../executions/until-postgres-is-back.js'
import { findAddressee } from './addressee.js'

/** Of the heap, for all rules of executions that come back. */
const share = 1 / 20

/**
 * Claims executions that are due, and prepares them to be continued. Where Postgres goes away meanwhile, they are given back: nobody
 * renews their leases, and that would be taken for the end of a worker. Any other error counts as one, since it may come back each time.
 */
export class Claims {
  readonly #database: Database
  readonly #causation: Causation
  readonly #leases: Pick<Leases, 'giveBack' | 'hold' | 'release'>
  readonly #workLimits: WorkLimits | undefined
  readonly #findEvent: ReturnType<typeof createEventFinder>
  readonly #claim: (id: string) => Promise<ClaimedExecution | undefined>
  /** By rule and version. A version never changes, so it stays valid; only a failover of Postgres may give its number to another one. */
  readonly #compiled = new LRUCache<string, ReadyRule>({
    maxSize: Math.floor(getHeapStatistics().heap_size_limit * share),
    sizeCalculation: ({ heapBytes }) => heapBytes,
  })

  constructor(
    database: Database,
    causation: Causation,
    leases: Pick<Leases, 'giveBack' | 'hold' | 'release'>,
    workLimits?: WorkLimits,
  ) {
    this.#database = database
    this.#causation = causation
    this.#leases = leases
    this.#workLimits = workLimits
    this.#findEvent = createEventFinder(database, workLimits)
    this.#claim = createBatcher((ids) => {
      const claims = ids.map((id) => ({ id, lease: newId() }))
      return this.#giveBackOnFailure(claims, () => claimExecutions(database, claims))
    })
  }

  /** @returns undefined where the execution is not due: it is finished, cancelled, it waits for its key, or another worker was faster */
  async claim(executionId: string): Promise<Step<Execution> | undefined> {
    const claimed = await this.#claim(executionId)
    if (claimed === undefined) return undefined
    const held = { id: executionId, lease: claimed.lease }
    return this.#giveBackOnFailure([held], () => this.#holding(held, () => this.#prepare(claimed)))
  }

  async #prepare(claimed: ClaimedExecution): Promise<Step<Execution> | undefined> {
    const rule = claimed.isGivenUp ? makeEmpty(claimed) : await this.#findRule(claimed)
    const event = eventOf(claimed)
    const mayCollect = rule !== undefined && collects(rule) && findCancellation(claimed, rule) === undefined
    const batch = mayCollect ? await this.#openBatch(claimed, rule, event) : undefined
    if (batch === 'waits') return undefined
    const evaluation = new Evaluation(event.acceptedAt, this.#workLimits)
    // Another worker, or this one before it was restarted, may have emitted what this one has not counted.
    if (mayEmit(rule, claimed)) await this.#causation.countStored(event)
    const execution = continueClaimed(claimed, event, rule, evaluation, this.#causation)
    // The conditions held for each event of a batch.
    if (batch !== 'open') evaluateAgain(execution)
    if (execution.record.finishedAt === null)
      execution.look = await this.#findEvent(execution, claimed.waitSeen)
    return { execution, lease: claimed.lease }
  }

  /**
   * Gives an execution what its batch has collected. Its moment is the end of the batch.
   *
   * @returns `waits` where others have its key, or another worker has it; `alone` where it is no batch, but was executed by hand or could not be
   * evaluated
   */
  async #openBatch(
    { executionId, workspaceId, lease, results }: ClaimedExecution,
    rule: ReadyRule,
    event: LoadedEvent,
  ): Promise<'waits' | 'alone' | 'open'> {
    const claim = keyToClaim(rule, event, new Evaluation(event.acceptedAt, this.#workLimits))
    const { keyId, perKey } = typeof claim === 'object' ? claim : {}
    if (keyId !== undefined && results.length === 0) {
      const isExclusive = perKey?.whileRunning !== undefined
      const isFree = await closeBatch(this.#database, { executionId, lease, keyId, isExclusive })
      if (!isFree) return 'waits'
    }
    const batch = keyId && (await readCollected(this.#database, { workspaceId, executionId }))
    if (!batch) {
      event.data = collectedAlone(event.data)
      return 'alone'
    }
    event.data = parseCollection(batch)
    event.heapBytes = [batch.last, ...batch.events].reduce((sum, text) => sum + heapBytesOf(text), 0)
    event.acceptedAt = batch.endsAt
    return 'open'
  }

  /** To wait for the lock of a key, or to look at many events, may take longer than a lease. */
  async #holding<Result>(held: HeldLease, work: () => Promise<Result>): Promise<Result> {
    this.#leases.hold({ execution: { record: held }, lease: held.lease })
    try {
      return await work()
    } finally {
      this.#leases.release(held)
    }
  }

  async #giveBackOnFailure<Result>(claims: HeldLease[], work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (isPassing(error)) for (const claim of claims) this.#leases.giveBack(claim)
      throw error
    }
  }

  async #findRule(claimed: ClaimedExecution): Promise<ReadyRule | undefined> {
    const { addressee, handlerId: id, ruleVersion: version, name, perKey, conditions, actions } = claimed
    if (addressee?.kind === 'subscription')
      return (await findAddressee(this.#database, claimed, addressee)).rule
    if (name === null) return undefined
    const key = `${id} ${version} ${this.#database.generation()}`
    const known = this.#compiled.get(key)
    if (known) return known
    const rule = makeReady({ id, version, name, perKey, conditions, actions })
    this.#compiled.set(key, rule)
    return rule
  }
}

/** The rule of an execution that is given up: nothing is compiled, and nothing of it is left to do. Undefined where it was deleted. */
function makeEmpty(claimed: ClaimedExecution): ReadyRule | undefined {
  const { addressee, handlerId: id, ruleVersion: version, name, conditions, actions } = claimed
  if (name === null && addressee?.kind !== 'subscription') return undefined
  return makeReady({ id, version, name: name ?? '', conditions, actions })
}

/** A rule that was deleted: nothing of it is left to do. */
function makeGone(id: string, version: number): ReadyRule {
  return { id, name: '', version, group: null, order: null, compiled: { fault: '' }, heapBytes: 0 }
}

/** A retry repeats any of the actions that have not succeeded. */
function mayEmit(rule: ReadyRule | undefined, { results }: ClaimedExecution): boolean {
  if (rule === undefined || 'fault' in rule.compiled) return false
  return rule.compiled.actions.some(
    ({ type, index }) => type === 'EMIT_EVENT' && results[index]?.status !== 'success',
  )
}

/** @param rule undefined where it was deleted */
function continueClaimed(
  claimed: ClaimedExecution,
  event: LoadedEvent,
  rule: ReadyRule | undefined,
  evaluation: Evaluation,
  causation: Causation,
): Execution {
  const { executionId: id, handlerId, ruleVersion, results, startedAt, lease } = claimed
  const { interruptions, reopened } = claimed
  const execution: Execution = {
    record: {
      id,
      handlerId,
      ruleVersion,
      status: 'running',
      error: null,
      results,
      startedAt,
      finishedAt: null,
      dueAt: null,
      lease,
      awaitsSlot: false,
      interruptions,
      reopened,
      attention: null,
    },
    rule: rule ?? makeGone(handlerId, ruleVersion),
    evaluation,
    budget: new EffectBudget(event, causation),
    event,
    claimed: { decision: claimed.decision, at: claimed.claimedAt },
    tasks: [],
    emitted: [],
    effectBytes: 0,
  }
  const claim = keyToClaim(execution.rule, event, evaluation)
  // One that goes on without its key has its claim already: the sweeper wakes the next of the key.
  if (typeof claim !== 'string') execution.claim = claim
  const reason = findCancellation(claimed, rule)
  if (reason !== undefined) end(execution.record, 'cancelled', reason)

  return execution
}

/** An execution without any result may have failed before its conditions were evaluated (failUnevaluated), and may have been retried. */
function evaluateAgain({ rule: { compiled }, record, event, evaluation }: Execution): void {
  if (record.finishedAt !== null || record.results.length > 0) return
  if ('fault' in compiled || ruleHolds(compiled, event.data, evaluation)) return
  if (evaluation.fault === null) end(record, 'cancelled', 'The conditions do not hold')
  else failUnevaluated(record, evaluation)
}

/** Why a claimed execution is not continued. */
function findCancellation(
  { mayRun, isCancelled, addressee }: ClaimedExecution,
  rule: ReadyRule | undefined,
): string | undefined {
  if (isCancelled) return cancelledByHand
  if (rule === undefined)
    return addressee?.kind === 'subscription' ? 'The subscription is gone' : 'The rule was deleted'
  return mayRun === false ? 'The rule was switched off' : undefined
}

function eventOf(claimed: ClaimedExecution): LoadedEvent {
  return {
    id: claimed.eventId,
    workspaceId: claimed.workspaceId,
    type: claimed.type,
    data: claimed.data,
    heapBytes: claimed.heapBytes,
    acceptedAt: claimed.acceptedAt,
    addressee: claimed.addressee,
    depth: claimed.depth,
    rootId: claimed.rootId,
    rulesVersion: claimed.rulesVersion,
    autoPauseAfter: claimed.autoPauseAfter,
    createdBy: claimed.createdBy,
  }
}
