import type { SchemeName, SchemeSettings, SigningSecret } from '@automation/client'
import { useState } from 'preact/hooks'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'
import { DialogForm } from '../dialog-form.js'
import { ShownOnceDialog } from '../shown-once.js'

/** How a provider signs, for people. */
export const schemes: Record<SchemeName, string> = {
  automation: 'a sender of your own',
  standard_webhooks: 'Standard Webhooks, Svix',
  stripe: 'Stripe',
  github: 'GitHub',
  shopify: 'Shopify',
  slack: 'Slack',
  twilio: 'Twilio',
  generic: 'another one',
}

const samples: Partial<Record<SchemeName, string>> = {
  twilio: '{ "publicUrl": "https://…/api/incoming-webhooks/twilio/…" }',
  generic: '{ "signatureHeader": "X-Acme-Signature", "signed": "{body}" }',
}

export function NewSecret({ close }: { close: () => void }) {
  const { change, problem, isBusy } = useChange('secrets')
  const [provider, setProvider] = useState('')
  const [direction, setDirection] = useState<'incoming' | 'outgoing'>('incoming')
  const [scheme, setScheme] = useState<SchemeName>('automation')
  const [given, setGiven] = useState<Given>({ secret: '', settings: '' })
  const [text, setText] = useState<string>()
  const fault = findJsonFault(given.settings)
  if (text !== undefined) return <ShownOnceDialog title="New signing secret" text={text} close={close} />
  const isForeign = direction === 'incoming' && scheme !== 'automation'
  async function create(): Promise<void> {
    if (fault !== undefined) return
    const input = isForeign ? { scheme, ...writeGiven(given) } : {}
    const made = await change(() => api().developer.signingSecrets.create({ provider, direction, ...input }))
    // What somebody brought need not be shown.
    if (made !== undefined) isForeign && given.secret !== '' ? close() : setText(made.secret)
  }
  return (
    <DialogForm
      title="New signing secret"
      send="Create"
      close={close}
      problem={problem ?? fault}
      isBusy={isBusy}
      submit={create}
    >
      <label>
        It signs
        <select
          value={direction}
          onChange={({ currentTarget }) => setDirection(currentTarget.value as 'incoming')}
        >
          <option value="incoming">incoming webhooks</option>
          <option value="outgoing">outgoing webhooks</option>
        </select>
      </label>
      {direction === 'incoming' && (
        <label>
          From
          <select
            value={scheme}
            onChange={({ currentTarget }) => {
              const chosen = currentTarget.value as SchemeName
              setScheme(chosen)
              if (provider === '' || provider in schemes) setProvider(nameOf(chosen))
            }}
          >
            {Object.entries(schemes).map(([name, title]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        {direction === 'incoming' ? 'Provider' : 'Host'}
        <input
          required
          value={provider}
          placeholder={direction === 'incoming' ? 'shop' : 'hooks.example.com'}
          onInput={({ currentTarget }) => setProvider(currentTarget.value)}
        />
      </label>
      {isForeign && <GivenFields scheme={scheme} given={given} set={setGiven} />}
    </DialogForm>
  )
}

/** Another text, or other settings. What is empty stays. */
export function ChangeSecret({ secret }: { secret: SigningSecret }) {
  const { change, problem, isBusy } = useChange('secrets')
  const [isOpen, open] = useState(false)
  const stored = secret.settings === null ? '' : JSON.stringify(secret.settings, null, 2)
  const [given, setGiven] = useState<Given>({ secret: '', settings: stored })
  const fault = findJsonFault(given.settings)
  async function save(): Promise<void> {
    if (fault !== undefined) return
    const input = writeGiven(given)
    const saved = await change(() => api().developer.signingSecrets.put(secret.id, input))
    if (saved !== undefined) open(false)
  }
  return (
    <>
      <button type="button" class="small" onClick={() => open(true)}>
        Change…
      </button>
      {isOpen && (
        <DialogForm
          title={`Change the secret of ${secret.provider}`}
          send="Save"
          close={() => open(false)}
          problem={problem ?? fault}
          isBusy={isBusy}
          submit={save}
        >
          <GivenFields scheme={secret.scheme} given={given} set={setGiven} isKept />
        </DialogForm>
      )}
    </>
  )
}

interface Given {
  secret: string
  /** JSON. */
  settings: string
}

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
      <label>
        Secret, as {schemes[scheme].split(',')[0]} shows it
        <input
          type="password"
          autocomplete="off"
          maxLength={512}
          placeholder={isKept ? 'unchanged' : 'a new one'}
          value={given.secret}
          onInput={({ currentTarget }) => set({ ...given, secret: currentTarget.value.trim() })}
        />
      </label>
      <label>
        Settings
        <textarea
          rows={4}
          spellcheck={false}
          placeholder={samples[scheme] ?? '{ "types": { "their.type": "YOUR_TYPE" } }'}
          value={given.settings}
          onInput={({ currentTarget }) => set({ ...given, settings: currentTarget.value })}
        />
      </label>
      {scheme === 'generic' && (
        <p class="quiet">
          If neither a time nor an id is signed, the same body counts as repeated for five minutes. Later a
          copy of it is accepted again.
        </p>
      )}
    </>
  )
}

function writeGiven({ secret, settings }: Given): { secret?: string; settings?: SchemeSettings } {
  return {
    ...(secret !== '' && { secret }),
    ...(settings.trim() !== '' && { settings: JSON.parse(settings) as SchemeSettings }),
  }
}

function findJsonFault(text: string): string | undefined {
  try {
    if (text.trim() !== '') JSON.parse(text)
    return undefined
  } catch {
    return 'The settings are not JSON yet.'
  }
}

function nameOf(scheme: SchemeName): string {
  return scheme === 'automation' || scheme === 'generic' ? '' : scheme
}
