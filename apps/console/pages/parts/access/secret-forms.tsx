import schema from 'schema:SigningSecretToCreate'
import type { SchemeName, SchemeSettings, SigningSecret } from '@automation/client'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { schemes } from '../../logic/scheme-names.js'
import { nameSettings } from '../../logic/scheme-settings.js'
import { api } from '../../state/session.js'
import { linkTo } from '../../state/use-filters.js'
import { type FieldText, SchemaForm } from '../schema-form.js'
import { WebhookAddress } from '../webhook-address.js'
import { SettingFields } from './setting-fields.js'

interface Given {
  secret: string
  settings: SchemeSettings
}

interface Values extends Given {
  direction: 'incoming' | 'outgoing'
  scheme: SchemeName
  provider: string
}

export function NewSecret() {
  const [values, setValues] = useState<Values>({
    ...{ direction: 'incoming', scheme: 'automation', provider: '' },
    ...{ secret: '', settings: {} },
  })
  const { direction, scheme, provider } = values
  const isIncoming = direction === 'incoming'
  const isForeign = isIncoming && scheme !== 'automation'
  const set = (next: Values) => {
    if (next.scheme === scheme) return setValues(next)
    const isOwn = provider !== '' && !(provider in schemes)
    // Another scheme has other settings.
    setValues({ ...next, settings: {}, provider: isOwn ? provider : nameOf(next.scheme) })
  }
  return (
    <SchemaForm
      title="New signing secret"
      send="Create"
      reads="secrets"
      say={sayRefusal}
      wide={isForeign && scheme === 'generic'}
      isPart
      schema={schema}
      texts={{
        direction: {
          label: 'It signs',
          words: { incoming: 'incoming webhooks', outgoing: 'outgoing webhooks' },
        },
        ...(isIncoming && { scheme: { label: 'From', words: schemes } }),
        provider: {
          label: isIncoming ? 'Provider' : 'Host',
          placeholder: isIncoming ? 'shop' : 'hooks.example.com',
        },
        ...(isForeign && { secret: describeSecret(scheme, 'a new one') }),
      }}
      submit={() => {
        const given = isForeign ? { scheme, ...writeGiven(values, {}) } : {}
        return api().developer.signingSecrets.create({ provider, direction, ...given })
      }}
      // What somebody brought need not be shown.
      shows={({ secret }) => (isForeign && values.secret !== '' ? undefined : secret)}
      tell={() =>
        isIncoming && (
          <p>
            Enter this address at the provider: <WebhookAddress provider={provider} />
          </p>
        )
      }
      {...{ values, set }}
    >
      {isForeign && <Settings key={scheme} {...{ scheme, values, set }} />}
    </SchemaForm>
  )
}

/** Another text, or other settings. What is empty stays. */
export function ChangeSecret({ secret }: { secret: SigningSecret }) {
  const { id, scheme, provider, settings: stored } = secret
  const [values, set] = useState<Given>({ secret: '', settings: stored ?? {} })
  return (
    <SchemaForm
      title={`Change the secret of ${provider}`}
      send="Save"
      reads="secrets"
      say={sayRefusal}
      wide={scheme === 'generic'}
      isPart
      schema={schema}
      texts={{ secret: describeSecret(scheme, 'unchanged') }}
      submit={() => api().developer.signingSecrets.put(id, writeGiven(values, stored ?? {}))}
      {...{ values, set }}
    >
      <Settings {...{ scheme, values, set }} />
    </SchemaForm>
  )
}

/** A type of the workspace is created on another page: what stands in the form stays. */
function sayRefusal(problem: string | undefined): ComponentChildren {
  const type = problem && /\b(\w+) is none/.exec(problem)?.[1]
  return (
    problem && (
      <>
        {nameSettings(problem)}
        {type && (
          <>
            {'. '}
            <a href={linkTo('rules', { tab: 'types' })} target="_blank" rel="noreferrer">
              Create the event type {type} first
            </a>
            , then come back to this form.
          </>
        )}
      </>
    )
  )
}

function describeSecret(scheme: SchemeName, placeholder: string): FieldText {
  const who = scheme === 'generic' ? 'the provider' : schemes[scheme].split(',')[0]
  return { label: `Secret, as ${who} shows it`, kind: 'password', maxLength: 512, placeholder }
}

interface SettingsProps<Values> {
  scheme: SchemeName
  values: Values
  set: (values: Values) => void
}

function Settings<Values extends Given>({ scheme, values, set }: SettingsProps<Values>) {
  return (
    <>
      <SettingFields
        scheme={scheme}
        settings={values.settings}
        set={(settings) => set({ ...values, settings })}
      />
      {scheme === 'generic' && (
        <p class="quiet">
          If neither a time nor an id is signed, the same body counts as repeated for five minutes. Later a
          copy of it is accepted again.
        </p>
      )}
    </>
  )
}

/** What is as it was stored is not sent. */
function writeGiven({ secret, settings }: Given, stored: SchemeSettings): Partial<Given> {
  return {
    ...(secret.trim() !== '' && { secret: secret.trim() }),
    ...(JSON.stringify(settings) !== JSON.stringify(stored) && { settings }),
  }
}

function nameOf(scheme: SchemeName): string {
  return scheme === 'automation' || scheme === 'generic' ? '' : scheme
}
