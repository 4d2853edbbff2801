import { cutText } from '../texts/cut-text.js'
import { parsePath } from '../values/path.js'
import type { Evaluation } from '../work/evaluation.js'
import { findLinkFault, type LinksToMake, showLinks } from './decision-links.js'
import { type ActionResult, isOpen } from './outcome.js'

/**
 * What later actions of a rule read of earlier ones: `captured.NAME` of a response, `actions.NAME.outcome` and others, `waited.path` of the event that
 * ended a WAIT, and `decision.choice` of a person; and what all actions of a batch read, `collected`. A root is special only in a rule that declares it;
 * elsewhere it is event data, so that no rule changes its meaning.
 */
export interface Declared {
  /** The indexes of the actions with these names; one index, but for a faulty rule. */
  readonly actions: ReadonlyMap<string, readonly number[]>
  /** The indexes of the actions that capture these values. */
  readonly captured: ReadonlyMap<string, readonly number[]>
  /** The indexes of the WAITs for an event. */
  readonly waits: readonly number[]
  /** The indexes of the WAITs for a decision; one index, but for a faulty rule. */
  readonly decisions: readonly number[]
  /** Whether its `perKey` collects events. What is collected is part of the data (withCollected). */
  readonly collects: boolean
  /** Of the first of them. */
  readonly links: LinksToMake
}

export type RecordedRoot = 'actions' | 'captured' | 'waited' | 'decision' | 'collected'

/** The name of an action, and of a value that it captures. */
export const recordedName = '^[A-Za-z][A-Za-z0-9_-]{0,63}$'
export const recordedNameError = 'begin with a letter, and have at most 64 letters, digits, _ and -'

/** Of all actions of a rule together. */
export const maxCaptured = 10

/** What may be read of a named action. */
const facts = ['outcome', 'status']
/** And of a WAIT for an event: `event` or `time`. */
const ended = 'ended'

const noLinks: LinksToMake = { options: [], needsRole: false }

/** Most rules: thousands of them are compiled, and share it. */
const nothing: Declared = {
  actions: new Map(),
  captured: new Map(),
  waits: [],
  decisions: [],
  collects: false,
  links: noLinks,
}

/** Reads what actions declare, and `perKey` where it is given. Takes any shape. */
export function readDeclared(actions: unknown, perKey?: unknown): Declared {
  const names = new Map<string, number[]>()
  const captures = new Map<string, number[]>()
  const waits: number[] = []
  const decisions: number[] = []
  const collects = typeof perKey === 'object' && perKey !== null && 'collect' in perKey
  for (const [index, action] of (Array.isArray(actions) ? actions : []).entries()) {
    if (typeof action?.name === 'string') note(names, action.name, index)
    for (const name of listCaptured(action)) note(captures, name, index)
    if (action?.type === 'WAIT' && typeof action.config?.for === 'object') waits.push(index)
    if (action?.type === 'WAIT' && typeof action.config?.decision === 'object') decisions.push(index)
  }
  const links = readLinks(Array.isArray(actions) ? actions[decisions[0] ?? -1] : undefined)
  const declared = { actions: names, captured: captures, waits, decisions, collects, links }
  return declaresAny(declared) || collects ? declared : nothing
}

/** Takes any shape. */
function readLinks(action: { config?: { decision?: { options?: unknown; roles?: unknown } } } | undefined) {
  const { options, roles } = action?.config?.decision ?? {}
  if (!Array.isArray(options)) return noLinks
  return { options: options.filter((one) => typeof one === 'string'), needsRole: roles !== undefined }
}

/** Whether a rule declares anything that its actions could read of earlier ones. */
export function declaresAny({ actions, captured, waits, decisions }: Declared): boolean {
  return actions.size + captured.size + waits.length + decisions.length > 0
}

/** What the WAITs of a rule match: types of events, and paths into their data in the order of their texts. Takes any shape. */
export function readWaitedPaths(actions: unknown): { type: string; paths: string[] }[] {
  const { waits } = readDeclared(actions)
  return waits.map((index) => {
    const { eventType = '', match = {} } =
      (actions as { config: { for: { eventType?: string; match?: object } } }[])[index]?.config.for ?? {}
    return { type: eventType, paths: Object.keys(match ?? {}).sort() }
  })
}

/** The names of the values that an action captures. Takes any shape. */
export function listCaptured(action: { config?: object } | null | undefined): string[] {
  const { capture } = (action?.config ?? {}) as { capture?: unknown }
  return typeof capture === 'object' && capture !== null ? Object.keys(capture) : []
}

