import { CopyButton } from '../json-view.js'

/** A secret that nobody can read again. */
export function ShownOnce({ text, close }: { text: string; close: () => void }) {
  return (
    <>
      <p>Copy it now: it is shown once, and the service cannot read it again.</p>
      <pre tabIndex={0} class="secret">
        {text}
      </pre>
      <div class="row end">
        <CopyButton text={text} />
        <button type="button" class="primary" onClick={close}>
          I have it
        </button>
      </div>
    </>
  )
}
