import type { Action } from '@automation/client'
import { actionDefinitions } from '@automation/engine'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { describeAction, nameConfigField, nameField, wordsOf } from '../../../logic/editing/action-words.js'
import { addField } from '../../../logic/editing/add-field.js'
import { KeptConfigs, type LooseAction } from '../../../logic/editing/kept-configs.js'
import { listRecorded } from '../../../logic/editing/list-recorded.js'
import { emptyOfField, type FieldSchema, kindOfField } from '../../../logic/editing/schema-kind.js'
import type { Definition } from '../../../logic/rule-definition.js'
import { Combobox, type Option } from '../../../parts/combobox.js'
import { Icon } from '../../../parts/icon.js'
import { Menu, type MenuItem } from '../../../parts/menu.js'
import { offers } from '../../../state/frame.js'
import { ActionOptions } from './action-options.js'
import { ConfigChip } from './config-chip.js'
import { focusSoon, ItemScope, PlaceholderScope, TemplateScope } from './editing.js'
import { FaultOf } from './faults.js'
import { JsonInput } from './json-input.js'
import { LineEnd } from './line-end.js'
import { useCredentials } from './use-choices.js'
import { useLines } from './use-lines.js'

const definitions: ReadonlyMap<string, (typeof actionDefinitions)[number]> = new Map(
  actionDefinitions.map((definition) => [definition.type, definition]),
)
const typeOptions = actionDefinitions.map(({ type, description }) => ({
  value: type,
  text: wordsOf(type).verb,
  hint: description.split('. ')[0] ?? '',
}))
const keptConfigs = new KeptConfigs()

/** What a rule does, in order. The sentence follows from the schemas of the engine, so a new action or field needs no change here. */
export function ActionLines({
  definition,
  change,
}: {
  definition: Definition
  change: (actions: Action[]) => void
}) {
  const { actions } = definition
  const list = actions as unknown as LooseAction[]
  const lines = useLines({
    items: list,
    path: 'actions',
    write: (next) => change(next as unknown as Action[]),
    nameOf: ({ type }) => `the action "${wordsOf(type).verb}"`,
    firstPathOf: (_, path) => `${path}.type`,
  })
  return (
    <>
      <FaultOf path="actions" />
      <ol class="lines">
        {list.map((action, index) => (
          <li key={index} onKeyDown={lines.moveByKey(index)}>
            <ActionLine
              recorded={listRecorded(definition, index)}
              action={action}
              index={index}
              menu={lines.menuOf(index)}
              change={(next) => lines.change(index, keptConfigs.follow(action, next))}
              changeType={(type) =>
                lines.change(
                  index,
                  keptConfigs.changeType(
                    action,
                    beginAction(type),
                    fieldsOf(type).map(([name]) => name),
                  ),
                )
              }
              remove={() => lines.remove(index)}
            />
          </li>
        ))}
      </ol>
      <div class="line">
        <span class="joint" />
        <div class="row">
          <button type="button" class="plain small" onClick={() => lines.add(beginAction())}>
            <Icon name="plus" /> Action
          </button>
        </div>
      </div>
    </>
  )
}

/** A new action with its required fields empty; one of several kinds begins with the most usual one. */
export function beginAction(type = usualType()): LooseAction {
  const { required = [wordsOf(type).main] } = (definitions.get(type)?.config ?? {}) as FieldSchema
  return { type, config: Object.fromEntries(required.map((name) => [name, ''])) }
}

/** In a frame its session may not allow the usual one. */
function usualType(): string {
  return (inFrame && offeredTypes()[0]?.value) || 'CREATE_TASK'
}

function offeredTypes() {
  return inFrame ? typeOptions.filter(({ value }) => offers('actions', value)) : typeOptions
}

function fieldsOf(type: string): [string, FieldSchema][] {
  return Object.entries((definitions.get(type)?.config.properties ?? {}) as Record<string, FieldSchema>)
}

interface LineProps {
  recorded: readonly Option[]
  action: LooseAction
  index: number
  menu: MenuItem[]
  change: (action: LooseAction) => void
  changeType: (type: string) => void
  remove: () => void
}

