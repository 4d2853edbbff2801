import { type ActionType, actionDefinitions, scheduleType } from '@automation/engine'
import { show } from '../show.js'
import type { LooseAction } from './kept-configs.js'

export interface ActionWords {
  /** What it does, as it stands in a sentence. */
  verb: string
  /** What stands before a field in the sentence; '' for the one that needs no word. A field without an entry has its name. */
  fields: Readonly<Record<string, string>>
  /** The field that says most. */
  main: string
}

/** Only words: fields, their order and their kinds follow from the schemas of the engine. */
const words: Readonly<Record<ActionType, Omit<ActionWords, 'main'> & { main?: string }>> = {
  CREATE_TASK: {
    verb: 'create a task',
    fields: {
      title: '',
      dueIn: 'due in',
      assigneeId: 'for',
      priority: 'with priority',
      description: 'details',
    },
  },
  SEND_EMAIL: {
    verb: 'send an email',
    fields: {
      to: 'to',
      subject: 'subject',
      template: 'from the template',
      replyTo: 'reply to',
      variables: 'with',
    },
    main: 'subject',
  },
  SEND_NOTIFICATION: {
    verb: 'post to a chat',
    fields: { text: 'the text', url: 'at', format: 'in the format of' },
    main: 'text',
  },
  SEND_WEBHOOK: {
    verb: 'send a request',
    fields: { url: 'to', method: 'with', timeoutMs: 'timeout in ms' },
  },
  WAIT: {
    verb: 'wait',
    fields: {
      duration: '',
      until: 'until',
      offset: 'moved by',
      for: 'or until there is',
      decision: 'for a person to choose',
      time: 'then until',
    },
  },
  EMIT_EVENT: {
    verb: 'emit an event',
    fields: {
      eventType: '',
      forEach: 'for each item of',
      where: 'only for items with',
      data: 'with the data',
    },
  },
}

/** An action type that this page does not know is called by its name, and so are its fields. */
export function wordsOf(type: string): ActionWords {
  const own = Object.hasOwn(words, type)
    ? words[type as ActionType]
    : { verb: type.toLowerCase().replaceAll('_', ' '), fields: {} }
  return { main: firstField(type), ...own }
}

/** `create a task "Call {{name}}"`. */
export function describeAction({ type, config }: LooseAction): string {
  const words = wordsOf(type)
  const main = config[words.main]
  return main === undefined ? words.verb : `${words.verb} ${show(main)}`
}

/** What stands before a field. */
export function nameConfigField(type: string, name: string): string {
  return wordsOf(type).fields[name] ?? nameField(name)
}

/** What stands before a field within another one. */
const innerWords: Readonly<Record<string, string>> = {
  eventType: 'an event',
  match: 'for which',
  conditions: 'with the conditions',
  then: 'which makes the rule',
  key: 'for each',
  atMost: 'at most',
  runs: '',
  per: 'executions per',
  atLeast: 'only once there are',
  events: '',
  within: 'events within',
  collect: 'with the events that come',
  whileRunning: 'while one is in progress',
}

/** Where a field has another meaning within something. */
const wordsWithin: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Collect: { for: 'within', at: 'until', quiet: 'or until none comes for', max: 'at most' },
  CollectAt: { cron: '', timezone: 'in' },
  WaitDecision: { options: 'one of', roles: 'by', ask: 'giving a', within: 'within' },
}

/** @param title of the schema that has it */
export function nameInnerField(name: string, title = ''): string {
  return wordsWithin[title]?.[name] ?? innerWords[name] ?? nameField(name)
}

const choiceWords: Readonly<Record<string, string>> = {
  go_on: 'go on',
  skip: 'skip the newer',
  replace: 'replace it',
  queue: 'wait for it',
}

/** A choice as it is read. */
export function nameChoice(value: string): string {
  return choiceWords[value] ?? value
}

/** `due in` for `dueIn`. */
export function nameField(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
}

/** `lead created` for `LEAD_CREATED`, as it stands behind *When*. A type of the workspace keeps its name. */
export function nameType(type: string): string {
  if (type === scheduleType) return 'on a schedule'
  return /^[A-Z][A-Z0-9_]*$/.test(type) ? type.toLowerCase().replaceAll('_', ' ') : type
}

function firstField(type: string): string {
  const definition = actionDefinitions.find((one) => one.type === type)
  return Object.keys(definition?.config.properties ?? {})[0] ?? ''
}
