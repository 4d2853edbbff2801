import type { Rule } from '@automation/client'
import { namePath } from '../../logic/name-path.js'
import type { Definition } from '../../logic/rule-definition.js'
import { FindingText } from '../../parts/finding.js'
import type { Fields } from './use-fields.js'
import { useFindings } from './use-findings.js'
import { focusField } from './use-saving.js'

interface Props {
  id: string
  definition: Definition
  rules: readonly Rule[]
  fields: Fields | undefined
}

/** What is odd about the draft, as one types. It warns, and refuses nothing. */
export function DraftFindings({ id, definition, rules, fields }: Props) {
  const findings = useFindings(id, definition, rules, fields)
  return (
    <section class="card" aria-labelledby="findings">
      <h2 id="findings">Findings</h2>
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
