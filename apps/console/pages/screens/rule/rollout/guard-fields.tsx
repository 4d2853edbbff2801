import type { GuardToSet } from '@automation/client'
import { Select } from '../../../parts/select.js'
import { TextField } from '../../../parts/text-field.js'

/** What is typed. An empty limit is none. */
export interface GuardForm {
  isSet: boolean
  for: string
  runs: string
  failures: string
}

export const usualGuard: GuardForm = { isSet: true, for: '24h', runs: '', failures: '20' }

const times = { '1h': '1 hour', '6h': '6 hours', '24h': '24 hours', '7d': '7 days', '30d': '30 days' }

export function guardOf({ isSet, runs, failures, ...guard }: GuardForm): GuardToSet | undefined {
  if (!isSet) return undefined
  return {
    for: guard.for,
    ...(runs !== '' && { maxRunsPerHour: Number(runs) }),
    ...(failures !== '' && { maxFailureRate: Number(failures) / 100 }),
  }
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
  return (
    <>
      <label class="inline">
        <input
          type="checkbox"
          checked={guard.isSet}
          onChange={({ currentTarget }) => set({ ...guard, isSet: currentTarget.checked })}
        />
        Watch it with a guard
      </label>
      {guard.isSet && (
        <>
          <p class="quiet">
            If a limit is exceeded, v{version} is restored within 5 seconds. Leave a field empty for no limit.
          </p>
          <div class="fields thirds">
            <Select
              label="Watch for"
              value={guard.for}
              options={times}
              set={(time) => set({ ...guard, for: time })}
            />
            <TextField
              label="Maximum executions per hour"
              type="number"
              min="1"
              max="100000"
              required={guard.failures === ''}
              value={guard.runs}
              set={(runs) => set({ ...guard, runs })}
            />
            <TextField
              label="Maximum failure rate, %"
              type="number"
              min="0"
              max="100"
              step="any"
              required={guard.runs === ''}
              value={guard.failures}
              set={(failures) => set({ ...guard, failures })}
            />
          </div>
          <p class="sub">Failures count from the fifth finished execution of an hour on.</p>
        </>
      )}
    </>
  )
}
