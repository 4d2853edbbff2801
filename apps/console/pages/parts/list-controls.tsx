import { countOf } from '../logic/count-words.js'
import type { useList } from '../state/use-list.js'

type List = Pick<
  ReturnType<typeof useList>,
  'newer' | 'showNewer' | 'hasOlder' | 'loadOlder' | 'isLoadingOlder' | 'problem'
>

/** New rows are announced, and come when the reader wants them. */
export function Newer({
  newer,
  showNewer,
  what,
}: Pick<List, 'newer' | 'showNewer'> & {
  /** Such as `events`. */
  what: string
}) {
  const one = what.replace(/ies$/, 'y').replace(/s$/, '')
  return (
    <div role="status" class="newer">
      {newer > 0 && (
        <button type="button" class="small" onClick={showNewer}>
          {countOf(newer, `new ${one}`, `new ${what}`)}
        </button>
      )}
    </div>
  )
}

export function Older({ hasOlder, loadOlder, isLoadingOlder, problem }: List) {
  if (!hasOlder && problem === undefined) return <p class="quiet end">End of list</p>
  return (
    <p class="end">
      <button type="button" onClick={loadOlder} disabled={isLoadingOlder}>
        {isLoadingOlder ? 'Loading…' : 'Load older'}
      </button>
      {problem && <span role="alert"> {problem}</span>}
    </p>
  )
}
