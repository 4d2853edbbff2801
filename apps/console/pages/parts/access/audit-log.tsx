import type { AuditEntry } from '@automation/client'
import { show } from '../../logic/show.js'
import { api } from '../../state/session.js'
import { linkTo } from '../../state/use-filters.js'
import { useList } from '../../state/use-list.js'
import { History } from '../history.js'
import { Empty } from '../states.js'
import { When } from '../when.js'

export function AuditLog() {
  const list = useList<AuditEntry>(['audit'], async (cursor) => {
    const { data, nextCursor = null } = await api().developer.auditLog.list({
      limit: 50,
      ...(cursor !== undefined && { cursor }),
    })
    return { rows: data, nextCursor }
  })
  return (
    <History
      list={list}
      what="audit log"
      columns={['When', 'Who', 'What', 'Details']}
      empty={<Empty title="No changes yet" />}
      row={({ at, actor, action, subject, details }) => (
        <>
          <td data-label="When">
            <When at={at} />
          </td>
          <th scope="row">{actor}</th>
          <td data-label="What">
            {action.startsWith('rule.') && action !== 'rule.deleted' ? (
              <a href={linkTo(`rules/${subject}`, { tab: 'versions' })}>{action}</a>
            ) : (
              action
            )}
          </td>
          <td data-label="Details">
            <code class="cut">{show(details)}</code>
          </td>
        </>
      )}
    />
  )
}