/** The root that a path begins with, if the rule declares it. */
export function findRoot(declared: Declared, path: string): RecordedRoot | undefined {
  const [, root] = /^(actions|captured|waited|decision|collected)(?:[.[]|$)/.exec(path) ?? []
  if (root === 'waited') return declared.waits.length > 0 ? root : undefined
  if (root === 'decision') return declared.decisions.length > 0 ? root : undefined
  if (root === 'collected') return declared.collects ? root : undefined
  return root !== undefined && declared[root as 'actions' | 'captured'].size > 0
    ? (root as RecordedRoot)
    : undefined
}

/** Whether a path is that of the link of a decision. */
export function isLinkPath(declared: Declared, path: string): boolean {
  return findRoot(declared, path) === 'decision' && parsePath(path)?.[1] === 'links'
}

/** The actions that a path reads, before an action. None for a path into the data of the event. */
export function findSources(declared: Declared, path: string, before: number): readonly number[] {
  const root = findRoot(declared, path)
  if (root === undefined || root === 'collected') return []
  if (root === 'waited') return declared.waits.filter((index) => index < before)
  if (root === 'decision') return declared.decisions.filter((index) => index < before)
  const [, name = ''] = parsePath(path) ?? []
  return declared[root].get(name)?.filter((index) => index < before) ?? []
}

/** Says why an action, or the conditions of the rule (-1), cannot read a path. Undefined if it can, or if the path is one into the event. */
export function findReadFault(
  declared: Declared,
  path: string,
  before: number,
  isLinkField = false,
): string | undefined {
  const root = findRoot(declared, path)
  if (root === undefined) return undefined
  if (before < 0)
    return `must not read ${cutText(path, 60)}: the conditions of the rule are evaluated before its actions`
  if (root === 'waited') {
    const [first = 0] = declared.waits
    return first < before
      ? undefined
      : `must read what an earlier action has: actions[${first}] waits for an event, and is not earlier`
  }
  const [, name, fact, ...deeper] = parsePath(path) ?? []
  if (root === 'collected') return findCollectedFault(name, fact)
  if (root === 'decision') {
    const [first = 0] = declared.decisions
    if (name === 'links') {
      const rest = fact === undefined ? [] : [fact, ...deeper]
      return findLinkFault(declared.links.options, rest, { before, first, isLinkField })
    }
    if ((name !== 'choice' && name !== 'reason') || fact !== undefined)
      return 'must read decision.choice or decision.reason'
    return first < before
      ? undefined
      : `must read what an earlier action has: actions[${first}] waits for the decision, and is not earlier`
  }
  if (name === undefined) return `must name one of them, such as ${exampleOf(root)}`
  const known = declared[root].get(name)
  const verb = root === 'captured' ? 'captures' : 'has the name'
  if (known === undefined) {
    const names = [...declared[root].keys()].join(', ')
    return `must read what an earlier action has: no action ${verb} ${cutText(name, 60)}, but ${names}`
  }
  if (known.every((index) => index >= before))
    return `must read what an earlier action has: actions[${known[0]}] ${verb} ${name}, and is not earlier`
  if (root === 'actions') {
    const readable = known.some((index) => declared.waits.includes(index)) ? [...facts, ended] : facts
    if (fact === undefined || !readable.includes(fact) || deeper.length > 0)
      return `must read ${readable.map((one) => `actions.${name}.${one}`).join(' or ')}`
  }
  return undefined
}

function findCollectedFault(name: string | undefined, deeper: string | undefined): string | undefined {
  const isKnown = name === 'events' || ((name === 'count' || name === 'omitted') && deeper === undefined)
  return isKnown ? undefined : 'must read collected.count, collected.events or collected.omitted'
}

/** Units of work to copy a field of the event. */
const workPerField = 4

/** What an action reads: the data of the event, and beside it what is recorded of the actions before it. */
export function addRecorded(
  declared: Declared,
  data: unknown,
  results: readonly (ActionResult | undefined)[],
  before: number,
  evaluation: Evaluation,
): object {
  // Spreads define keys and never assign them, so `__proto__` is an ordinary one.
  const scope: { actions?: object; captured?: object; waited?: unknown; decision?: unknown } = {
    ...(data as object),
  }
  evaluation.charge(Object.keys(scope).length * workPerField)
  if (declared.actions.size > 0) scope.actions = Object.fromEntries(listFacts(declared, results, before))
  if (declared.captured.size > 0)
    scope.captured = Object.fromEntries(
      results.slice(0, before).flatMap((result) => Object.entries(result?.captured ?? {})),
    )
  if (declared.waits.length > 0)
    scope.waited = results.slice(0, before).findLast((result) => result?.ended === 'event')?.waited
  if (declared.decisions.length > 0)
    scope.decision =
      before < (declared.decisions[0] ?? 0)
        ? { links: showLinks(declared.links.options) }
        : findDecision(results.slice(0, before))
  return scope
}

/** Where nobody gave a reason, it is null: that is no mistake of the rule, so nothing warns of it. */
function findDecision(results: readonly (ActionResult | undefined)[]): object | undefined {
  const made = results.find((result) => result?.decision !== undefined)?.decision
  return made && { choice: made.choice, reason: made.reason ?? null }
}

/** Without a response, the status is null: that is no mistake of the rule, so nothing warns of it. */
function listFacts(declared: Declared, results: readonly (ActionResult | undefined)[], before: number) {
  return [...declared.actions].flatMap(([name, [index = before]]) => {
    const result = results[index]
    if (index >= before || result === undefined || isOpen(result)) return []
    const { statusCode: status = null } = (result.output ?? {}) as { statusCode?: number }
    const outcome = result.status === 'simulated' ? 'success' : result.status
    const end = declared.waits.includes(index) ? { ended: result.ended ?? null } : {}
    return [[name, { outcome, status, ...end }] as const]
  })
}

function note(known: Map<string, number[]>, name: string, index: number): void {
  const indexes = known.get(name)
  if (indexes === undefined) known.set(name, [index])
  else indexes.push(index)
}

function exampleOf(root: RecordedRoot): string {
  return root === 'captured' ? 'captured.orderId' : 'actions.ticket.outcome'
}
