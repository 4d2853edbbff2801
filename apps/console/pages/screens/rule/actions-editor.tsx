import type { Action } from '@automation/client'
import { actionDefinitions, listLongFaults, readJson } from '@automation/engine'
import { useEffect, useState } from 'preact/hooks'
import { readNumber } from '../../logic/value-kind.js'
import { Icon } from '../../parts/icon.js'
import { stepOfKey } from './conditions-editor.js'
import { FaultOf, Field } from './field.js'

/** JSON schema, as far as a form needs it. */
interface Schema {
  type?: string | string[]
  enum?: string[]
  description?: string
  minimum?: number
  maximum?: number
}

interface LooseAction {
  type: string
  config: Record<string, unknown>
}

const definitions: ReadonlyMap<string, (typeof actionDefinitions)[number]> = new Map(
  actionDefinitions.map((definition) => [definition.type, definition]),
)

/** What a rule does, in order. The forms follow from the schemas of the engine, so a new action needs no change here. */
export function ActionsEditor({
  actions,
  change,
}: {
  actions: Action[]
  change: (actions: Action[]) => void
}) {
  const list = actions as unknown as LooseAction[]
  const write = (next: LooseAction[]) => change(next as unknown as Action[])
  const move = (index: number, by: number) => {
    const moved = list[index]
    if (moved) write(list.toSpliced(index, 1).toSpliced(index + by, 0, moved))
  }
  return (
    <>
      <FaultOf path="actions" />
      <ol class="actions">
        {list.map((action, index) => (
          <li
            key={index}
            data-path={`actions[${index}]`}
            onKeyDown={(event) => {
              const by = stepOfKey(event)
              if (by === 0 || index + by < 0 || index + by >= list.length) return
              event.preventDefault()
              move(index, by)
            }}
          >
            <div class="row spread">
              <label class="inline">
                <span class="hidden">Action {index + 1}</span>
                <select
                  value={action.type}
                  onChange={({ currentTarget }) => write(list.with(index, beginAction(currentTarget.value)))}
                >
                  {actionDefinitions.map(({ type }) => (
                    <option key={type}>{type}</option>
                  ))}
                </select>
              </label>
              <span class="row">
                <button
                  type="button"
                  class="plain small"
                  aria-label={`Move action ${index + 1} up`}
                  disabled={index === 0}
                  onClick={() => move(index, -1)}
                >
                  ↑
                </button>
                <button
                  type="button"
                  class="plain small"
                  aria-label={`Move action ${index + 1} down`}
                  disabled={index === list.length - 1}
                  onClick={() => move(index, 1)}
                >
                  ↓
                </button>
                <button
                  type="button"
                  class="plain small"
                  aria-label={`Remove action ${index + 1}`}
                  onClick={() => write(list.toSpliced(index, 1))}
                >
                  <Icon name="close" />
                </button>
              </span>
            </div>
            <FaultOf path={`actions[${index}]`} />
            <ActionForm
              action={action}
              path={`actions[${index}].config`}
              change={(config) => write(list.with(index, { ...action, config }))}
            />
            <OtherFields action={action} />
          </li>
        ))}
      </ol>
      <button type="button" class="small" onClick={() => write([...list, beginAction('CREATE_TASK')])}>
        + Action
      </button>
    </>
  )
}

/** A new action with its required fields empty. */
export function beginAction(type: string): LooseAction {
  const config = definitions.get(type)?.config
  const required = (config?.required ?? []) as string[]
  return { type, config: Object.fromEntries(required.map((name) => [name, ''])) }
}

