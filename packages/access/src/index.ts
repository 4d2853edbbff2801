export {
  ApiKey,
  ApiKeyToCreate,
  createApiKey,
  findApiKey,
  findExpiryFault,
  hashApiKey,
  listApiKeys,
  NewApiKey,
  readApiKeyId,
  revokeApiKey,
  Scope,
} from './api-keys.js'
export { AuditAction, actorForms, type NewAuditEntry } from './audit.js'
export {
  type Administrator,
  type Change,
  changeWorkspace,
  isWorkspaceBusy,
  listEntries,
} from './change-workspace.js'
export { DateTime, orNull } from './credential.js'
export {
  Credential,
  CredentialKind,
  CredentialToPatch,
  CredentialToPut,
  findCredentialFaults,
  isCredentialName,
} from './credentials/credential-schemas.js'
export {
  credentialContext,
  listCredentials,
  patchCredential,
  putCredential,
  readCredential,
  type SecretParts,
} from './credentials/stored-credentials.js'
export { createDecisionTokens } from './decision-tokens.js'
export {
  EmbedAllow,
  EmbedAppearance,
  EmbedFrame,
  EmbedGrant,
  EmbedPage,
  EmbedRole,
  EmbedSession,
  EmbedSessionToCreate,
  EmbedUser,
  NewEmbedSession,
  OpenedEmbedSession,
} from './embed-sessions/embed-session-schemas.js'
export {
  createEmbedSession,
  endEmbedSession,
  endEmbedSessionsOfUser,
  listEmbedSessions,
  noSuchSession,
} from './embed-sessions/embed-sessions.js'
export { isFrameOrigin } from './embed-sessions/frame-origins.js'
export {
  type LiveSession,
  loadEmbedSessions,
  loadSessionFrames,
  openEmbedSession,
  opensSession,
  type SessionFrame,
} from './embed-sessions/open-session.js'
export { hashSecret, readSessionId } from './embed-sessions/secrets.js'
export {
  createErasure,
  Erasure,
  ErasureToApply,
  ErasureToCreate,
  erasureContext,
  erasureFields,
  findErasure,
  listErasures,
  refuseErasureFaults,
  repeatErasures,
} from './erasures.js'
export {
  acceptInvitation,
  createInvitation,
  Invitation,
  InvitationForUser,
  InvitationToCreate,
  listInvitations,
  NewInvitation,
  readInvitation,
  revokeInvitation,
} from './invitations.js'
export { readKeyList } from './key-list.js'
export {
  findMember,
  isUserId,
  ListedMember,
  listMembers,
  Member,
  MemberToPut,
  maxSupportHours,
  noteSeen,
  putMember,
  Role,
  removeMember,
  UserId,
} from './members.js'
export { findMembership, findTenant, type Membership, type Tenant, tenantColumnsSql } from './memberships.js'
export {
  createOperatorKey,
  listOperatorKeys,
  OperatorKeyName,
  readOperatorKeyId,
  revokeOperatorKey,
} from './operator-keys.js'
export { putSigningSecret } from './put-signing-secret.js'
export { Refused } from './refused.js'
export { findUndone, listRemovals, type RemovalEntry, Removals, type Undone } from './removals.js'
export { opensNewest, type Resealing, resealSecrets } from './reseal-secrets.js'
export {
  findOpenRestore,
  markRestored,
  type OpenRestore,
  readSweepStart,
  startAfterRestore,
} from './restores.js'
export {
  type ClaimedErasure,
  claimErasure,
  failErasure,
  noteErasureFailure,
  noteErasureStep,
  openErasedValue,
} from './running-erasures.js'
export { createSealer, type Sealer } from './sealing.js'
export { serviceEventSchemas } from './service-event-schemas.js'
export { pingType, publish, type ServiceEvent, ServiceEventType } from './service-events.js'
export { findSecretFaults } from './signing-secret-faults.js'
export {
  Counterparty,
  NewSigningSecret,
  Provider,
  SecretDirection,
  SigningSecret,
  SigningSecretToCreate,
  SigningSecretToPut,
} from './signing-secret-schemas.js'
export {
  createSigningSecret,
  listSigningSecrets,
  maxOfProvider,
  readSigningSecret,
  retireSigningSecret,
  revokeSigningSecret,
  sealingContext,
  signingSecretState,
} from './signing-secrets.js'
export {
  NewSubscription,
  Subscription,
  SubscriptionToCreate,
  SubscriptionToUpdate,
} from './subscription-schemas.js'
export {
  createSubscription,
  deleteSubscription,
  findSubscription,
  findSubscriptionUrlFault,
  listSubscriptions,
  maxSubscriptions,
  pingSubscription,
  readSubscription,
  subscriptionRetry,
  updateSubscription,
} from './subscriptions.js'
export { mintToken, recordToken, tokenParty } from './tokens.js'
export {
  NewWorkspace,
  Plan,
  RetentionDays,
  Workspace,
  WorkspaceCounts,
  WorkspaceToCreate,
  WorkspaceToDelete,
  WorkspaceToUpdate,
} from './workspace-schemas.js'
export {
  countInWorkspaces,
  createWorkspace,
  findCreator,
  findWorkspace,
  listAllWorkspaces,
  listDeletedWorkspaces,
  listMemberships,
  listWorkspaces,
  updateWorkspace,
} from './workspaces.js'
