import type {
  EmailTemplatePage,
  EmailTemplateSummary,
  EmailTemplateToCreate,
  EmailTemplateToUpdate,
  MailToPreview,
} from './api.js'
import { type IfTag, matchingTag } from './if-version.js'
import type { Inputs } from './operation.js'
import type { Pages } from './pages.js'
import type { KeyedOptions, RequestOptions, Sender } from './send.js'

type TemplateQuery = NonNullable<Inputs<'GET /api/email-templates'>['query']>

export class EmailTemplates {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** The templates without their texts, newest first. */
  list(query: TemplateQuery = {}, options?: RequestOptions): Pages<EmailTemplateSummary, EmailTemplatePage> {
    return this.#sender.list('GET /api/email-templates', 'emailTemplates', { query }, options)
  }

  create(template: EmailTemplateToCreate, options?: KeyedOptions) {
    return this.#sender.ask('POST /api/email-templates', { body: template }, options)
  }

  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/email-templates/{id}', { path: { id } }, options)
  }

  /** Takes effect from the next mail on. @param changes any subset of the fields */
  update(id: string, changes: EmailTemplateToUpdate, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'PUT /api/email-templates/{id}',
      { path: { id }, body: changes },
      matchingTag(options),
    )
  }

  /** The same as `update`, by the method PATCH. */
  patch(id: string, changes: EmailTemplateToUpdate, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'PATCH /api/email-templates/{id}',
      { path: { id }, body: changes },
      matchingTag(options),
    )
  }

  /** From then on, the actions that name the template send the built-in mail. */
  delete(id: string, options: RequestOptions & IfTag = {}) {
    return this.#sender.ask('DELETE /api/email-templates/{id}', { path: { id } }, matchingTag(options))
  }

  /** Renders the mail for an event, without sending it. */
  preview(id: string, mail: MailToPreview = {}, options?: RequestOptions) {
    const again = { ...options, isRepeatable: true }
    return this.#sender.ask('POST /api/email-templates/{id}/preview', { path: { id }, body: mail }, again)
  }
}
