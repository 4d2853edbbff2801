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

export function NewSubscription({ close }: { close: () => void }) {
  const { change, problem, isBusy } = useChange('subscriptions')
  const [secret, setSecret] = useState<string>()
  if (secret !== undefined)
    return <ShownOnceDialog title="The secret of the subscription" text={secret} close={close} />
  return (
    <SubscriptionForm
      title="New subscription"
      send="Create"
      first={{ url: '', description: '', eventTypes: ['execution.failed', 'rule.paused'], isActive: true }}
      submit={async (body) =>
        setSecret((await change(() => api().developer.subscriptions.create(body)))?.secret)
      }
      {...{ problem, isBusy, close }}
    />
  )
}

export function EditSubscription({ subscription, close }: { subscription: Subscription; close: () => void }) {
  const { change, problem, isBusy } = useChange('subscriptions')
  const { id, url, description, eventTypes, isActive } = subscription
  return (
    <SubscriptionForm
      title="Edit the subscription"
      send="Save"
      first={{ url, description, eventTypes, isActive }}
      submit={async (body) => {
        if ((await change(() => api().developer.subscriptions.update(id, body))) !== undefined) close()
      }}
      {...{ problem, isBusy, close }}
    />
  )
}

type Values = Required<SubscriptionToCreate>

function SubscriptionForm({
  first,
  submit,
  ...dialog
}: {
  title: string
  send: string
  first: Values
  submit: (values: Values) => Promise<void>
  problem: string | undefined
  isBusy: boolean
  close: () => void
}) {
  const [values, setValues] = useState(first)
  const set = (changes: Partial<Values>) => setValues({ ...values, ...changes })
  return (
    <DialogForm {...dialog} submit={() => submit(values)}>
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
