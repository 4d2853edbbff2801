export { type Administrator, type Change, changeWorkspace } from './administrator.js'
export {
  ApiKey,
  ApiKeyToCreate,
  createApiKey,
  findExpiryFault,
  hashApiKey,
  listApiKeys,
  NewApiKey,
  readApiKeyId,
  revokeApiKey,
  Scope,
} from './api-keys.js'
export { AuditAction } from './audit.js'
export { isUserId, listMembers, Member, putMember, Role, removeMember, UserId } from './members.js'
export { Refused } from './refused.js'
export { createSealer, type Sealer } from './sealing.js'
export {
  createSigningSecret,
  listSigningSecrets,
  NewSigningSecret,
  Provider,
  retireSigningSecret,
  revokeSigningSecret,
  SigningSecret,
  SigningSecretToCreate,
  sealingContext,
  signingSecretState,
} from './signing-secrets.js'
export { mintToken, tokenParty } from './tokens.js'
export {
  createWorkspace,
  findWorkspace,
  listWorkspaces,
  Plan,
  updateWorkspace,
  Workspace,
  WorkspaceToCreate,
  WorkspaceToUpdate,
} from './workspaces.js'
