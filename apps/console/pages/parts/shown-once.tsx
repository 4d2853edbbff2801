import type { ComponentChildren } from 'preact'
import { Dialog } from './dialog.js'
import { CopyButton } from './json-view.js'
import { Source } from './source.js'

interface Props {
  title: string
  /** A secret that nobody can read again. undefined: there is only something to say */
  text: string | undefined
  noun?: string | undefined
  close: () => void
  children?: ComponentChildren
}

/** What came of a form: a secret that is shown once, and what to do with it. */
export function ShownOnceDialog({ title, text, noun = 'secret', close, children }: Props) {
  return (
    <Dialog title={title} close={close} isLasting={text !== undefined}>
      {text !== undefined && (
        <>
          <p>Copy the {noun} now: it is shown only once.</p>
          <Source label={`The ${noun}`} kind="secret">
            <pre>{text}</pre>
          </Source>
        </>
      )}
      {children}
      <div class="row end">
        {text !== undefined && <CopyButton text={text} look="" />}
        <button type="button" class="primary" onClick={close}>
          {text === undefined ? 'Done' : 'I have copied it'}
        </button>
      </div>
    </Dialog>
  )
}
