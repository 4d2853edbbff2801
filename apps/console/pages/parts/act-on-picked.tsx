import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { countOf } from '../logic/count-words.js'
import { describeError, readAgain } from '../state/use-query.js'
import { Dialog } from './dialog.js'
import { Alert } from './states.js'

/** So many at once: the dialog says how far it is, and can stop in between. */
const atOnce = 25

interface Props {
  ids: readonly string[]
  /** One of them, such as `execution`. */
  one: string
  /** What its button says: `Retry`. */
  verb: string
  /** What became of them: `retried`. */
  done: string
  isDanger?: boolean
  /** What follows from it. */
  children: ComponentChildren
  /** @returns how many of them it changed */
  act: (ids: string[]) => PromiseLike<number>
  clear: () => void
}

/** A button that does something with each of the chosen rows, after a question, step by step. */
export function ActOnPicked(props: Props) {
  const [isOpen, open] = useState(false)
  return (
    <>
      <button type="button" onClick={() => open(true)}>
        {props.verb}…
      </button>
      {isOpen && <PickedDialog {...props} close={() => open(false)} />}
    </>
  )
}

interface Progress {
  /** How many were asked for, and how many of them changed. */
  asked: number
  changed: number
}

function PickedDialog({
  ids,
  one,
  verb,
  done,
  isDanger,
  children,
  act,
  clear,
  close,
}: Props & { close: () => void }) {
  const [progress, setProgress] = useState<Progress>()
  const [problem, setProblem] = useState<string>()
  const isStopped = useRef(false)
  const isBegun = useRef(false)
  const isOver = problem !== undefined || progress?.asked === ids.length || isStopped.current
  async function run(): Promise<void> {
    // A second click comes before the button is gone: events would be replayed twice.
    if (isBegun.current) return
    isBegun.current = true
    let now = { asked: 0, changed: 0 }
    setProgress(now)
    try {
      while (now.asked < ids.length && !isStopped.current) {
        const some = ids.slice(now.asked, now.asked + atOnce)
        now = { asked: now.asked + some.length, changed: now.changed + (await act(some)) }
        setProgress(now)
      }
    } catch (error) {
      setProblem(describeError(error).title)
    }
    await readAgain()
  }
  const leave = () => {
    isStopped.current = true
    if (progress) clear()
    close()
  }
  return (
    <Dialog title={`${verb} ${countOf(ids.length, one)}`} close={leave}>
      {!progress && children}
      {progress && (
        <>
          <progress max={ids.length} value={progress.asked} aria-label="Progress" />
          <p role="status">
            {isOver ? sayEnd(progress, ids.length, done) : `${progress.asked} of ${ids.length}…`}
          </p>
        </>
      )}
      <Alert>{problem}</Alert>
      <div class="row end">
        <button type="button" onClick={leave}>
          {progress && !isOver ? 'Stop' : 'Close'}
        </button>
        {!progress && (
          <button type="button" class={isDanger ? 'danger' : 'primary'} onClick={() => void run()}>
            {verb} {ids.length}
          </button>
        )}
      </div>
    </Dialog>
  )
}

function sayEnd({ asked, changed }: Progress, all: number, done: string): string {
  const left = asked - changed
  return [
    `${changed} of ${all} ${done}.`,
    ...(left > 0 ? [`${left} ${left === 1 ? 'was' : 'were'} in a state that does not allow it.`] : []),
  ].join(' ')
}
