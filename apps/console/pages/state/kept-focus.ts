import { useEffect } from 'preact/hooks'

const focusable =
  'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled)'

/** By itself a page in a frame takes the focus only from its own, never from the page around it. */
export function giveFocus(element: HTMLElement | null | undefined): void {
  if (!inFrame || document.hasFocus()) element?.focus()
}

/**
 * The focus is never lost: if its element goes away (a row was deleted, a button did its work), the nearest one that is left gets
 * it, and at last the heading. Without this, a browser starts again at the top of the page.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let way: Element[] = []
    const note = ({ target }: FocusEvent) => {
      way = []
      for (let element = target as Element | null; element; element = element.parentElement) way.push(element)
    }
    // A click beside everything takes the focus away on purpose.
    const forget = ({ target }: FocusEvent) => {
      if ((target as Element).isConnected && !(target as Element).matches(':disabled')) way = []
    }
    const keep = () => {
      const isLost = document.activeElement === null || document.activeElement === document.body
      if (!isLost || way.length === 0 || way[0]?.isConnected) return
      const left = way.find(
        (element) => element.isConnected && element !== document.body && element.id !== 'app',
      )
      const next = left?.closest('main, dialog') ? left.querySelector<HTMLElement>(focusable) : null
      way = []
      giveFocus(next ?? document.querySelector<HTMLElement>('h1'))
    }
    const observer = new MutationObserver(keep)
    observer.observe(document.body, { childList: true, subtree: true })
    addEventListener('focusin', note)
    addEventListener('focusout', forget)
    return () => {
      observer.disconnect()
      removeEventListener('focusin', note)
      removeEventListener('focusout', forget)
    }
  }, [])
}
