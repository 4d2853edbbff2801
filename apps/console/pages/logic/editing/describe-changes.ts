import type { Definition } from '../rule-definition.js'
import { show } from '../show.js'
import { describeAction, nameConfigField, nameType, wordsOf } from './action-words.js'
import { alignItems, isEqual } from './align-items.js'
import { describeCondition, isKnown } from './describe-condition.js'
import { describePerKey, type PerKey } from './describe-per-key.js'
import type { LooseAction } from './kept-configs.js'
import { describeSchedule, type Schedule } from './schedule-kinds.js'

/** What changed from one version of a rule to another, a sentence for each change. */
export function describeChanges(before: Definition, after: Definition): string[] {
  const told = new Set(['conditions', 'actions'])
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => !told.has(key))
  return [
    ...keys.flatMap((key) => describeField(key, fieldOf(before, key), fieldOf(after, key))),
    ...describeList('Condition', before.conditions, after.conditions, describeCondition),
    ...describeList(
      'Action',
      before.actions as never,
      after.actions as never,
      describeAction,
      describeInside,
    ),
  ]
}

const fieldWords: Record<string, string> = { trigger: 'Event', perKey: 'Limit' }
const writers: Record<string, (value: unknown) => string> = {
  trigger: (value) => nameType(String(value)),
  schedule: (value) => describeSchedule(value as Schedule),
  perKey: (value) => describePerKey(value as PerKey),
}

function describeField(key: string, before: unknown, after: unknown): string[] {
  if (isEqual(before, after)) return []
  const name = fieldWords[key] ?? `${key.slice(0, 1).toUpperCase()}${key.slice(1)}`
  const write = writers[key] ?? show
  if (isNothing(before)) return [`${name} is ${write(after)} now.`]
  return [
    isNothing(after)
      ? `${name} ${write(before)} was removed.`
      : `${name}: ${write(before)} → ${write(after)}.`,
  ]
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

function fieldOf(holder: object, key: string): unknown {
  return (holder as Record<string, unknown>)[key]
}

function describeList<Item>(
  noun: string,
  before: readonly Item[],
  after: readonly Item[],
  describe: (item: Item) => string,
  inside?: (before: Item, after: Item) => string | undefined,
): string[] {
  const { kept, inserted } = alignItems(before, after)
  const added = (index: number) => (inserted[index] ?? []).map((item) => `${noun} added: ${describe(item)}.`)
  const lines = before.flatMap((item, index) => {
    const next = kept[index]
    if (next === undefined) return [...added(index), `${noun} ${index + 1} was removed: ${describe(item)}.`]
    if (isEqual(item, next)) return added(index)
    const words = inside?.(item, next) ?? `${describe(item)} → ${describe(next)}`
    return [...added(index), `${noun} ${index + 1}: ${words}.`]
  })
  return [...lines, ...added(before.length)]
}

/** The fields that differ, where both are of one type. */
function describeInside(before: LooseAction, after: LooseAction): string | undefined {
  if (before.type !== after.type) return undefined
  const { config: was, ...optionsBefore } = before
  const { config: is, ...optionsAfter } = after
  const differences = [
    ...listDifferences(was, is, before.type),
    ...listDifferences(optionsBefore, optionsAfter, before.type),
  ]
  return `${wordsOf(before.type).verb}, ${differences.join(', ')}`
}

function listDifferences(before: object, after: object, type: string): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys]
    .filter((key) => !isEqual(fieldOf(before, key), fieldOf(after, key)))
    .map((key) => {
      const [was, is] = [fieldOf(before, key), fieldOf(after, key)].map(writeOption)
      const name = nameConfigField(type, key) || key
      return was === undefined
        ? `${name} ${is}`
        : is === undefined
          ? `without ${name}`
          : `${name} ${was} → ${is}`
    })
}

function writeOption(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (isKnown(value)) return describeCondition(value)
  return Array.isArray(value) && value.length > 0 && value.every(isKnown)
    ? value.map(describeCondition).join(' and ')
    : show(value)
}
