import type { Definition } from '../rule-definition.js'
import type { LooseAction } from './kept-configs.js'

interface Named {
  value: string
  hint: string
}

/** What placeholders of an action can name that no event has: what was collected, decided, waited for, and what earlier actions left. */
export function listRecorded(
  { perKey, actions }: Pick<Definition, 'perKey' | 'actions'>,
  index: number,
): Named[] {
  return [
    ...(perKey?.collect ? collected : []),
    ...(actions as readonly unknown[]).flatMap((action, at) =>
      listOf(action as LooseAction, at < index).filter(() => at !== index),
    ),
  ]
}

const collected = [
  { value: 'collected.count', hint: 'how many events came' },
  { value: 'collected.events', hint: 'their data, for #each' },
  { value: 'collected.omitted', hint: 'events that are left out' },
]

/** @param isEarlier false: the action comes later, so there are only the links to what is decided there */
function listOf({ type, name, config }: LooseAction, isEarlier: boolean): Named[] {
  const { decision, for: awaited, capture } = config as Record<string, Record<string, unknown> | undefined>
  if (!isEarlier) {
    const options = Array.isArray(decision?.options) ? decision.options : []
    return options.map((one) => ({ value: `decision.links.${one}`, hint: 'link that decides' }))
  }
  return [
    ...(decision
      ? [
          { value: 'decision.choice', hint: 'what was chosen' },
          { value: 'decision.reason', hint: 'why, or a note' },
        ]
      : []),
    ...Object.keys(capture ?? {}).map((one) => ({
      value: `captured.${one}`,
      hint: 'of an earlier response',
    })),
    ...Object.keys(awaited?.match ?? {}).map((one) => ({
      value: `waited.${one}`,
      hint: 'of the awaited event',
    })),
    ...(typeof name === 'string' && name !== ''
      ? [{ value: `actions.${name}.outcome`, hint: `how ${type} ended` }]
      : []),
  ]
}
