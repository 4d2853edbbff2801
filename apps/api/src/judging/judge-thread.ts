import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'
import {
  compileMailTemplate,
  compileRule,
  explainRule,
  type Fault,
  findRuleFaults,
  Judging,
  planRule,
  type RenderedMail,
  type RuleDefinition,
  sharedSchemas,
  simulatePlan,
  type Trace,
  type WorkLimits,
} from '@automation/engine'
import { type Serializer, SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { ExplainedResult } from '../acceptance/execution-result.js'

export { matchEvents } from './match-events.js'
export { whyOfEvent } from './why-of-event.js'

// What the judge's thread does. It has neither database nor settings: all that it needs comes with the request, as a structured clone.

export interface ToJudge {
  definition: RuleDefinition
  data: unknown
  /** Epoch ms. */
  now: number
  limits: WorkLimits
}

/** Lower than that of all other threads: on busy cores, triggers come first. */
const niceness = 5

/** Called once before a thread's first request, so that the time to start it counts for none. */
export function start(): void {
  try {
    // Linux has a priority for each thread: "<process>/task/<thread>".
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), Math.min(getPriority() + niceness, 19))
  } catch {
    // Elsewhere a priority is the process's, and stays as it is.
  }
}

/**
 * Judges a rule and simulates its actions.
 *
 * @returns the JSON of the response: twenty configs of a megabyte would take the API's own thread too long to write
 */
export function dryRun({
  definition,
  data,
  now,
  limits,
  explains,
}: ToJudge & { explains: boolean }): Uint8Array {
  const rule = compileRule(definition)
  const outcome = { ...simulatePlan(planRule(rule, data, now, limits)), dryRun: true }
  const result = explains ? { ...outcome, trace: explainRule(rule, data, now, limits) } : outcome
  serialize ??= compileSerializer()
  return new TextEncoder().encode(serialize(result))
}

/** @returns null for a definition that does not compile */
export function explain({ definition, data, now, limits }: ToJudge): Trace | null {
  const rule = compileOrNull(definition)
  return rule && explainRule(rule, data, now, limits)
}

export function renderMail({
  texts,
  data,
  variables,
  limits,
}: MailToRender): RenderedMail | { fault: string } {
  return compileMailTemplate(texts).render(data, variables, new Judging(0, limits))
}

interface MailToRender {
  texts: Parameters<typeof compileMailTemplate>[0]
  data: object
  variables: object
  limits: WorkLimits
}

/** @returns the faults of a rule, which compiles its patterns */
export function findFaults(definition: { conditions?: unknown; actions?: unknown }): Fault[] {
  return findRuleFaults(definition)
}

let serialize: Serializer | undefined

/** The serializer that the API compiles for the schema of this response, so that both write the same. */
function compileSerializer(): Serializer {
  const schemas = Object.fromEntries(
    (sharedSchemas as { $id?: string }[]).map((schema) => [schema.$id, schema]),
  )
  const compile = SerializerSelector()(schemas)
  return compile({ schema: ExplainedResult, method: 'POST', url: '', httpStatus: '200' })
}

function compileOrNull(definition: RuleDefinition) {
  try {
    return compileRule(definition)
  } catch {
    return null
  }
}
