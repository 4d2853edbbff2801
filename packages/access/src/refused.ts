/** Why a change was refused, in one word for programs. The API sends it as `X-Error-Code`. */
export type RefusedCode =
  | 'already_a_member'
  | 'api_key_not_found'
  | 'changed_meanwhile'
  | 'credential_in_use'
  | 'credential_not_found'
  | 'draft_equals_rule'
  | 'email_template_not_found'
  | 'embed_session_not_found'
  | 'embed_session_limited'
  | 'erasure_not_found'
  | 'event_type_in_use'
  | 'event_type_not_found'
  | 'event_type_of_catalogue'
  | 'invitation_not_found'
  | 'last_admin'
  | 'limit_reached'
  | 'member_not_found'
  | 'name_taken'
  | 'scheme_in_use'
  | 'signing_secret_not_found'
  | 'signing_secret_retired'
  | 'signing_secret_revoked'
  | 'still_cancelling'
  | 'subscription_inactive'
  | 'subscription_not_found'
  | 'unavailable'
  | 'validation_failed'
  | 'workspace_not_found'
  | 'workspace_suspended'

/** A change that was refused on purpose. The API and the command line present it each in its own way. */
export class Refused extends Error {
  readonly code: RefusedCode
  /** The faulty field, where the code is `validation_failed`. */
  readonly field: string

  constructor(code: RefusedCode, message: string, field = '') {
    super(message)
    this.code = code
    this.field = field
  }
}
