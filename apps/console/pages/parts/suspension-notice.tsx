import type { Workspace } from '@automation/client'
import { nameActor } from '../logic/name-actor.js'
import { api, loadMe, may, me, workspace } from '../state/session.js'
import { useChange } from '../state/use-change.js'
import { Alert } from './states.js'
import { When } from './when.js'

/** Above every screen of a workspace that is suspended: by whom, since when, until when, and how an admin undoes it. */
export function SuspensionNotice() {
  const { change, problem, isBusy } = useChange()
  const shown = workspace.value
  if (!shown?.suspendedBy && !shown?.deletionAskedBy) return null
  const { id, suspendedAt, suspendedBy, deletesAt, deletionAskedBy } = shown
  const [by, label, undo] =
    deletionAskedBy === null
      ? ([suspendedBy, 'Resume', () => api().developer.workspaces.resume(id)] as const)
      : ([deletionAskedBy, 'Undo the deletion', () => api().developer.workspaces.keep(id)] as const)
  const isOperator = by?.startsWith('cli:') ?? false
  return (
    <section class="notice row" aria-label="The workspace is suspended">
      <p>
        {nameOf(by)}{' '}
        {deletionAskedBy === null ? (
          <>
            suspended this workspace at <When at={suspendedAt} />.
          </>
        ) : (
          <>
            asked for the deletion of this workspace: it is deleted at <When at={deletesAt} />.
          </>
        )}{' '}
        Nothing of it runs, and nothing is sent. {may('admin') ? '' : 'Only its admins can read it.'}
        {isOperator && ' Only the operator can undo that.'}
      </p>
      <Alert isSmall>{problem}</Alert>
      {may('admin') && me.value?.userId && !isOperator && (
        <button
          type="button"
          aria-disabled={isBusy}
          onClick={() => isBusy || void change(() => enact(undo()))}
        >
          {label}
        </button>
      )}
    </section>
  )
}

function nameOf(actor: Workspace['suspendedBy']): string {
  return actor?.startsWith('cli:') ? 'The operator of the service' : nameActor(actor ?? '')
}

/** What is shown of the workspace comes with the user. */
export async function enact(work: PromiseLike<unknown>): Promise<true> {
  await work
  await loadMe()
  return true
}
