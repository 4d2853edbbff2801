import type { EventType, Rule } from '@automation/client'
import { scheduleType } from '@automation/engine'
import { useEffect, useState } from 'preact/hooks'
import type { Evaluation } from '../../logic/evaluate-definition.js'
import type { Definition } from '../../logic/rule-definition.js'
import { later } from '../../parts/later.js'
import { SendSample } from '../../parts/send-sample.js'
import { Loading, Problem } from '../../parts/states.js'
import { Tabs } from '../../parts/tabs.js'
import { useFilters } from '../../state/use-filters.js'
import type { SaidFault } from './use-faults.js'
import type { Fields } from './use-fields.js'
import { useFindings } from './use-findings.js'

// It comes while the events are read.
const Samples = later('the latest events', () => import('./samples.js').then(({ Samples }) => Samples))
// They come when somebody opens their tab.
const LiveFindings = later('the findings', () =>
  import('./live-findings.js').then(({ LiveFindings }) => LiveFindings),
)
const BacktestCard = later('the backtest', () =>
  import('./backtest/backtest-card.js').then(({ BacktestCard }) => BacktestCard),
)

interface Props {
  id: string
  saved: Rule | undefined
  definition: Definition
  isChanged: boolean
  evaluation: Evaluation
  faults: readonly SaidFault[]
  samples: { isPending: boolean; error: unknown; refetch: () => void }
  fields: Fields | undefined
  /** All of the workspace, once they are read. */
  rules: readonly Rule[] | undefined
  eventId: string | undefined
  showFaults: (faults: { field: string; message: string }[], title: string) => void
}

/** What the rule would do, before it does it: for the latest events, for those of weeks, and what is odd about it. */
export function Preview(props: Props) {
  const { id, saved, definition, isChanged, evaluation, faults, samples, fields, rules } = props
  const { eventId, showFaults } = props
  const { query } = useFilters()
  const [chosen, choose] = useState(query.backtest === undefined ? 'events' : 'backtest')
  const findings = useFindings(id, definition, rules, fields)
  const count = findings?.length ?? 0
  useEffect(() => {
    Samples.fetch().catch(() => {})
  }, [])
  return (
    <section class="card preview" aria-label="Preview">
      <Tabs
        label="Parts of the preview"
        tabs={{
          events: 'Events',
          backtest: 'Backtest',
          findings: count > 0 ? `Findings (${count})` : 'Findings',
        }}
        chosen={chosen}
        choose={choose}
      />
      {chosen === 'events' && (
        <section aria-label="Tested on events">
          {samples.isPending && <Loading what="the latest events" rows={4} />}
          {samples.error !== null && <Problem error={samples.error} retry={samples.refetch} />}
          {!samples.isPending && samples.error === null && (
            <Samples
              {...{ evaluation, faults, definition }}
              isGroupKnown={rules !== undefined}
              selectedId={eventId}
            />
          )}
        </section>
      )}
      {chosen === 'backtest' && (
        <BacktestCard
          ruleId={saved?.id}
          version={saved?.version}
          {...{ definition, isChanged, showFaults }}
        />
      )}
      {chosen === 'findings' && <LiveFindings findings={findings} />}
      {saved && definition.trigger !== scheduleType && <SendSample type={definition.trigger as EventType} />}
    </section>
  )
}
