import schema from 'schema:GuardToSet'
import type { GuardToSet } from '@automation/client'
import { SchemaField } from '../../../parts/schema-form.js'

/** What is typed, the rate in percent. An empty limit is none. */
export interface GuardForm extends GuardToSet {
  isSet: boolean
}

export const usualGuard: GuardForm = { isSet: true, for: '24h', maxFailureRate: 20 }

const times = { '1h': '1 hour', '6h': '6 hours', '24h': '24 hours', '7d': '7 days', '30d': '30 days' }

export function guardOf({ isSet, maxFailureRate, ...guard }: GuardForm): GuardToSet | undefined {
  if (!isSet) return undefined
  return { ...guard, ...(maxFailureRate !== undefined && { maxFailureRate: maxFailureRate / 100 }) }
}

/** How long the promoted version is watched, and which limits bring the previous version back. */
export function GuardFields({
  guard,
  set,
  version,
}: {
  guard: GuardForm
  set: (guard: GuardForm) => void
  /** The one that comes back. */
  version: number
}) {
  const { for: time, maxRunsPerHour, maxFailureRate } = guard
  const { properties } = schema
  const setOne = (name: string) => (value: unknown) => set({ ...guard, [name]: value })
  return (
    <>
      <SchemaField type="boolean" label="Watch it with a guard" value={guard.isSet} set={setOne('isSet')} />
      {guard.isSet && (
        <>
          <p class="quiet">
            If a limit is exceeded, v{version} is restored within 5 seconds. Leave a field empty for no limit.
          </p>
          <div class="fields thirds">
            <SchemaField
              label="Watch for"
              enum={Object.keys(times)}
              words={times}
              value={time}
              set={setOne('for')}
            />
            <SchemaField
              {...properties.maxRunsPerHour}
              label="Maximum executions per hour"
              required={maxFailureRate === undefined}
              value={maxRunsPerHour}
              set={setOne('maxRunsPerHour')}
            />
            <SchemaField
              {...properties.maxFailureRate}
              maximum={100}
              label="Maximum failure rate, %"
              required={maxRunsPerHour === undefined}
              value={maxFailureRate}
              set={setOne('maxFailureRate')}
            />
          </div>
          <p class="sub">Failures count from the fifth finished execution of an hour on.</p>
        </>
      )}
    </>
  )
}
