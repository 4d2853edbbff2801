import { ApiError } from '@automation/client'
import { type Query, QueryClient, QueryObserver, type QueryObserverResult } from '@tanstack/query-core'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { updates } from './preferences.js'
import { api, workspaceId } from './session.js'

/** Requests are counted against the user's own limit of 60 a minute: below this many left, nothing is asked by itself. */
const fewLeft = 20
const usualPollMs = 15_000

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      networkMode: 'always',
      refetchOnReconnect: true,
      structuralSharing: false,
    },
  },
})
queries.mount()

interface Options<Data> {
  /** Identifies what is read, beside the workspace. undefined: nothing is read yet. */
  key: readonly unknown[] | undefined
  read: () => PromiseLike<Data>
  /**
   * Reads again after so long while the page is visible; false: only when it is asked to. A function decides after each response.
   *
   * @param reads how often it was read, also in vain
   */
  pollMs?: number | false | ((data: Data | undefined, reads: number) => number | false)
  /** How old what another screen has read may be. */
  staleMs?: number
  /** false: only what others read is shown. */
  isRead?: boolean
}

const usualStaleMs = 2_000

/** Reads something, shows what is known meanwhile, and keeps it fresh. */
export function useQuery<Data>({
  key,
  read,
  pollMs = usualPollMs,
  staleMs = usualStaleMs,
  isRead = true,
}: Options<Data>): QueryObserverResult<Data> {
  const isPolling = pollMs !== false && updates.value === 'on'
  const options = {
    queryKey: [workspaceId.value, ...(key ?? [])],
    // One that only shows what others read must not take the place of how they read it.
    ...(isRead && { queryFn: async () => read() }),
    enabled: isRead && key !== undefined,
    staleTime: staleMs,
    refetchInterval: ({ state }: Query<Data>) => {
      if (!isPolling || !hasRoom()) return false
      return typeof pollMs === 'function'
        ? pollMs(state.data, state.dataUpdateCount + state.errorUpdateCount)
        : pollMs
    },
    refetchIntervalInBackground: false,
    refetchOnWindowFocus: isPolling,
  }
  const observer = useMemo(() => new QueryObserver<Data>(queries, options), [])
  observer.setOptions(options)
  const [, redraw] = useState(0)
  useEffect(() => observer.subscribe(() => redraw((count) => count + 1)), [observer])
  return observer.getOptimisticResult(queries.defaultQueryOptions(options) as never)
}

/** All rows of a short list, as an array. What others read of the same name has another shape, and so another key. */
export function rowsOf(name: string): readonly unknown[] {
  return [name, 'rows']
}

/** After a change: whatever is shown is read again. */
export function readAgain(...key: unknown[]): Promise<void> {
  return queries.invalidateQueries({ queryKey: [workspaceId.peek(), ...key] })
}

/** What is known is old: the next screen that shows it reads it again, and this one when it would anyway. */
export function outdate(...key: unknown[]): void {
  void queries.invalidateQueries({ queryKey: [workspaceId.peek(), ...key], refetchType: 'none' })
}

/** Whether the user's rate limit leaves room for requests that nobody pressed a button for. */
export function hasRoom(): boolean {
  const { remaining } = api().rateLimit ?? {}
  return remaining === undefined || remaining >= fewLeft
}

/** Whether the API knows nothing of this name or id. */
export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

/** Whether what was asked for is wrong, and not the service. */
export function isRefused(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 400 || error.status === 422)
}

/** What went wrong, in words for the user. */
export function describeError(error: unknown): { title: string; text: string } {
  if (!(error instanceof ApiError)) return { title: 'Something went wrong', text: String(error) }
  const { status, message, hint, retryAfterSeconds, requestId } = error
  if (status === 0)
    return { title: 'No connection', text: 'The console does not respond. Nothing you typed is lost.' }
  if (inFrame && status === 403) return { title: 'Not allowed', text: message }
  if (error.code === 'workspace_suspended')
    return {
      title: 'The workspace is suspended',
      text: 'At the top of the page stands who did that, and who can undo it.',
    }
  if (status === 403)
    return {
      title: 'No permission',
      text: `${hint ?? 'Your role in this workspace does not include this'}. An admin can change your role under Access.`,
    }
  if (status === 404) return { title: 'Not found', text: message }
  if (status === 429)
    return {
      title: 'Too many requests',
      text: `You have reached your rate limit. Try again in ${retryAfterSeconds ?? 60} s.`,
    }
  if (status === 503)
    return {
      title: 'The service is temporarily unavailable',
      text: 'Accepted events are safe. This page retries automatically.',
    }
  return { title: message, text: requestId === undefined ? '' : `Request ${requestId}` }
}
