export { type Administrator, type Change, changeWorkspace, type Entry } from './administrator.js'
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
export { applyImport } from './apply-import.js'
export { arrangeRule } from './arrange-rule.js'
export { AuditAction } from './audit.js'
export { createBodyCompiler, tellShapeFaults } from './body-shape.js'
export { checkRuleFile } from './check-rule-file.js'
export { createRules } from './create-rules.js'
export { deleteRules } from './delete-rules.js'
export {
  createEmailTemplate,
  deleteEmailTemplate,
  EmailTemplate,
  EmailTemplateToCreate,
  EmailTemplateToUpdate,
  findEmailTemplate,
  findEmailTemplateFaults,
  updateEmailTemplate,
} from './email-templates.js'
export { findUnstorable, hasTooManyValues, maxNodes, TooLarge } from './find-unstorable.js'
export { isUserId, listMembers, Member, putMember, Role, removeMember, UserId } from './members.js'
export { type Changes, type ImportPlan, planImport } from './plan-import.js'
export { Refused } from './refused.js'
export { tellCreated, tellDeleted, tellUpdated } from './rule-entries.js'
export { type DefinitionFields, definitionOf, type RuleFields } from './rule-fields.js'
export { exportRules, type RuleFile } from './rule-file.js'
export { FullDefinition, RuleToCreate, RuleToUpdate } from './rule-schemas.js'
export { cancelWaitingRuns, changeRules, pauseRules } from './rules.js'
export { type Saved, saveRules } from './save-rules.js'
export { createSealer, type Sealer } from './sealing.js'
export { pingType, publish, type ServiceEvent, ServiceEventType } from './service-events.js'
export {
  NewSigningSecret,
  Provider,
  SecretDirection,
  SigningSecret,
  SigningSecretToCreate,
} from './signing-secret-schemas.js'
export {
  createSigningSecret,
  listSigningSecrets,
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
  pingSubscription,
  readSubscription,
  subscriptionRetry,
  updateSubscription,
} from './subscriptions.js'
export { mintToken, tokenParty } from './tokens.js'
export {
  AutoPauseAfter,
  createWorkspace,
  findWorkspace,
  listWorkspaces,
  Plan,
  RetentionDays,
  updateWorkspace,
  Workspace,
  WorkspaceToCreate,
  WorkspaceToUpdate,
} from './workspaces.js'
