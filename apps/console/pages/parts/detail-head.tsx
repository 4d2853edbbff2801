/** The head of what stands beside a list. Escape closes it, too. */
export function DetailHead({ title, what, close }: { title: string; what: string; close: () => void }) {
  return (
    <div class="row spread">
      <h2>{title}</h2>
      <button type="button" class="plain icon-button" data-close aria-label={`Close ${what}`} onClick={close}>
        ✕
      </button>
    </div>
  )
}
