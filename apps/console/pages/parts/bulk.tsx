import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { formatCount } from '../logic/count-words.js'
import { may } from '../state/session.js'
import { describeError, readAgain } from '../state/use-query.js'
import { Dialog } from './dialog.js'
import { Loading } from './states.js'

interface Counted {
  matched: number
  atLeast?: boolean
}

interface Props {
  /** Of its button. */
  label: string
  title: string
  /** In "Retry 12". */
  verb: string
  /** It takes something away. */
  isDanger?: boolean
  /** What follows, behind the number. @param isOne of a single one */
  children: (isOne: boolean) => ComponentChildren
  count: () => PromiseLike<Counted>
  /** @param tell says how far it is. @returns what came of it */
  act: (tell: (text: string) => void) => PromiseLike<string>
}

/** For many at once: counts first, then does, then says what came of it. */
export function Bulk({ label, title, verb, isDanger = false, children, count, act }: Props) {
  const [counted, setCount] = useState<string>()
  const [isOpen, open] = useState(false)
  const [said, say] = useState<string>()
  if (!may('operator')) return null
  const attempt = async (work: () => Promise<void>) => {
    say(undefined)
    try {
      await work()
    } catch (error) {
      say(describeError(error).title)
    }
  }
  const begin = () => {
    setCount(undefined)
    open(true)
    void attempt(async () => {
      const { matched, atLeast } = await count()
      setCount(`${atLeast ? 'at least ' : ''}${formatCount(matched)}`)
    })
  }
  return (
    <>
      <button type="button" onClick={begin}>
        {label}
      </button>
      {isOpen && (
        <Dialog title={title} close={() => open(false)}>
          {counted === undefined && said === undefined && <Loading what="their number" />}
          {counted !== undefined && (
            <p>
              <strong>{counted}</strong> {children(counted === '1')}
            </p>
          )}
          <p role="status">{said}</p>
          <div class="row end">
            <button type="button" onClick={() => open(false)}>
              Close
            </button>
            {counted !== undefined && counted !== '0' && said === undefined && (
              <button
                type="button"
                class={isDanger ? 'danger' : 'primary'}
                onClick={() =>
                  void attempt(async () => {
                    say(await act(say))
                    await readAgain()
                  })
                }
              >
                {verb} {counted}
              </button>
            )}
          </div>
        </Dialog>
      )}
    </>
  )
}
