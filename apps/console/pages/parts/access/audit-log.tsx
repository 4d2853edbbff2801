import type { AuditEntry } from '@automation/client'
import { show } from '../../logic/describe-clause.js'
import { api } from '../../state/session.js'
import { linkTo } from '../../state/use-filters.js'
import { useList } from '../../state/use-list.js'
import { Newer, Older } from '../list-controls.js'
import { Rows } from '../rows.js'
import { Loading, Problem } from '../states.js'
import { When } from '../when.js'

export function AuditLog() {
  const list = useList<AuditEntry>(['audit'], async (cursor) => {
    const { data, nextCursor = null } = await api().developer.auditLog.list({
      limit: 50,
      ...(cursor !== undefined && { cursor }),
    })
    return { rows: data, nextCursor }
  })
  if (list.first.isPending) return <Loading what="the audit log" />
  if (list.first.error) return <Problem error={list.first.error} retry={() => void list.first.refetch()} />
  return (
    <>
      <Newer {...list} />
      <Rows
        items={list.rows}
        label="Audit log"
        columns={4}
        head={
          <>
            <th scope="col">When</th>
            <th scope="col">Who</th>
            <th scope="col">What</th>
            <th scope="col">Details</th>
          </>
        }
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
      <Older {...list} />
    </>
  )
}