function ActionLine({ recorded, action, index, menu, change, changeType, remove }: LineProps) {
  const path = `actions[${index}]`
  const [isEdited, edit] = useState(false)
  const credentials = useCredentials(isEdited && takesCredentials(action.type))
  const name = `action ${index + 1}`
  return (
    <>
      <fieldset class="line" aria-label={`Action ${index + 1}: ${describeAction(action)}`} data-path={path}>
        <span class="joint">{index === 0 ? 'then' : 'and then'}</span>
        <div class="chips" onFocusIn={() => edit(true)}>
          <Combobox
            label={`Action ${index + 1}`}
            path={`${path}.type`}
            look="chip verb-chip"
            isStrict
            value={action.type}
            options={inFrame ? offeredTypes() : typeOptions}
            change={changeType}
            taken={() => focusSoon(`${path}.config.${wordsOf(action.type).main}`)}
          />
          <FaultOf path={`${path}.type`} />
          <PlaceholderScope first={recorded} more={credentials}>
            <Config {...{ action, path, change }} />
          </PlaceholderScope>
          <FaultOf path={path} />
        </div>
        <LineEnd name={name} menu={menu} remove={remove} />
      </fieldset>
      <ActionOptions {...{ action, path, change }} />
    </>
  )
}

/** A call over HTTP may send a secret of the workspace; a mail is read by people. */
function takesCredentials(type: string): boolean {
  return definitions.get(type)?.doneBy === 'call' && type !== 'SEND_EMAIL'
}

/** The fields of the config, those that have a line of their own at the end. */
function Config({
  action,
  path,
  change,
}: {
  action: LooseAction
  path: string
  change: (action: LooseAction) => void
}) {
  const definition = definitions.get(action.type)
  const set = (name: string, value: unknown) => {
    const { [name]: _, ...rest } = action.config
    change({ ...action, config: value === undefined ? rest : { ...action.config, [name]: value } })
  }
  if (definition === undefined)
    return (
      <JsonInput
        label="Config"
        path={`${path}.config`}
        value={action.config}
        change={(config) => change({ ...action, config: config as LooseAction['config'] })}
      />
    )
  const required = new Set<string>((definition.config.required ?? []) as string[])
  const isShown = (name: string) => required.has(name) || action.config[name] !== undefined
  const fields = fieldsOf(action.type)
  const missing = fields.filter(([name]) => !isShown(name))
  const chips = fields
    .filter(([name]) => isShown(name))
    .sort(([, one], [, other]) => weightOf(one) - weightOf(other))
  return (
    <>
      {chips.map(([name, schema]) => (
        <FieldScope key={`${action.type} ${name}`} action={action} schema={schema}>
          <ConfigChip
            name={name}
            words={nameConfigField(action.type, name)}
            schema={schema}
            path={`${path}.config.${name}`}
            value={action.config[name]}
            example={(definition.example as Record<string, unknown>)[name]}
            change={(value) => set(name, value)}
            remove={required.has(name) ? undefined : () => set(name, undefined)}
          />
        </FieldScope>
      ))}
      {missing.length > 0 && (
        <Menu
          label="Add a field"
          look="chip empty-chip"
          edge="start"
          items={missing.map(([name, schema]) => ({
            label: nameConfigField(action.type, name) || nameField(name),
            run: () => {
              change({ ...action, config: addField(action, name, emptyOfField(schema)) })
              focusSoon(`${path}.config.${name}`)
            },
          }))}
        >
          <Icon name="plus" /> field
        </Menu>
      )}
    </>
  )
}

/** For each item of a list: conditions begin at the item, and placeholders may name it. */
function FieldScope({
  action: { config },
  schema,
  children,
}: {
  action: LooseAction
  schema: FieldSchema
  children: ComponentChildren
}) {
  const { forEach } = config
  if (typeof forEach !== 'string') return <>{children}</>
  const Scope = kindOfField(schema) === 'conditions' ? ItemScope : TemplateScope
  return <Scope list={forEach}>{children}</Scope>
}

function weightOf(schema: FieldSchema): number {
  const kind = kindOfField(schema)
  return kind === 'json' || kind === 'long text' || kind === 'conditions' ? 1 : 0
}
