import schema from 'schema:SubscriptionToCreate'
import type { Subscription, SubscriptionToCreate } from '@automation/client'
import { useState } from 'preact/hooks'
import { SchemaForm } from '../../parts/schema-form.js'
import { api } from '../../state/session.js'

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
export function SubscriptionForm({ of }: { of?: Subscription }) {
  const [values, set] = useState<Required<SubscriptionToCreate>>({
    url: of?.url ?? '',
    description: of?.description ?? '',
    eventTypes: of?.eventTypes ?? ['execution.failed', 'rule.paused'],
    isActive: of?.isActive ?? true,
  })
  const { subscriptions } = api().developer
  return (
    <SchemaForm<typeof values, object>
      title={of ? 'Edit the subscription' : 'New subscription'}
      send={of ? 'Save' : 'Create'}
      reads="subscriptions"
      schema={schema}
      texts={{
        url: { label: 'URL', kind: 'url', placeholder: 'https://hooks.example.com/rules' },
        description: { label: 'Description' },
        eventTypes: { label: 'Events to send', words: eventTypes },
        isActive: { label: 'It is on' },
      }}
      submit={() => (of ? subscriptions.update(of.id, values) : subscriptions.create(values))}
      shows={(made) => ('secret' in made ? String(made.secret) : undefined)}
      {...{ values, set }}
    />
  )
}
