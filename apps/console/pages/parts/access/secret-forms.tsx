import type { SchemeName, SchemeSettings, SigningSecret } from '@automation/client'
import { useState } from 'preact/hooks'
import { schemes } from '../../logic/scheme-names.js'
import { nameSettings } from '../../logic/scheme-settings.js'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'
import { DialogForm } from '../dialog-form.js'
import { Select } from '../select.js'
import { ShownOnceDialog } from '../shown-once.js'
import { TextField } from '../text-field.js'
import { SettingFields } from './setting-fields.js'

export function NewSecret({ close }: { close: () => void }) {
  const { change, problem, isBusy } = useChange('secrets')
  const [provider, setProvider] = useState('')
  const [direction, setDirection] = useState<'incoming' | 'outgoing'>('incoming')
  const [scheme, setScheme] = useState<SchemeName>('automation')
  const [given, setGiven] = useState<Given>(nothing)
  const [text, setText] = useState<string>()
  if (text !== undefined) return <ShownOnceDialog title="New signing secret" text={text} close={close} />
  const isForeign = direction === 'incoming' && scheme !== 'automation'
  async function create(): Promise<void> {
    const input = isForeign ? { scheme, ...writeGiven(given, {}) } : {}
    const made = await change(() => api().developer.signingSecrets.create({ provider, direction, ...input }))
    // What somebody brought need not be shown.
    if (made !== undefined) isForeign && given.secret !== '' ? close() : setText(made.secret)
  }
  return (
    <DialogForm
      title="New signing secret"
      send="Create"
      close={close}
      problem={nameSettings(problem)}
      isBusy={isBusy}
      submit={create}
      wide={isForeign && scheme === 'generic'}
    >
      <Select
        label="It signs"
        value={direction}
        options={{ incoming: 'incoming webhooks', outgoing: 'outgoing webhooks' }}
        set={setDirection}
      />
      {direction === 'incoming' && (
        <Select
          label="From"
          value={scheme}
          options={schemes}
          set={(chosen) => {
            setScheme(chosen)
            // Another scheme has other settings.
            setGiven({ ...given, settings: {} })
            if (provider === '' || provider in schemes) setProvider(nameOf(chosen))
          }}
        />
      )}
      <TextField
        label={direction === 'incoming' ? 'Provider' : 'Host'}
        required
        value={provider}
        placeholder={direction === 'incoming' ? 'shop' : 'hooks.example.com'}
        set={setProvider}
      />
      {isForeign && <GivenFields scheme={scheme} given={given} set={setGiven} key={scheme} />}
    </DialogForm>
  )
}

/** Another text, or other settings. What is empty stays. */
export function ChangeSecret({ secret, close }: { secret: SigningSecret; close: () => void }) {
  const { change, problem, isBusy } = useChange('secrets')
  const stored = secret.settings ?? {}
  const [given, setGiven] = useState<Given>({ secret: '', settings: stored })
  async function save(): Promise<void> {
    const input = writeGiven(given, stored)
    const saved = await change(() => api().developer.signingSecrets.put(secret.id, input))
    if (saved !== undefined) close()
  }
  return (
    <DialogForm
      title={`Change the secret of ${secret.provider}`}
      send="Save"
      close={close}
      problem={nameSettings(problem)}
      isBusy={isBusy}
      submit={save}
      wide={secret.scheme === 'generic'}
    >
      <GivenFields scheme={secret.scheme} given={given} set={setGiven} isKept />
    </DialogForm>
  )
}

interface Given {
  secret: string
  settings: SchemeSettings
}

const nothing: Given = { secret: '', settings: {} }

function GivenFields({
  scheme,
  given,
  set,
  isKept = false,
}: {
  scheme: SchemeName
  given: Given
  set: (given: Given) => void
  isKept?: boolean
}) {
  return (
    <>
      <TextField
        label={`Secret, as ${scheme === 'generic' ? 'the provider' : schemes[scheme].split(',')[0]} shows it`}
        type="password"
        autocomplete="off"
        maxLength={512}
        placeholder={isKept ? 'unchanged' : 'a new one'}
        value={given.secret}
        set={(typed) => set({ ...given, secret: typed.trim() })}
      />
      <SettingFields
        scheme={scheme}
        settings={given.settings}
        set={(settings) => set({ ...given, settings })}
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
    ...(secret !== '' && { secret }),
    ...(JSON.stringify(settings) !== JSON.stringify(stored) && { settings }),
  }
}

function nameOf(scheme: SchemeName): string {
  return scheme === 'automation' || scheme === 'generic' ? '' : scheme
}
