import type { GuardToSet } from '@automation/client'

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
            <label>
              Watch for
              <select
                value={guard.for}
                onChange={({ currentTarget }) => set({ ...guard, for: currentTarget.value })}
              >
                {Object.entries(times).map(([value, label]) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </select>
            </label>
            <label>
              Maximum executions per hour
              <input
                type="number"
                min="1"
                max="100000"
                required={guard.failures === ''}
                value={guard.runs}
                onInput={({ currentTarget }) => set({ ...guard, runs: currentTarget.value })}
              />
            </label>
            <label>
              Maximum failure rate, %
              <input
                type="number"
                min="0"
                max="100"
                step="any"
                required={guard.runs === ''}
                value={guard.failures}
                onInput={({ currentTarget }) => set({ ...guard, failures: currentTarget.value })}
              />
            </label>
          </div>
          <p class="sub">Failures count from the fifth finished execution of an hour on.</p>
        </>
      )}
    </>
  )
}
