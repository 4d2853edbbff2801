import { ApiError, type Backtest, type BacktestToCreate } from '@automation/client'
import { useState } from 'preact/hooks'
import { redact } from '../../../logic/history/redact.js'
import type { Definition } from '../../../logic/rule-definition.js'
import { nextLookMs, testedOf } from '../../../logic/tested-rule.js'
import { keptInTab } from '../../../state/browser-store.js'
import { api, workspaceId } from '../../../state/session.js'
import { useFilters } from '../../../state/use-filters.js'
import { describeError, queries, readAgain, useQuery } from '../../../state/use-query.js'

interface Options {
  /** undefined: a rule that is not saved yet. */
  ruleId: string | undefined
  definition: Definition
  /** false: the stored version is tested by itself. */
  isChanged: boolean
  showFaults: (faults: { field: string; message: string }[], title: string) => void
}

/** The service waits so long (s) with its response: most backtests are done by then, in one request. */
const waitSeconds = 2

/**
 * Starts a backtest, follows it and cancels it. Its id is in the address, so a reload finds it again, and the back button the one before.
 */
export function useBacktest({ ruleId, definition, isChanged, showFaults }: Options) {
  const { query, set } = useFilters()
  const id = query.backtest
  const [isStarting, setStarting] = useState(false)
  const [problem, setProblem] = useState<string>()
  const found = useQuery<Backtest>({
    key: id === undefined ? undefined : ['backtest', id],
    read: () => api().rules.backtests.get(id ?? ''),
    pollMs: (backtest, reads) =>
      backtest === undefined || isBacktestRunning(backtest) ? nextLookMs(reads) : false,
  })
  const text = JSON.stringify(redact(testedOf(definition)))
  const noted = readNote()

  async function start(range: Pick<BacktestToCreate, 'from' | 'to'>): Promise<void> {
    if (isStarting) return
    setStarting(true)
    setProblem(undefined)
    try {
      const subject = {
        ...(ruleId !== undefined && { ruleId }),
        ...((isChanged || ruleId === undefined) && { definition: testedOf(definition) }),
      } as BacktestToCreate
      const created = await api().rules.backtests.create({ ...subject, ...range }, { wait: waitSeconds })
      keptInTab.set(noteName, JSON.stringify({ id: created.id, text }))
      queries.setQueryData([workspaceId.peek(), 'backtest', created.id], created)
      set({ backtest: created.id })
    } catch (error) {
      const faults = error instanceof ApiError ? (error.errors ?? []) : []
      const inRule = faults.filter(({ field }) => field.startsWith(prefix))
      if (inRule.length < faults.length || faults.length === 0) setProblem(describeRefusal(error))
      if (inRule.length > 0)
        showFaults(
          inRule.map(({ field, message }) => ({ field: field.slice(prefix.length), message })),
          'Not tested',
        )
    } finally {
      setStarting(false)
    }
  }

  async function cancel(): Promise<void> {
    setProblem(undefined)
    try {
      await api().rules.backtests.cancel(id ?? '')
    } catch (error) {
      // It has ended meanwhile: its result says so.
      if (!(error instanceof ApiError && error.status === 409)) setProblem(describeRefusal(error))
    }
    await readAgain('backtest', id)
  }

  return {
    id,
    found,
    isStarting,
    problem,
    start,
    cancel,
    /** What is typed now is not what was tested; undefined where this browser did not start it. */
    isOutdated: noted !== undefined && noted.id === id ? noted.text !== text : undefined,
    close: () => set({ backtest: '' }),
  }
}

export function isBacktestRunning({ status }: Pick<Backtest, 'status'>): boolean {
  return status === 'waiting' || status === 'running'
}

function describeRefusal(error: unknown): string {
  if (error instanceof ApiError && error.errors)
    return error.errors.map(({ field, message }) => `${nameOf(field)}: ${message}`).join('. ')
  const { title, text } = describeError(error)
  return `${title}. ${error instanceof ApiError && error.status === 409 ? 'Cancel one below, or wait.' : text}`
}

function nameOf(field: string): string {
  return field === 'from' ? 'From' : field === 'to' ? 'Until' : field
}

/** Of faults of the definition. */
const prefix = 'definition.'
const noteName = 'backtest'

/** Which text the last backtest of this tab has evaluated: the service keeps no definition. */
function readNote(): { id: string; text: string } | undefined {
  try {
    return JSON.parse(keptInTab.get(noteName) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}
