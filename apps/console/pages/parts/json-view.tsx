import { useEffect, useMemo, useState } from 'preact/hooks'
import { showControls } from '../logic/show.js'
import { sliceText } from '../logic/slice-text.js'
import { Source } from './source.js'

const mostShown = 65_536
/** The browser skips the layout of the parts that are not seen. */
const partSize = 4_096

/** Data of others, as text and never as markup. Large data is cut until somebody asks for it. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const [shown, setShown] = useState(mostShown)
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'nothing', [value])
  const parts = useMemo(() => sliceText(showControls(text.slice(0, shown)), partSize), [text, shown])
  const isCut = text.length > shown
  return (
    <div class="json">
      <Source label={label}>
        {parts.map((part, index) => (
          <pre key={index}>{part}</pre>
        ))}
      </Source>
      <div class="row">
        <CopyButton text={text} />
        {isCut && (
          <>
            <button type="button" class="small" onClick={() => setShown(shown + 4 * mostShown)}>
              Show more
            </button>
            <span class="quiet">
              {Math.round(shown / 1024)} of {Math.round(text.length / 1024)} KiB
            </span>
          </>
        )}
      </div>
    </div>
  )
}

/** How long it says that something was copied: the next copy would not be noticed otherwise. */
const copiedMs = 2_000

export function CopyButton({
  text,
  label = 'Copy',
  look = 'small',
}: {
  text: string
  label?: string
  look?: string
}) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), copiedMs)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <button
      type="button"
      class={look}
      onClick={async () => {
        await navigator.clipboard.writeText(text)
        setCopied(true)
      }}
    >
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </button>
  )
}
