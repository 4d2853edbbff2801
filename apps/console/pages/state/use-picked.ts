import { useState } from 'preact/hooks'

/** Rows that somebody has chosen, to do something with all of them. */
export interface Picked {
  ids: ReadonlySet<string>
  /** Chooses some rows, or no longer. */
  pick: (ids: readonly string[], isPicked: boolean) => void
}

/** @param key of the list: what was chosen under another filter is chosen no more */
export function usePicked(key: string): Picked & { clear: () => void } {
  const [picked, setPicked] = useState<{ of: string; ids: ReadonlySet<string> }>({ of: key, ids: new Set() })
  const ids = picked.of === key ? picked.ids : new Set<string>()
  return {
    ids,
    pick: (changed, isPicked) => {
      const next = new Set(ids)
      for (const id of changed)
        if (isPicked) next.add(id)
        else next.delete(id)
      setPicked({ of: key, ids: next })
    },
    clear: () => setPicked({ of: key, ids: new Set() }),
  }
}
