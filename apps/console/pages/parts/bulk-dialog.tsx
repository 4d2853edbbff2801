import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { countOf, formatCount } from '../logic/count-words.js'
import { toast } from '../state/toasts.js'
import { describeError, readAgain } from '../state/use-query.js'
import { Dialog } from './dialog.js'
import { stopAsking } from './question.js'
import { Alert, Loading } from './states.js'

/** So many of those that were chosen at once: the dialog says how far it is, and can stop in between. */
const atOnce = 25

interface Counted {
  matched: number
  atLeast?: boolean
}

export interface BulkProps<Filter extends { ids?: string[] } = { ids?: string[] }> {
  /** In "Retry 12". */
  verb: string
  /** One of them, such as `execution`. */
  one: string
  /** What became of them: `retried`. */
  done: string
  /** It takes something away. */
  isDanger?: boolean
  /** Those that were chosen, or all that match. */
  filter: Filter
  /** Whose they are, in place of the filter. */
  of?: string | undefined
  /** What follows. */
  note: string
  children?: ComponentChildren
  count?(filter: Filter): PromiseLike<Counted>
  /** One step of it. @returns how many it changed */
  act(filter: Filter): PromiseLike<number>
  /** What became of them a while later. @returns undefined: not known */
  watch?: ((changed: number) => Promise<string | undefined>) | undefined
  /** Afterwards nothing is chosen. */
  clear?: (() => void) | undefined
}

/** For many at once: counts first, then does it step by step, then says what came of it. */
export function BulkDialog(props: BulkProps) {
  const { verb, one, done, isDanger, filter, of, note, children, count, act, watch, clear } = props
  const { ids } = filter
  const [counted, setCounted] = useState<Counted | undefined>(ids && { matched: ids.length })
  const [stage, setStage] = useState<'asks' | 'runs' | 'over'>('asks')
  const [passed, setPassed] = useState(0)
  const [said, say] = useState('')
  const [problem, setProblem] = useState<string>()
  const isBegun = useRef(false)
  const isLeft = useRef(false)
  const all = counted?.matched ?? 0
  const number = `${counted?.atLeast ? 'at least ' : ''}${formatCount(all)}`
  const fail = (error: unknown) => setProblem(describeError(error).title)
  useEffect(() => {
    if (!ids) void count?.(filter).then(setCounted, fail)
    // Also by the way back, which leads to another screen.
    return () => {
      isLeft.current = true
    }
  }, [])
  async function run(): Promise<void> {
    // A second click comes before the button is gone: events would be replayed twice.
    if (isBegun.current) return
    isBegun.current = true
    setStage('runs')
    const now = { asked: 0, changed: 0 }
    try {
      while (now.asked < all && !isLeft.current) {
        say(`${formatCount(now.asked)} of ${number}…`)
        const some = ids?.slice(now.asked, now.asked + atOnce)
        const changed = await act(some ? { ...filter, ids: some } : filter)
        now.changed += changed
        // What matches and does not change would be asked for without end.
        now.asked = some ? now.asked + some.length : changed === 0 ? all : now.changed
        setPassed(now.asked)
      }
    } catch (error) {
      fail(error)
    }
    // Others may have come to match since they were counted.
    const whole = now.changed > all ? formatCount(now.changed) : number
    const end = `${formatCount(now.changed)} of ${whole} ${done}.${sayLeft(now.asked - now.changed)}`
    const isWatched = watch !== undefined && now.changed > 0
    say(isWatched ? `${end} What comes of it is shown here…` : end)
    setStage('over')
    await readAgain()
    if (!isWatched) return
    const outcome = (await watch(now.changed)) ?? end
    await readAgain()
    say(outcome)
    if (isLeft.current) toast(outcome)
  }
  const leave = () => {
    isLeft.current = true
    if (stage !== 'asks') clear?.()
    stopAsking()
  }
  return (
    <Dialog title={`${verb} ${one}s`} close={leave}>
      {stage === 'asks' && counted && (
        <>
          <p>
            <strong>{counted.atLeast ? `${number} ${one}s` : countOf(all, one)}</strong>{' '}
            {ids ? 'chosen' : of ? `of ${of}` : `${all === 1 ? 'matches' : 'match'} the filter`}. {note}
          </p>
          {children}
        </>
      )}
      {!counted && !problem && <Loading what="their number" />}
      {stage !== 'asks' && <progress max={all} value={passed} aria-label="Progress" />}
      <p role="status">{said}</p>
      <Alert>{problem}</Alert>
      <div class="row end">
        <button type="button" onClick={leave}>
          {stage === 'runs' ? 'Stop' : 'Close'}
        </button>
        {stage === 'asks' && all > 0 && (
          <button type="button" class={isDanger ? 'danger' : 'primary'} onClick={() => void run()}>
            {verb} {number}
          </button>
        )}
      </div>
    </Dialog>
  )
}

function sayLeft(left: number): string {
  return left > 0 ? ` ${left} ${left === 1 ? 'was' : 'were'} in a state that does not allow it.` : ''
}
