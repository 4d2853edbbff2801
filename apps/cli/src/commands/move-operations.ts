import { findWorkspace } from '@automation/access'
import { confirmName } from '../confirm.js'
import {
  type Left,
  leaveWorkspace,
  type Moved,
  moveWorkspace,
  reopenWorkspace,
} from '../move/move-workspace.js'
import { readId } from '../option-readers.js'
import { exampleId } from '../program.js'
import { useWorkspace } from '../use-database.js'
import type { DatabaseOperation } from './database-operation.js'

const ofMove: Pick<DatabaseOperation, 'example' | 'exits' | 'reads' | 'argument' | 'takes'> = {
  example: `${exampleId} --confirm Acme`,
  exits: ['declined'],
  reads: ['DATABASE_URL', 'TARGET_DATABASE_URL'],
  argument: ['workspace', 'id of the workspace', readId],
  takes: [['--confirm <name>', 'name of the workspace (default: asks for it)', String]],
}

/** The move of a workspace to another installation. */
export const moveOperations: readonly DatabaseOperation[] = [
  {
    words: 'workspaces move',
    description:
      'Move a workspace to another installation, after its name is typed again. It is copied while it works, then closed for some seconds, and opened there. If one was ended, the same command begins again.',
    ...ofMove,
    reads: ['DATABASE_URL', 'TARGET_DATABASE_URL', 'ENCRYPTION_KEY'],
    shows: ({ closedMs, passes, rows }: Moved) =>
      `The workspace is open in the target: ${rows} rows in ${passes} passes. It was closed for ${closedMs} ms. Lead its requests there now.`,
    run: async ({ workspace, confirm }) => {
      await confirmed(workspace, confirm)
      return moveWorkspace(workspace)
    },
  },
  {
    words: 'workspaces moved',
    description:
      'When the requests of a workspace that has moved are led to the other installation: copy what was accepted here at the last moment, compare what is recorded there with what was done, and have the workspace deleted here in the next round of retention.',
    ...ofMove,
    shows: ({ late, faults }: Left) =>
      [
        `${late} events of the last moment were copied. The workspace is deleted here in the next round of retention.`,
        faults.length === 0
          ? 'The reconciliation of the target finds nothing.'
          : `In the target: ${faults.join(', ')}`,
      ].join('\n'),
    run: async ({ workspace, confirm }) => leaveWorkspace(workspace, await confirmed(workspace, confirm)),
  },
  {
    words: 'workspaces reopen',
    description:
      'Undo a move that has not come to its end: open the workspace here again, and remove its copy. It is refused if the workspace is open in the target.',
    ...ofMove,
    says: 'The workspace is open here, and the target has nothing of it.',
    run: async ({ workspace, confirm }) => {
      await confirmed(workspace, confirm)
      return reopenWorkspace(workspace)
    },
  },
]

/** @returns its name */
function confirmed(workspaceId: string, typed: string | undefined): Promise<string> {
  return useWorkspace('read', workspaceId, async ({ database }) => {
    const { name } = await findWorkspace(database.system, workspaceId)
    await confirmName(name, typed)
    return name
  })
}
