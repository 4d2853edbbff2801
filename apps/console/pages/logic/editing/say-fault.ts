import { namePath } from '../name-path.js'
import { nameConfigField, nameField, nameInnerField, nameType } from './action-words.js'
import type { DefinitionFault } from './find-condition-faults.js'
import type { LooseAction } from './kept-configs.js'

/** The parts of a rule that have no label of their own. */
const parts: Readonly<Record<string, string>> = {
  trigger: 'when',
  perKey: 'the limit',
  order: 'the number in the group',
  schedule: 'the schedule',
}

/** The schemas whose fields have words of their own there. */
const titles: Readonly<Record<string, string>> = {
  collect: 'Collect',
  at: 'CollectAt',
  decision: 'WaitDecision',
}

/** The words for a place in a rule, by the labels of its form: `the limit, with the events that come, within`. */
export function nameFaultPath(path: string, actions: readonly unknown[]): string {
  const [first = '', ...inner] = path.split('.')
  const index = /^actions\[(\d+)\]$/.exec(first)?.[1]
  if (path === '' || first.startsWith('conditions')) return namePath(path)
  if (index === undefined) return [parts[first] ?? `the ${nameField(first)}`, ...nameInner(inner)].join(', ')
  const [option = '', field, ...deeper] = inner
  const place = namePath(first)
  if (option !== 'config') return [place, ...(option === 'when' ? ['only if'] : nameInner(inner))].join(', ')
  if (field === undefined) return place
  const { type = '' } = (actions[Number(index)] ?? {}) as Partial<LooseAction>
  const [, name = field, item = ''] = /^(\w+)\[(\d+)\]/.exec(field) ?? []
  const words = nameConfigField(type, name) || nameField(name)
  const number = item === '' ? [] : [`number ${Number(item) + 1}`]
  return [place, words, ...number, ...nameInner(deeper, titles[name])].join(', ')
}

function nameInner([name, ...deeper]: readonly string[], title?: string): string[] {
  return name === undefined
    ? []
    : [nameInnerField(name, title) || nameField(name), ...nameInner(deeper, titles[name])]
}

/** What the message of a fault calls a field by its key. */
const keys = /\b(?:atLeast|atMost|whileRunning|collect|when)\b(?!\.)|\bfor or at\b/g

/** A fault as a form says it: what is not filled in is asked for, and a field has the name that stands before it. */
export function sayFault({ message, isUnfinished }: Omit<DefinitionFault, 'field'>): string {
  if (isUnfinished && /^(?:Required|Must have at least 1 character)$/.test(message)) return 'Fill this in'
  if (message === 'Must have at least 1 item') return 'Add at least one'
  return message
    .replace(/^Must be omitted (?:with|unless)\b/, (start) =>
      start.endsWith('with') ? 'Must not stand beside' : 'Must be removed unless',
    )
    .replaceAll(keys, (key) =>
      key === 'for or at'
        ? `“${nameInnerField('for', 'Collect')}” or “${nameInnerField('at', 'Collect')}”`
        : `“${key === 'when' ? 'only if' : nameInnerField(key)}”`,
    )
    .replace(/\bSCHEDULE\b/, (type) => `“${nameType(type)}”`)
}
