import { AuditLog } from '../parts/access/audit-log.js'
import { Keys } from '../parts/access/keys.js'
import { Members } from '../parts/access/members.js'
import { Secrets } from '../parts/access/secrets.js'
import { Screen } from '../parts/screen.js'
import { Empty } from '../parts/states.js'
import { may } from '../state/session.js'
import { useFilters } from '../state/use-filters.js'

const tabs = { members: 'Members', keys: 'API keys', secrets: 'Signing secrets', audit: 'Audit log' }

/** Who may do what, and who changed what? */
export function Access() {
  const { query, set } = useFilters()
  const tab = query.tab !== undefined && query.tab in tabs ? query.tab : 'members'
  if (!may('admin'))
    return (
      <Screen title="Access">
        <Empty title="No permission">
          <p>Members, keys and the audit log are for admins of the workspace.</p>
        </Empty>
      </Screen>
    )
  return (
    <Screen title="Access">
      <div class="tabs" role="group" aria-label="Parts">
        {Object.entries(tabs).map(([name, label]) => (
          <button key={name} type="button" aria-pressed={tab === name} onClick={() => set({ tab: name })}>
            {label}
          </button>
        ))}
      </div>
      {tab === 'members' && <Members />}
      {tab === 'keys' && <Keys />}
      {tab === 'secrets' && <Secrets />}
      {tab === 'audit' && <AuditLog />}
    </Screen>
  )
}
