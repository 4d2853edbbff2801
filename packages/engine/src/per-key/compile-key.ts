import { isOver, type Rendering } from '../templates/fill-placeholder.js'
import { compileTemplate } from '../templates/template.js'
import { cutText } from '../texts/cut-text.js'
import { maxRenderedLength, toText } from '../values/to-text.js'
import type { Evaluation } from '../work/evaluation.js'
import { durationMs } from './duration-ms.js'
import type { PerKey } from './per-key.js'

/** `perKey` of a rule, ready to be asked for any event. Durations are ms. */
export interface CompiledPerKey {
  /** As written; "" where all events share a key. State belongs to it: another template has other keys. */
  readonly template: string
  readonly atLeast: { readonly events: number; readonly within: number } | undefined
  readonly atMost: { readonly runs: number; readonly per: number } | undefined
  readonly whileRunning: PerKey['whileRunning']
  /** As written: its ends need the parser of cron expressions, which who only evaluates a rule does not. */
  readonly collect: PerKey['collect']
  /** The key of an event. Never throws, on any data. */
  readonly render: (data: unknown, evaluation?: Evaluation) => RenderedKey
}

export interface RenderedKey {
  /** "" is the key of all events whose template gives nothing. */
  readonly key: string
  readonly warnings: readonly string[]
  /** Why this is not the key of the event: it could not be rendered as a whole. */
  readonly fault: string | undefined
}

/** How much of a key is shown, in characters. */
const shownLength = 256

/** Compiles a part without faults. One with faults is a rule that does not compile. */
export function compilePerKey(perKey: PerKey): CompiledPerKey {
  const { key = '', atLeast, atMost, whileRunning, collect } = perKey
  const template = compileTemplate(key)
  if (typeof template === 'string') throw new Error(`perKey.key ${template}`)
  return {
    template: key,
    atLeast: atLeast && { events: atLeast.events, within: durationMs(atLeast.within) },
    atMost: atMost && { runs: atMost.runs, per: durationMs(atMost.per) },
    whileRunning,
    collect,
    render(data, evaluation) {
      const warnings: string[] = []
      const rendering: Rendering = { warnings, size: 0, ...(evaluation && { evaluation }) }
      const text = textOf(template.render(data, rendering))
      const fault = key === '' ? undefined : findFault(rendering)
      if (key !== '' && text === '' && fault === undefined)
        warnings.push('perKey.key is empty: all events without it share one key')
      return { key: text, warnings, fault }
    },
  }
}

/** Work or length beyond the limit leaves placeholders empty: what is left may be the key of other events. */
function findFault(rendering: Rendering): string | undefined {
  if (!isOver(rendering)) return undefined
  return rendering.evaluation?.fault ?? `perKey.key renders to more than ${maxRenderedLength} characters`
}

/** A key as it is shown: the whole of it may be as long as the event. */
export function showKey(key: string): string {
  return cutText(key, shownLength, '…')
}

/** 7 and "7" are one key. The order of the keys of an object does not matter. */
function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(sortKeys(value)) : toText(value)
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(entries.map(([name, inner]) => [name, sortKeys(inner)]))
}
