import { AuditLog } from '../parts/access/audit-log.js'
import { Credentials } from '../parts/access/credentials.js'
import { Keys } from '../parts/access/keys.js'
import { Members } from '../parts/access/members.js'
import { Secrets } from '../parts/access/secrets.js'
import { WorkspaceEnd } from '../parts/access/workspace.js'
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
  audit: 'Audit log',
  workspace: 'Workspace',
}

/** Who may do what, and who changed what? */
export function Access() {
  const { query, set } = useFilters()
  const tab = query.tab !== undefined && query.tab in tabs ? query.tab : 'members'
  if (!may('admin'))
    return (
      <Screen title="Access">
        <NoPermission>Members, keys and the audit log are for admins of the workspace.</NoPermission>
      </Screen>
    )
  return (
    <Screen title="Access">
      <Tabs label="Parts" tabs={tabs} chosen={tab} choose={(name) => set({ tab: name })} />
      {tab === 'members' && <Members />}
      {tab === 'keys' && <Keys />}
      {tab === 'secrets' && <Secrets />}
      {tab === 'credentials' && <Credentials />}
      {tab === 'audit' && <AuditLog />}
      {tab === 'workspace' && <WorkspaceEnd />}
    </Screen>
  )
}
