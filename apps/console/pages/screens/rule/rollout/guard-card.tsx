import type { Rule, RuleGuard } from '@automation/client'
import { describeLimits, describeTrip } from '../../../logic/describe-guard.js'
import { Mark } from '../../../parts/mark.js'
import { Opener } from '../../../parts/opener.js'
import { When } from '../../../parts/when.js'
import { may } from '../../../state/session.js'
import { linkTo } from '../../../state/use-filters.js'
import { RollBack, type RollBackProps } from '../roll-back.js'

/** Whether the promoted version is watched, and why the previous version is back. */
export function GuardCard({
  rule,
  guard,
  isChanged,
  reload,
}: Omit<RollBackProps, 'guard'> & { guard: RuleGuard | null }) {
  return (
    <section class="card" aria-labelledby="guard">
      <div class="row spread">
        <h2 id="guard">Guard</h2>
        {guard &&
          (guard.trippedAt === null ? <Mark of="watches" /> : <Mark of="failed" word="has rolled back" />)}
      </div>
      {guard === null && (
        <p>
          No guard watches this rule. A promotion can set one: it restores the previous version if the new one
          runs or fails more often than expected.
        </p>
      )}
      {guard && guard.trippedAt === null && (
        <>
          <p>
            It watches v{guard.version} until <When at={guard.endsAt} />: after {describeLimits(guard)}, v
            {guard.previousVersion} is restored. A change of the rule ends it.
          </p>
          {may('publish') && (
            <Opener label="Roll back now">
              <RollBack {...{ rule, guard, isChanged, reload }} />
            </Opener>
          )}
        </>
      )}
      {guard && guard.trippedAt !== null && <Tripped {...{ rule, guard }} />}
    </section>
  )
}

function Tripped({ rule, guard }: { rule: Rule; guard: RuleGuard }) {
  const { version, previousVersion, restoredVersion, trippedAt } = guard
  return (
    <>
      <p class="notice bad">
        It has rolled v{version} back at <When at={trippedAt} />: {describeTrip(guard)}.{' '}
        {restoredVersion === version
          ? `v${previousVersion} could not be restored, so the rule was switched off.`
          : `v${previousVersion} was restored, as v${restoredVersion}.`}
      </p>
      <p class="row">
        <a href={linkTo(`rules/${rule.id}`, { tab: 'versions', version: String(version) })}>
          What v{version} changed
        </a>
        <a href={linkTo('executions', { rule: rule.id, last: '24h', to: trippedAt ?? undefined })}>
          The executions until then
        </a>
      </p>
    </>
  )
}
