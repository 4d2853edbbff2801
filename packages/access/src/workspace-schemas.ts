import { Type } from 'typebox'
import { ApiKeyToCreate, NewApiKey } from './api-keys.js'
import { actorForms } from './audit.js'
import { DateTime, orNull } from './credential.js'
import { FrameOrigins } from './embed-sessions/frame-origins.js'
import { UserId } from './members.js'

export const Plan = Type.Enum(['standard', 'enterprise'], {
  title: 'Plan',
  description: 'The plan sets the rate limit of the workspace’s members and keys.',
})
/** How many failures in a row deactivate a rule. */
export const AutoPauseAfter = Type.Integer({ minimum: 3, maximum: 1_000 })
// One schema instead of a union reports a fault once.
const AutoPauseAfterOrNever = Type.Unsafe<number | null>({
  ...AutoPauseAfter,
  type: ['integer', 'null'],
  description: 'Number of consecutive failures after which the service switches a rule off. null: never.',
})
/** How many days events that are done are kept, with their executions. */
export const RetentionDays = Type.Integer({ minimum: 1, maximum: 3_650 })
const RetentionDaysOrDefault = Type.Unsafe<number | null>({
  ...RetentionDays,
  type: ['integer', 'null'],
  description:
    'Number of days after which finished events and their executions are removed. null: the default of the service.',
})
const WorkspaceName = Type.String({ minLength: 1, maxLength: 200 })

export const Workspace = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: WorkspaceName,
    plan: Plan,
    autoPauseAfter: AutoPauseAfterOrNever,
    retentionDays: RetentionDaysOrDefault,
    embedOrigins: FrameOrigins,
    createdAt: Type.String({ format: 'date-time' }),
    suspendedAt: orNull({
      ...DateTime,
      description: 'Since when it is suspended. null: it is not, unless `deletesAt` is set.',
    }),
    suspendedBy: orNull(Type.String({ description: `Who has suspended it: ${actorForms}. null: nobody.` })),
    deletesAt: orNull({
      ...DateTime,
      description:
        'When its deletion begins. Until then it is suspended, and the deletion can be undone. null: nobody has asked for it.',
    }),
    deletionAskedBy: orNull(Type.String({ description: 'Who has asked for its deletion. null: nobody.' })),
  },
  { title: 'Workspace' },
)
export type Workspace = Type.Static<typeof Workspace>

export const WorkspaceToCreate = Type.Object(
  {
    name: WorkspaceName,
    plan: Type.Optional(Plan),
    retentionDays: Type.Optional(RetentionDaysOrDefault),
    adminUserId: Type.Optional(UserId),
    apiKey: Type.Optional(ApiKeyToCreate),
  },
  { additionalProperties: false, title: 'WorkspaceToCreate' },
)
/** The only response that contains the first key, if one was asked for. */
export const NewWorkspace = Type.Object(
  { ...Workspace.properties, apiKey: Type.Optional(NewApiKey) },
  { title: 'NewWorkspace' },
)
export type NewWorkspace = Workspace & { apiKey?: NewApiKey }
/** How much there is in a workspace, for who sees nothing of it. */
export const WorkspaceCounts = Type.Object(
  {
    rules: Type.Integer({ description: 'Rules, also those that are switched off' }),
    members: Type.Integer(),
    apiKeys: Type.Integer({ description: 'API keys that are not revoked' }),
  },
  { title: 'WorkspaceCounts' },
)
export type WorkspaceCounts = Type.Static<typeof WorkspaceCounts>
export const WorkspaceToDelete = Type.Object(
  { name: Type.String({ maxLength: 200, description: 'The name of the workspace, typed again' }) },
  { additionalProperties: false, title: 'WorkspaceToDelete' },
)
export const WorkspaceToUpdate = Type.Object(
  {
    name: Type.Optional(WorkspaceName),
    plan: Type.Optional(Plan),
    autoPauseAfter: Type.Optional(AutoPauseAfterOrNever),
    retentionDays: Type.Optional(RetentionDaysOrDefault),
    embedOrigins: Type.Optional(FrameOrigins),
  },
  { additionalProperties: false, title: 'WorkspaceToUpdate' },
)

/** What a workspace shows of its row. */
export const workspaceFields = {
  id: true,
  name: true,
  plan: true,
  autoPauseAfter: true,
  retentionDays: true,
  embedOrigins: true,
  createdAt: true,
  suspendedAt: true,
  suspendedBy: true,
  deletesAt: true,
  deletionAskedBy: true,
} as const

type Dates = { createdAt: Date; suspendedAt: Date | null; deletesAt: Date | null }

export function presentWorkspace({
  createdAt,
  suspendedAt,
  deletesAt,
  ...workspace
}: Omit<Workspace, keyof Dates> & Dates): Workspace {
  return {
    ...workspace,
    createdAt: createdAt.toISOString(),
    suspendedAt: suspendedAt?.toISOString() ?? null,
    deletesAt: deletesAt?.toISOString() ?? null,
  }
}