function ActionForm({
  action,
  path,
  change,
}: {
  action: LooseAction
  path: string
  change: (config: Record<string, unknown>) => void
}) {
  const definition = definitions.get(action.type)
  if (definition === undefined) return <p class="sub">This action can be changed in the JSON tab.</p>
  const properties = Object.entries(definition.config.properties as Record<string, Schema>)
  const required = new Set<string>((definition.config.required ?? []) as string[])
  const isShown = (name: string) => required.has(name) || action.config[name] !== undefined
  const missing = properties.filter(([name]) => !isShown(name))
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...rest } = action.config
    change(value === undefined ? rest : { ...action.config, [name]: value })
  }
  return (
    <>
      {properties
        .filter(([name]) => isShown(name))
        .map(([name, schema]) => (
          <div key={name} class="config-field">
            <Field label={name} path={`${path}.${name}`} hint={schema.description}>
              <Control schema={schema} value={action.config[name]} change={(value) => set(name, value)} />
            </Field>
            {!required.has(name) && (
              <button
                type="button"
                class="plain small"
                aria-label={`Remove ${name}`}
                onClick={() => set(name, undefined)}
              >
                <Icon name="close" />
              </button>
            )}
          </div>
        ))}
      {missing.length > 0 && (
        <label class="inline more">
          <span class="hidden">Add a field</span>
          <select
            value=""
            onChange={({ currentTarget }) =>
              set(currentTarget.value, emptyOf(definition.config.properties, currentTarget.value))
            }
          >
            <option value="">+ field…</option>
            {missing.map(([name]) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
    </>
  )
}

function emptyOf(properties: object, name: string): unknown {
  const schema = (properties as Record<string, Schema>)[name]
  if (schema?.enum) return schema.enum[0]
  if (schema?.type === 'integer') return schema.minimum ?? 0
  return schema?.type === 'string' ? '' : {}
}

function Control({
  schema,
  value,
  change,
}: {
  schema: Schema
  value: unknown
  change: (value: unknown) => void
}) {
  if (schema.enum)
    return (
      <select value={String(value ?? '')} onChange={({ currentTarget }) => change(currentTarget.value)}>
        {!schema.enum.includes(String(value)) && <option value="">choose…</option>}
        {schema.enum.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    )
  if (schema.type === 'integer')
    return (
      <input
        type="number"
        min={schema.minimum}
        max={schema.maximum}
        value={typeof value === 'number' || typeof value === 'string' ? value : ''}
        onInput={({ currentTarget: { value: text } }) => change(text === '' ? '' : readNumber(text))}
      />
    )
  if (schema.type === 'string')
    return (
      <input
        spellcheck={false}
        value={String(value ?? '')}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    )
  return <JsonControl value={value} change={change} />
}

/** Any JSON. Unfinished text stays in the field, and the draft keeps the last whole value. */
function JsonControl({ value, change }: { value: unknown; change: (value: unknown) => void }) {
  const written = JSON.stringify(value, null, 2) ?? ''
  const [text, setText] = useState(written)
  const [fault, setFault] = useState<string>()
  useEffect(() => {
    if (fault === undefined && JSON.stringify(parse(text).value) !== JSON.stringify(value)) setText(written)
  }, [written])
  return (
    <>
      <textarea
        rows={3}
        spellcheck={false}
        value={text}
        aria-invalid={fault !== undefined}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          const next = parse(currentTarget.value)
          setFault(next.fault)
          if (next.fault === undefined) change(next.value)
        }}
      />
      {fault !== undefined && <span class="sub bad">{fault}</span>}
    </>
  )
}

function parse(text: string): { value?: unknown; fault?: string } {
  try {
    const { value, longNumbers } = readJson(text, () => false)
    const [fault] = listLongFaults(longNumbers)
    return fault ? { fault: `${fault.field} ${fault.message}.`.trim() } : { value }
  } catch {
    return { fault: 'This is not JSON yet.' }
  }
}

function OtherFields({ action }: { action: LooseAction }) {
  const { type: _type, config: _config, ...others } = action as LooseAction & Record<string, unknown>
  const names = Object.keys(others)
  if (names.length === 0) return null
  return <p class="sub">Also set, in the JSON tab: {names.join(', ')}</p>
}
