import schema from 'schema:SchemeSettings'
import type { SchemeName, SchemeSettings } from '@automation/client'
import { useState } from 'preact/hooks'
import { changeSetting, isNeeded, settingFields, settingsOf } from '../../logic/scheme-settings.js'
import { RemoveButton } from '../remove-button.js'
import { SchemaField } from '../schema-form.js'

interface Props {
  scheme: SchemeName
  settings: SchemeSettings
  set: (settings: SchemeSettings) => void
}

/** The settings that a scheme has, each as its kind is typed. */
export function SettingFields({ scheme, settings, set }: Props) {
  return (
    <div class="fields settings">
      {settingsOf(scheme).map((name) => {
        const change = (value: unknown) => set(changeSetting(settings, name, value))
        if (name === 'types') return <Types key={name} types={settings.types} change={change} />
        if (name === 'response') return <Response key={name} value={settings.response} change={change} />
        return (
          <SchemaField
            key={name}
            {...{ ...schema.properties[name], ...settingFields[name] }}
            required={isNeeded(scheme, name)}
            spellcheck={false}
            value={settings[name]}
            set={change}
          />
        )
      })}
    </div>
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
