import { Credentials } from '../parts/access/credentials.js'
import { Keys } from '../parts/access/keys.js'
import { Members } from '../parts/access/members.js'
import { Secrets } from '../parts/access/secrets.js'
import { WorkspaceEnd } from '../parts/access/workspace.js'
import { later } from '../parts/later.js'
import { Screen } from '../parts/screen.js'
import { NoPermission } from '../parts/states.js'
import { Tabs } from '../parts/tabs.js'
import { may } from '../state/session.js'
import { useFilters } from '../state/use-filters.js'

const tabs = {
  members: 'Members',
  keys: 'API keys',
  secrets: 'Signing secrets',
  credentials: 'Credentials',
  erasures: 'Erasures',
  audit: 'Audit log',
  workspace: 'Workspace',
}

const AuditLog = later('the audit log', () =>
  import('../parts/access/audit-log.js').then(({ AuditLog }) => AuditLog),
)
const Erasures = later('the erasures', () =>
  import('../parts/access/erasures.js').then(({ Erasures }) => Erasures),
)

/** Who may do what, and who changed what? */
export function Access() {
  const { query, set } = useFilters()
  const tab = query.tab !== undefined && query.tab in tabs ? query.tab : 'members'
  if (!may('admin'))
    return (
      <Screen title="Access">
        <NoPermission>
          Members, keys, erasures and the audit log are for admins of the workspace.
        </NoPermission>
      </Screen>
    )
  return (
    <Screen title="Access">
      <Tabs label="Parts" tabs={tabs} chosen={tab} choose={(name) => set({ tab: name, id: '' })} />
      {tab === 'members' && <Members />}
      {tab === 'keys' && <Keys />}
      {tab === 'secrets' && <Secrets />}
      {tab === 'credentials' && <Credentials />}
      {tab === 'erasures' && <Erasures />}
      {tab === 'audit' && <AuditLog />}
      {tab === 'workspace' && <WorkspaceEnd />}
    </Screen>
  )
}
