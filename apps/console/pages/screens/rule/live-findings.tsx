import type { Finding } from '../../logic/check-definition.js'
import { namePath } from '../../logic/name-path.js'
import { FindingText } from '../../parts/finding.js'
import { focusField } from './focus-field.js'

/** What is odd about the rule, as one types. It warns, and refuses nothing. @param findings undefined until they are known */
export function LiveFindings({ findings }: { findings: readonly Finding[] | undefined }) {
  return (
    <section aria-label="Findings">
      <p role="status" class={findings?.length ? 'hidden' : 'quiet'}>
        {findings === undefined
          ? 'Checking…'
          : findings.length === 0
            ? 'None: the conditions can match, and none is redundant.'
            : `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`}
      </p>
      {findings && findings.length > 0 && (
        <ul class="plain-list">
          {findings.map((finding) => (
            <li key={`${finding.code} ${finding.path} ${finding.message}`}>
              <FindingText finding={finding}>
                <button type="button" class="link" onClick={() => focusField(finding.path)}>
                  {namePath(finding.path)}
                </button>
              </FindingText>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
