import { countOf } from '../../logic/count-words.js'
import { namePath } from '../../logic/name-path.js'
import { FindingText } from '../../parts/finding.js'
import { Empty, Unread } from '../../parts/states.js'
import { api } from '../../state/session.js'
import { linkTo } from '../../state/use-filters.js'
import { useQuery } from '../../state/use-query.js'

/** Do the rules get in each other's way? The service checks them all, and refuses nothing because of it. */
export function Findings() {
  const check = useQuery({ key: ['rules', 'check'], read: () => api().rules.check(), pollMs: false })
  if (!check.data) return <Unread {...check} what="the findings" rows={3} />
  const { findings = [], notKnown = [] } = check.data ?? {}
  return (
    <>
      <p class="quiet">
        Rules that never match, redundant conditions, duplicate actions and loops. Each finding is proven, or
        has an example event. Findings never block a save.
      </p>
      {findings.length === 0 && (
        <Empty title="No findings">
          <p>No conflicts found.</p>
        </Empty>
      )}
      <ul class="cards">
        {findings.map((finding) => (
          <li key={`${finding.code} ${finding.rule.index} ${finding.path} ${finding.message}`}>
            <FindingText finding={finding}>
              <a href={linkTo(`rules/${finding.rule.id}`)}>{finding.rule.name}</a>
              <span class="quiet">, {namePath(finding.path)}</span>
            </FindingText>
          </li>
        ))}
      </ul>
      {notKnown.length > 0 && (
        <details>
          <summary>{countOf(notKnown.length, 'question')} could not be decided</summary>
          <ul class="plain-list">
            {notKnown.map(({ rule, path, code, reason }) => (
              <li key={`${code} ${rule.index} ${path}`}>
                {rule.name}, <code>{path}</code>: {code.replaceAll('_', ' ')}. {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}
