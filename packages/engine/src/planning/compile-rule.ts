import { type ActionType, isCallType } from '../actions/index.js'
import type { CompiledCondition } from '../conditions/compiled-condition.js'
import { compileCondition } from '../conditions/conditions.js'
import { compileConfig } from '../configs/config-template.js'
import { type CredentialUse, listCredentialUses } from '../configs/config-uses.js'
import { type CompiledPerKey, compilePerKey } from '../per-key/compile-key.js'
import type { PerKey } from '../per-key/per-key.js'
import { type Declared, listCaptured, readDeclared } from '../results/recorded.js'
import type { Retry } from '../results/retry.js'
import type { Action, RuleDefinition } from '../rule.js'
import type { Template } from '../templates/template.js'
import { compileEach, type RenderEach } from './emit-each.js'
import { findRecordedReads, listWaitedFields, type RecordedReads } from './recorded-reads.js'
import { compileWaitFor, type WaitFor, waitForDecision } from './wait-for.js'

/** A compiled rule, which runs any number of times, for any data. */
export interface CompiledRule {
  readonly conditions: readonly CompiledCondition[]
  readonly actions: readonly CompiledAction[]
  readonly declared: Declared
  /** The fields that actions read of the event that ended a WAIT; undefined where one reads all of it. */
  readonly waitedFields: readonly string[] | undefined
  readonly perKey: CompiledPerKey | undefined
}

export interface CompiledAction extends RecordedReads {
  /** Index of the action in the rule, from 0. */
  readonly index: number
  readonly type: ActionType
  readonly name: string | undefined
  readonly when?: CompiledCondition
  readonly config: Template
  /** Of an action with forEach, whose `where` and `data` are not in `config`: they are for each item. */
  readonly renderEach?: RenderEach
  /** Absent if there are none. */
  readonly credentials?: readonly CredentialUse[]
  readonly continueOnError: boolean
  readonly timeoutMs: number | undefined
  readonly retry: Retry | undefined
  readonly onUncertain: 'retry' | 'stop'
  /** The names of the values that it captures. */
  readonly captures: readonly string[]
  /** Of a WAIT for an event, or for a decision. */
  readonly waitFor?: WaitFor
}

/**
 * Compiles a definition that fits RuleDefinition and has no faults (findRuleFaults). Throws an Error for faults of conditions; those of a
 * config make its action fail.
 * A definition is compiled once and planned many times.
 */
export function compileRule(definition: RuleDefinition & { perKey?: PerKey | null }): CompiledRule {
  const declared = readDeclared(definition.actions)
  return {
    conditions: definition.conditions.map(compileCondition),
    actions: definition.actions.map((action, index) => compileAction(action, index, declared)),
    declared,
    waitedFields: declared.waits.length === 0 ? [] : listWaitedFields(definition.actions, declared),
    perKey: definition.perKey ? compilePerKey(definition.perKey) : undefined,
  }
}

function compileAction(action: Action, index: number, declared: Declared): CompiledAction {
  return {
    index,
    type: action.type,
    name: action.name,
    ...(action.when && { when: compileCondition(action.when) }),
    ...compileActionConfig(action),
    ...compileCredentials(action),
    continueOnError: action.continueOnError ?? false,
    timeoutMs: action.timeoutMs,
    retry: action.retry,
    onUncertain: action.onUncertain ?? 'retry',
    captures: listCaptured(action),
    ...(action.type === 'WAIT' && action.config.for && { waitFor: compileWaitFor(action.config.for) }),
    ...(action.type === 'WAIT' && action.config.decision && { waitFor: waitForDecision }),
    ...findRecordedReads(action, index, declared),
  }
}

function compileActionConfig({ type, config }: Action): Pick<CompiledAction, 'config' | 'renderEach'> {
  if (type === 'WAIT' && config.for !== undefined) {
    // They are of another event.
    const { conditions, ...others } = config.for
    return { config: compileConfig(type, { ...config, for: others }) }
  }
  if (type !== 'EMIT_EVENT' || config.forEach === undefined) return { config: compileConfig(type, config) }
  const { data, forEach, where, ...others } = config
  const renderEach = compileEach({ forEach, where, data })
  return { config: compileConfig(type, { ...others, forEach }), renderEach }
}

function compileCredentials({ type, config }: Action): Pick<CompiledAction, 'credentials'> {
  const credentials = isCallType(type) ? listCredentialUses(config, '') : []
  return credentials.length === 0 ? {} : { credentials }
}
