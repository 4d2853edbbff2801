import type { Subscription, SubscriptionToCreate } from '@automation/client'
import { useState } from 'preact/hooks'
import { DialogForm } from '../../parts/dialog-form.js'
import { ShownOnceDialog } from '../../parts/shown-once.js'
import { TextField } from '../../parts/text-field.js'
import { api } from '../../state/session.js'
import { useChange } from '../../state/use-change.js'

type ServiceEventType = Subscription['eventTypes'][number]

const eventTypes: Record<ServiceEventType, string> = {
  'execution.failed': 'an execution failed',
  'rule.paused': 'a rule was switched off because it failed too often',
  'receipt.rejected': 'a webhook was refused',
  'rule.created': 'a rule was created',
  'rule.updated': 'a rule was changed',
  'rule.deleted': 'a rule was deleted',
  'rule.activated': 'a rule was switched on',
  'rule.deactivated': 'a rule was switched off manually',
  'rule.cloned': 'a rule was cloned',
  'rule.restored': 'a previous version was restored',
  'rule.promoted': 'a draft was promoted',
  'rule.rolled_back': 'a guard rolled a rule back',
  'rule.silent': 'a rule has matched nothing for longer than expected',
  'rule.heard': 'a silent rule matched again',
}

/** @param of the one that is changed; undefined for a new one */
export function SubscriptionForm({ of, close }: { of?: Subscription; close: () => void }) {
  const { change, problem, isBusy } = useChange('subscriptions')
  const [secret, setSecret] = useState<string>()
  const [values, setValues] = useState<Required<SubscriptionToCreate>>({
    url: of?.url ?? '',
    description: of?.description ?? '',
    eventTypes: of?.eventTypes ?? ['execution.failed', 'rule.paused'],
    isActive: of?.isActive ?? true,
  })
  const set = (changes: Partial<typeof values>) => setValues({ ...values, ...changes })
  if (secret !== undefined)
    return <ShownOnceDialog title="The secret of the subscription" text={secret} close={close} />
  async function save(): Promise<void> {
    const { subscriptions } = api().developer
    if (of === undefined) setSecret((await change(() => subscriptions.create(values)))?.secret)
    else if ((await change(() => subscriptions.update(of.id, values))) !== undefined) close()
  }
  return (
    <DialogForm
      title={of ? 'Edit the subscription' : 'New subscription'}
      send={of ? 'Save' : 'Create'}
      submit={save}
      {...{ close, problem, isBusy }}
    >
      <TextField
        label="URL"
        type="url"
        required
        maxLength={2000}
        placeholder="https://hooks.example.com/rules"
        value={values.url}
        set={(url) => set({ url })}
      />
      <TextField
        label="Description"
        maxLength={2000}
        value={values.description}
        set={(description) => set({ description })}
      />
      <fieldset>
        <legend>Events to send</legend>
        {Object.entries(eventTypes).map(([type, words]) => (
          <label key={type} class="inline">
            <input
              type="checkbox"
              checked={values.eventTypes.includes(type as ServiceEventType)}
              onChange={({ currentTarget }) =>
                set({
                  eventTypes: currentTarget.checked
                    ? [...values.eventTypes, type as ServiceEventType]
                    : values.eventTypes.filter((one) => one !== type),
                })
              }
            />{' '}
            {words}
          </label>
        ))}
      </fieldset>
      <label class="inline">
        <input
          type="checkbox"
          checked={values.isActive}
          onChange={({ currentTarget }) => set({ isActive: currentTarget.checked })}
        />{' '}
        It is on
      </label>
    </DialogForm>
  )
}
