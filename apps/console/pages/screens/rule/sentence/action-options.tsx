import { nameField } from '../../../logic/editing/action-words.js'
import { describeCondition } from '../../../logic/editing/describe-condition.js'
import type { LooseAction } from '../../../logic/editing/kept-configs.js'
import { emptyOfField, type FieldSchema } from '../../../logic/editing/schema-kind.js'
import { show } from '../../../logic/show.js'
import { AddChip } from './add-chip.js'
import { ConfigChip } from './config-chip.js'
import { useEditing, vocabulary } from './editing.js'
import { JsonInput } from './json-input.js'

const words: Readonly<Record<string, string>> = {
  when: 'only if',
  retry: 'retry with',
  continueOnError: 'go on after a failure',
  timeoutMs: 'timeout in ms',
  onUncertain: 'if the outcome is unknown',
}
const options = vocabulary.actionFields as readonly { name: string; schema: FieldSchema }[]

interface Props {
  action: LooseAction
  path: string
  change: (action: LooseAction) => void
}

/** What an action has beside its type and its config: when it is done, and what happens if it fails. Folded, since few need it. */
export function ActionOptions({ action, path, change }: Props) {
  const { removes } = useEditing()
  const { type: _type, config: _config, ...others } = action
  const known = new Set(options.map(({ name }) => name))
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...rest } = action
    change((value === undefined ? rest : { ...action, [name]: value }) as LooseAction)
  }
  const unset = (name: string) => {
    removes(nameOf(name))
    set(name, undefined)
  }
  return (
    <details class="options">
      <summary>{summaryOf(others)}</summary>
      <div class="chips">
        {options
          .filter(({ name }) => action[name] !== undefined)
          .map(({ name, schema }) => (
            <ConfigChip
              key={name}
              name={name}
              words={nameOf(name)}
              schema={schema}
              path={`${path}.${name}`}
              value={action[name]}
              change={(value) => set(name, value)}
              remove={() => unset(name)}
            />
          ))}
        {Object.keys(others)
          .filter((name) => !known.has(name))
          .map((name) => (
            <span key={name} class="config block">
              <span class="words">{nameOf(name)}</span>
              <JsonInput
                label={nameOf(name)}
                path={`${path}.${name}`}
                value={action[name]}
                change={(value) => set(name, value)}
              />
            </span>
          ))}
        {options
          .filter(({ name }) => action[name] === undefined)
          .map(({ name, schema }) => (
            <AddChip
              key={name}
              words={nameOf(name)}
              title={schema.description}
              path={`${path}.${name}`}
              add={() => set(name, emptyOfField(schema))}
            />
          ))}
      </div>
    </details>
  )
}

function nameOf(name: string): string {
  return words[name] ?? nameField(name)
}

/** What is set, so that nobody has to unfold it to know. */
function summaryOf(others: Record<string, unknown>): string {
  const set = Object.entries(others)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) =>
      name === 'when' ? `only if ${describeCondition(value as never)}` : describeOption(name, value),
    )
  return set.length === 0 ? 'More' : `More: ${set.join(', ')}`
}

function describeOption(name: string, value: unknown): string {
  if (value === true) return nameOf(name)
  const { attempts } = (value ?? {}) as { attempts?: unknown }
  return attempts === undefined
    ? `${nameOf(name)} ${show(value)}`
    : `${show(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}`
}
