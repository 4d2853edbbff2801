import type { SchemeName, SchemeSettings } from '@automation/client'
import { useState } from 'preact/hooks'
import {
  changeSetting,
  isNeeded,
  type Setting,
  settingFields,
  settingsOf,
} from '../../logic/scheme-settings.js'
import { Field } from '../field.js'
import { RemoveButton } from '../remove-button.js'

interface Props {
  scheme: SchemeName
  settings: SchemeSettings
  set: (settings: SchemeSettings) => void
}

/** The settings that a scheme has, each as its kind is typed. */
export function SettingFields({ scheme, settings, set }: Props) {
  return (
    <div class="fields settings">
      {settingsOf(scheme).map((name) => (
        <SettingControl
          key={name}
          name={name}
          value={settings[name]}
          isRequired={isNeeded(scheme, name)}
          change={(value) => set(changeSetting(settings, name, value))}
        />
      ))}
    </div>
  )
}

interface ControlProps {
  name: Setting
  value: unknown
  isRequired: boolean
  change: (value: unknown) => void
}

function SettingControl({ name, value, isRequired, change }: ControlProps) {
  const { label, example, hint, options } = settingFields[name]
  if (name === 'types') return <Types types={value as SchemeSettings['types']} change={change} />
  if (name === 'response') return <Response value={value as SchemeSettings['response']} change={change} />
  if (options)
    return (
      <Field label={label}>
        {(own) => (
          <select
            {...own}
            value={(value as string | undefined) ?? options[0]}
            onChange={({ currentTarget }) => change(currentTarget.value)}
          >
            {options.map((one) => (
              <option key={one} value={one}>
                {nameOf(one)}
              </option>
            ))}
          </select>
        )}
      </Field>
    )
  return (
    <Field label={label} hint={hint}>
      {(own) =>
        name === 'headers' ? (
          <HeaderList
            own={own}
            value={value as SchemeSettings['headers']}
            example={example}
            change={change}
          />
        ) : (
          <input
            {...own}
            spellcheck={false}
            autocomplete="off"
            required={isRequired}
            placeholder={example}
            value={(value as string | undefined) ?? ''}
            onInput={({ currentTarget }) => change(currentTarget.value)}
          />
        )
      }
    </Field>
  )
}

function nameOf(option: string): string {
  return option === '' ? 'nothing' : option === ' ' ? 'space' : option
}

interface HeaderProps {
  own: object
  value: readonly string[] | undefined
  example: string | undefined
  change: (value: string[]) => void
}

function HeaderList({ own, value = [], example, change }: HeaderProps) {
  // What ends with a comma is on its way to another name.
  const [text, type] = useState(value.join(', '))
  return (
    <input
      {...own}
      spellcheck={false}
      autocomplete="off"
      placeholder={example}
      value={text}
      onInput={({ currentTarget }) => {
        type(currentTarget.value)
        change(currentTarget.value.split(/[\s,]+/).filter((name) => name !== ''))
      }}
    />
  )
}

/** Their types, and the event types that these become: a line each. */
function Types({
  types = {},
  change,
}: {
  types?: Record<string, string> | undefined
  change: (value: unknown) => void
}) {
  // A line that says only one of the two is no setting yet.
  const [lines, setLines] = useState<[string, string][]>(() => [...Object.entries(types), ['', '']])
  const write = (next: [string, string][]) => {
    const isOpen = next.at(-1)?.some((text) => text !== '') ?? true
    setLines(isOpen ? [...next, ['', '']] : next)
    const entries = next.filter(([theirs, ours]) => theirs !== '' && ours !== '')
    change(entries.length === 0 ? undefined : Object.fromEntries(entries))
  }
  const { label, hint } = settingFields.types
  return (
    <fieldset class="bare field">
      <legend>{label}</legend>
      {lines.map(([theirs, ours], index) => (
        <div key={index} class="row pair">
          <input
            aria-label={`Their type ${index + 1}`}
            spellcheck={false}
            placeholder="payment.failed"
            value={theirs}
            onInput={({ currentTarget }) => write(lines.with(index, [currentTarget.value, ours]))}
          />
          <span class="quiet">becomes</span>
          <input
            aria-label={`Event type ${index + 1}`}
            spellcheck={false}
            placeholder="PAYMENT_FAILED"
            value={ours}
            onInput={({ currentTarget }) => write(lines.with(index, [theirs, currentTarget.value]))}
          />
          {(theirs !== '' || ours !== '') && (
            <RemoveButton what={`type ${index + 1}`} remove={() => write(lines.toSpliced(index, 1))} />
          )}
        </div>
      ))}
      <span class="sub">{hint}</span>
    </fieldset>
  )
}

function Response({
  value,
  change,
}: {
  value: SchemeSettings['response']
  change: (value: SchemeSettings['response']) => void
}) {
  const { status = 200, body = '' } = value ?? {}
  return (
    <fieldset class="bare field">
      <legend>{settingFields.response.label}</legend>
      <div class="row pair">
        <input
          type="number"
          aria-label="Status of the response"
          min={200}
          max={299}
          placeholder="200"
          value={value === undefined ? '' : status}
          onInput={({ currentTarget }) =>
            change(currentTarget.value === '' ? undefined : { status: Number(currentTarget.value), body })
          }
        />
        <input
          aria-label="Body of the response"
          placeholder="the usual one"
          maxLength={1_000}
          value={body}
          onInput={({ currentTarget }) => change({ status, body: currentTarget.value })}
        />
      </div>
    </fieldset>
  )
}
