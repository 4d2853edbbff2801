import { useState } from 'preact/hooks'

const mostShown = 65_536

/** Data of others, as text and never as markup. Large data is cut until somebody asks for it. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const [isWhole, showWhole] = useState(false)
  const text = JSON.stringify(value, null, 2) ?? 'nothing'
  const isCut = text.length > mostShown && !isWhole
  return (
    <div class="json">
      <pre tabIndex={0} role="region" aria-label={label}>
        {isCut ? text.slice(0, mostShown) : text}
      </pre>
      <div class="row">
        <CopyButton text={text} />
        {isCut && (
          <button type="button" class="plain" onClick={() => showWhole(true)}>
            Show all {Math.round(text.length / 1024)} KiB
          </button>
        )}
      </div>
    </div>
  )
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <button
      type="button"
      class="plain"
      onClick={async () => {
        await navigator.clipboard.writeText(text)
        setCopied(true)
      }}
    >
      <span role="status">{isCopied ? 'Copied' : label}</span>
    </button>
  )
}
