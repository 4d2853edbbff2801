import { Dialog } from './dialog.js'
import { CopyButton } from './json-view.js'
import { Source } from './source.js'

/** A secret that nobody can read again. */
export function ShownOnceDialog({ title, text, close }: { title: string; text: string; close: () => void }) {
  return (
    <Dialog title={title} close={close} isLasting>
      <p>Copy the secret now: it is shown only once.</p>
      <Source label="The secret" kind="secret">
        <pre>{text}</pre>
      </Source>
      <div class="row end">
        <CopyButton text={text} look="" />
        <button type="button" class="primary" onClick={close}>
          I have copied it
        </button>
      </div>
    </Dialog>
  )
}
