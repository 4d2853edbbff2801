import { ApiError, type Backtest } from '@automation/client'
import { useState } from 'preact/hooks'
import { spans } from '../../../logic/filters.js'
import { readLocalTime, writeLocalTime } from '../../../logic/format-time.js'
import { nameActor } from '../../../logic/name-actor.js'
import type { Definition } from '../../../logic/rule-definition.js'
import { clauseAt, type RangeName, rangeOf, ranges } from '../../../logic/tested-rule.js'
import { Select } from '../../../parts/select.js'
import { Alert, Loading, Problem, Stale } from '../../../parts/states.js'
import { When } from '../../../parts/when.js'
import { updates, zone } from '../../../state/preferences.js'
import { may } from '../../../state/session.js'
import { EarlierBacktests } from './earlier-backtests.js'
import { ReportView } from './later.js'
import { useBacktest } from './use-backtest.js'

interface Props {
  ruleId: string | undefined
  /** Of the rule as it is saved. */
  version: number | undefined
  definition: Definition
  isChanged: boolean
  showFaults: (faults: { field: string; message: string }[], title: string) => void
}

/** What the rule would have done for the events of a time that is over. */
export function BacktestCard({ ruleId, version, definition, isChanged, showFaults }: Props) {
  const backtest = useBacktest({ ruleId, definition, isChanged, showFaults })
  const { id, found, problem } = backtest
  return (
    <section class="card" aria-labelledby="backtest">
      <div class="row spread">
        <h2 id="backtest" tabIndex={-1}>
          Backtest
        </h2>
        {id !== undefined && (
          <button type="button" class="plain small" onClick={backtest.close}>
            Close the result
          </button>
        )}
      </div>
      <Start {...backtest} />
      <Alert>{problem}</Alert>
      {id === undefined && !backtest.isStarting && (
        <p class="quiet">
          {version === undefined || isChanged
            ? `What would it have done${version === undefined ? '' : `, and how is that different from v${version}`}? Nothing is done or sent.`
            : 'What would this version have done? Nothing is done or sent.'}
        </p>
      )}
      {found.isPending && id !== undefined && <Loading what="the backtest" rows={3} />}
      {found.error && !found.data && <Missing error={found.error} retry={() => void found.refetch()} />}
      {found.error && found.data && <Stale error={found.error} since={found.dataUpdatedAt} />}
      {found.data && <Outcome {...backtest} backtest={found.data} {...{ definition, version }} />}
      {may('read all rules') && (may('operator') || id !== undefined) && (
        <EarlierBacktests ruleId={ruleId} shownId={id} />
      )}
    </section>
  )
}

function Start({ id, isStarting, start, isOutdated }: ReturnType<typeof useBacktest>) {
  const [name, setName] = useState<RangeName>('7d')
  const [own, setOwn] = useState<{ from: string | undefined; to: string | undefined }>({
    from: new Date(Date.now() - spans['7d'].ms).toISOString(),
    to: undefined,
  })
  if (!may('operator')) return <p class="quiet">You have read-only access. Operators can run backtests.</p>
  const zoneWord = zone.value === 'UTC' ? 'UTC' : 'your time'
  return (
    <form
      class="row range-of-test"
      onSubmit={(event) => {
        event.preventDefault()
        void start(rangeOf(name, own, Date.now()))
      }}
    >
      <Select
        label="Time of the backtest"
        isLabelHidden
        value={name}
        options={Object.fromEntries(
          ranges.map((one) => [one, one === 'own' ? 'Another time' : spans[one].label]),
        )}
        set={setName}
      />
      <button type="submit" class={isOutdated ? 'primary' : ''} aria-disabled={isStarting}>
        {isStarting ? 'Starting…' : id === undefined ? 'Run a backtest' : 'Run again'}
      </button>
      {name === 'own' && (
        <div class="own-time">
          {(['from', 'to'] as const).map((end) => (
            <label key={end}>
              {end === 'from' ? 'From' : 'Until'} ({zoneWord})
              <input
                type="datetime-local"
                step="1"
                value={own[end] === undefined ? '' : writeLocalTime(own[end], zone.value)}
                onChange={({ currentTarget }) =>
                  setOwn({ ...own, [end]: readLocalTime(currentTarget.value, zone.value) })
                }
              />
            </label>
          ))}
        </div>
      )}
    </form>
  )
}

function Outcome({
  backtest,
  definition,
  version,
  isOutdated,
  cancel,
  found,
}: ReturnType<typeof useBacktest> & { backtest: Backtest } & Pick<Props, 'definition' | 'version'>) {
  const { report } = backtest
  const active = report?.active?.version
  return (
    <>
      <Progress {...{ backtest, cancel }} look={() => void found.refetch()} />
      {isOutdated && (
        <p class="notice">You have changed the rule since then. This result is for the earlier definition.</p>
      )}
      {isOutdated === undefined && (
        <p class="sub">
          {nameActor(backtest.createdBy)} started it <When at={backtest.createdAt} />. It evaluated the rule
          as it was then.
        </p>
      )}
      {active !== undefined && version !== undefined && active !== version && (
        <p class="notice">
          It evaluated v{active} beside it. The rule is at v{version} now.
        </p>
      )}
      {report && (
        <ReportView
          report={report}
          trigger={definition.trigger}
          word={report.draft === null ? `v${active}` : version === undefined ? 'the rule' : 'your version'}
          nameClause={(path) => (isOutdated === false ? clauseAt(definition, path) : undefined)}
        />
      )}
    </>
  )
}

function Progress({
  backtest: { status, progress, error, report },
  cancel,
  look,
}: {
  backtest: Backtest
  cancel: () => Promise<void>
  look: () => void
}) {
  const percent = `${Math.floor(progress * 100)} %`
  if (status === 'done')
    return (
      <p role="status" class="hidden">
        The backtest is done.
      </p>
    )
  if (status === 'failed')
    return (
      <p role="alert" class="notice bad">
        The backtest has failed: {error ?? 'ask your operator: the log of the worker has the reason.'}
      </p>
    )
  if (status === 'cancelled')
    return (
      <p role="status" class="notice">
        Cancelled at {percent}.{' '}
        {report === null ? 'It had not started.' : 'The figures cover the events until then.'}
      </p>
    )
  return (
    <div class="running">
      <p role="status">
        {status === 'waiting' && report === null
          ? 'It waits for a worker.'
          : `${percent} done. The figures are preliminary.`}
      </p>
      <progress value={progress} max={1} aria-label="Progress of the backtest" />
      <div class="row">
        {may('operator') && (
          <button type="button" onClick={() => void cancel()}>
            Cancel
          </button>
        )}
        {updates.value === 'off' && (
          <button type="button" onClick={look}>
            Look now
          </button>
        )}
      </div>
    </div>
  )
}

function Missing({ error, retry }: { error: unknown; retry: () => void }) {
  if (error instanceof ApiError && error.status === 404)
    return <p class="notice">This backtest is no longer available. Results are kept for 30 days.</p>
  return <Problem error={error} retry={retry} />
}
