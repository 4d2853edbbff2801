import { useEffect, useState } from 'preact/hooks'
import { type KeptChanges, UnsavedChanges } from '../../logic/unsaved-changes.js'
import { afterDrawing } from '../../parts/after-drawing.js'
import { kept } from '../../state/browser-store.js'
import { me, workspaceId } from '../../state/session.js'
import { findOpenTabs, ownTab, waitUntilGone, whileGone } from '../../state/tab.js'
import { toast } from '../../state/toasts.js'

interface Found {
  changes: UnsavedChanges
  /** What tabs that are gone have kept, beside what this one has. */
  others: readonly KeptChanges[]
  /** Counts how often this tab got another text. */
  round: number
}

/**
 * What the user typed into a rule and has not saved. What a single tab has kept that is gone, because of a crash or because it was closed, is this
 * tab's at once; of several somebody chooses.
 *
 * @returns undefined until it is known
 */
export function useKept(ruleId: string) {
  const [found, find] = useState<Found>()
  const begin = async () => {
    const changes = new UnsavedChanges(kept, {
      // A new session of the same user goes on with what is typed; of another one, nothing of it is left.
      user: inFrame ? 'frame' : (me.peek()?.actor ?? ''),
      workspaceId: workspaceId.peek() ?? '',
      tab: await ownTab,
    })
    const [only] = await listLeft(changes, ruleId)
    if (only && changes.listOthers(ruleId).length === 1 && changes.read(ruleId) === undefined)
      await whileGone(only.tab, () => changes.take(ruleId, only.tab))
    await look(changes, 0)
  }
  const look = async (changes: UnsavedChanges, round: number) => {
    const others = await listLeft(changes, ruleId)
    find({ changes, others, round })
    return others
  }
  const { changes, round } = found ?? {}
  useEffect(() => {
    if (changes === undefined) return
    // What an open tab has kept is offered once that tab is gone.
    const end = new AbortController()
    for (const { tab } of changes.listOthers(ruleId))
      void waitUntilGone(tab, end.signal).then(() => {
        if (!end.signal.aborted) void look(changes, round ?? 0)
      })
    return () => end.abort()
  }, [changes, round])
  useEffect(() => {
    void begin()
  }, [])
  return (
    found && {
      ...found,
      async open({ tab }: KeptChanges): Promise<void> {
        const isTaken = await whileGone(tab, () => found.changes.take(ruleId, tab))
        const left = await look(found.changes, isTaken ? found.round + 1 : found.round)
        if (left.some((one) => one.tab === tab)) toast('This browser has no room to open it')
        afterDrawing(() => document.querySelector('h1')?.focus())
      },
      async discard(one: KeptChanges, isIdle = false): Promise<void> {
        found.changes.dropOf(ruleId, one.tab)
        await look(found.changes, found.round)
        if (isIdle) return
        afterDrawing(() => {
          if (document.activeElement === document.body) document.querySelector('h1')?.focus()
        })
        toast('The kept changes were discarded', {
          undo: () => {
            found.changes.bringBack(ruleId, one)
            void look(found.changes, found.round)
          },
        })
      },
      /** Begins anew. What this tab has stays beside it. */
      async setAside(): Promise<void> {
        if (!found.changes.setAside(ruleId)) return toast('This browser has no room to keep it')
        found.changes.drop(ruleId)
        await look(found.changes, found.round + 1)
      },
    }
  )
}

async function listLeft(changes: UnsavedChanges, ruleId: string): Promise<KeptChanges[]> {
  const isOpen = await findOpenTabs()
  return changes.listOthers(ruleId).filter(({ tab, unsaved }) => !isOpen(tab, unsaved.keptAt))
}
