import type {
  AttentionItem,
  AttentionList,
  ExecutionResult,
  Rule,
  RuleFileToImport,
  RulePage,
  RuleRollout,
  RuleRolloutPage,
  RuleSummary,
  RuleSummaryPage,
  RuleToCreate,
  RuleToUpdate,
} from './api.js'
import { Backtests } from './backtests.js'
import { checkRules } from './check-rules.js'
import { type AssumedCalls, validateRule, writeAssumed } from './dry-run.js'
import { type IfTag, type IfVersion, matching, matchingTag } from './if-version.js'
import type { Inputs } from './operation.js'
import type { Pages } from './pages.js'
import { RuleDrafts } from './rule-drafts.js'
import { RuleVersions } from './rule-versions.js'
import { preferring, type Run, type RunOptions, toRun } from './run.js'
import type { KeyedOptions, RequestOptions, Sender } from './send.js'

export interface DryRunOptions extends RequestOptions, AssumedCalls {
  dryRun: true
  /** Adds `trace`: each clause and its verdict. */
  explain?: boolean | undefined
}

type RuleFilter = NonNullable<Inputs<'GET /api/automation-rules'>['query']>
type RulesOverviewQuery = NonNullable<Inputs<'GET /api/automation-rules/overview'>['query']>
type SummaryQuery = NonNullable<Inputs<'GET /api/automation-rules/summaries'>['query']>
type ExportQuery = NonNullable<Inputs<'GET /api/automation-rules/export'>['query']>
type ScheduleQuery = NonNullable<Inputs<'GET /api/automation-rules/{id}/schedule'>['query']>
type RolloutQuery = NonNullable<Inputs<'GET /api/automation-rules/rollouts'>['query']>

export class Rules {
  readonly backtests: Backtests
  readonly drafts: RuleDrafts
  readonly versions: RuleVersions
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.backtests = new Backtests(sender)
    this.drafts = new RuleDrafts(sender)
    this.versions = new RuleVersions(sender)
    this.#sender = sender
  }

  /** All rules, or those that match the query, newest first. */
  list(query: RuleFilter = {}, options?: RequestOptions): Pages<Rule, RulePage> {
    return this.#sender.list('GET /api/automation-rules', 'rules', { query }, options)
  }

  /** Rules without their conditions and actions, newest first: all of them in one request with `limit: 1000`. */
  summaries(query: SummaryQuery = {}, options?: RequestOptions): Pages<RuleSummary, RuleSummaryPage> {
    return this.#sender.list('GET /api/automation-rules/summaries', 'rules', { query }, options)
  }

  get(id: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/automation-rules/{id}', { path: { id } }, options)
  }

  create(rule: RuleToCreate, options?: KeyedOptions) {
    return this.#sender.ask('POST /api/automation-rules', { body: rule }, options)
  }

  /** Checks a rule as its creation does, and saves nothing. @returns the rule as it would be saved, and warnings */
  validate(rule: RuleToCreate, options?: RequestOptions) {
    return validateRule(this.#sender, rule, options)
  }

  /** Repeated after an unknown outcome only with `ifVersion`, because it could undo a later change. @param changes any subset of the fields */
  update(id: string, changes: RuleToUpdate, options: RequestOptions & IfVersion = {}) {
    return this.#sender.ask(
      'PUT /api/automation-rules/{id}',
      { path: { id }, body: changes },
      { ...matching(options), isRepeatable: options.ifVersion !== undefined },
    )
  }

  /** The same as `update`, by the method PATCH. */
  patch(id: string, changes: RuleToUpdate, options: RequestOptions & IfVersion = {}) {
    return this.#sender.ask(
      'PATCH /api/automation-rules/{id}',
      { path: { id }, body: changes },
      { ...matching(options), isRepeatable: options.ifVersion !== undefined },
    )
  }

  delete(id: string, options: RequestOptions & IfVersion = {}) {
    return this.#sender.ask('DELETE /api/automation-rules/{id}', { path: { id } }, matching(options))
  }

  /** Toggles the rule between active and inactive. The client never repeats a toggle with an unknown outcome. */
  toggle(id: string, options: RequestOptions & IfVersion = {}) {
    return this.#sender.ask('PATCH /api/automation-rules/{id}/toggle', { path: { id } }, matching(options))
  }

  /** Switches the rule on. One that is active stays so. */
  activate(id: string, options: KeyedOptions & IfVersion = {}) {
    return this.#sender.ask('POST /api/automation-rules/{id}/activate', { path: { id } }, matching(options))
  }

  /** Switches the rule off, and cancels its waiting executions. One that is inactive stays so. */
  deactivate(id: string, options: KeyedOptions & IfVersion = {}) {
    return this.#sender.ask('POST /api/automation-rules/{id}/deactivate', { path: { id } }, matching(options))
  }

  /** The clone is inactive. */
  clone(id: string, options: KeyedOptions & IfVersion = {}) {
    return this.#sender.ask('POST /api/automation-rules/{id}/clone', { path: { id } }, matching(options))
  }

  /** Finds rules that never match, redundant conditions, duplicate actions and loops, in these rules or in those of the workspace. */
  check(rules?: RuleToCreate[], options?: RequestOptions) {
    return checkRules(this.#sender, rules, options)
  }

  /** All rules and email templates, or the rules with all labels of the query, sorted by name: what `import` and the command line read. */
  export(query: ExportQuery = {}, options?: RequestOptions) {
    return this.#sender.ask('GET /api/automation-rules/export', { query }, options)
  }

  /**
   * Changes rules and email templates to match a file, all of it or nothing. Only shows the changes unless `dryRun` is false. `ifTag` is the ETag of
   * that dry run (`onHeaders`): ApiError 412 if what it is about has changed since.
   */
  import(body: RuleFileToImport, options: KeyedOptions & IfTag = {}) {
    return this.#sender.ask('POST /api/automation-rules/import', { body }, matchingTag(options))
  }

  /** The next times at which a rule runs by its schedule. */
  schedule(id: string, query: ScheduleQuery = {}, options?: RequestOptions) {
    return this.#sender.ask('GET /api/automation-rules/{id}/schedule', { path: { id }, query }, options)
  }

  /** The rules of a group in their order: of the active ones with one trigger only the first that matches runs. */
  group(name: string, options?: RequestOptions) {
    return this.#sender.ask('GET /api/automation-rules/groups/{name}', { path: { name } }, options)
  }

  /** Puts the rules of a group into an order. @param ruleIds all of them, the first one first */
  reorder(name: string, ruleIds: string[], options: RequestOptions & IfTag = {}) {
    return this.#sender.ask(
      'PUT /api/automation-rules/groups/{name}',
      { path: { name }, body: { ruleIds } },
      { ...matchingTag(options), isRepeatable: options.ifTag !== undefined },
    )
  }

  health(options?: RequestOptions) {
    return this.#sender.ask('GET /api/automation-rules/health', {}, options)
  }

  /** The rules that need attention, latest first. */
  attention(options?: RequestOptions): Pages<AttentionItem, AttentionList> {
    return this.#sender.list('GET /api/automation-rules/attention', 'rules', {}, options)
  }

  /** The executions of each rule by time, and the rules that need attention. */
  overview(query: RulesOverviewQuery = {}, options?: RequestOptions) {
    return this.#sender.ask('GET /api/automation-rules/overview', { query }, options)
  }

  /** The rules that have a draft or a guard, newest first. */
  rollouts(query: RolloutQuery = {}, options?: RequestOptions): Pages<RuleRollout, RuleRolloutPage> {
    return this.#sender.list('GET /api/automation-rules/rollouts', 'rules', { query }, options)
  }

  /** Evaluates the rule, active or inactive, against the data of an event without effects. */
  execute(id: string, data: object, options: DryRunOptions): Promise<ExecutionResult>
  /** Executes the rule, active or inactive. */
  execute(id: string, data: object, options?: RunOptions & { dryRun?: false }): Promise<Run<ExecutionResult>>
  async execute(id: string, data: object, options: Partial<DryRunOptions> | RunOptions = {}) {
    const {
      dryRun = false,
      explain,
      captured,
      actions,
      ...rest
    } = options as Partial<DryRunOptions> & RunOptions
    const given = writeAssumed({ captured, actions })
    const answer = await this.#sender.send(
      'POST /api/automation-rules/{id}/execute',
      {
        path: { id },
        query: explain === undefined ? {} : { explain },
        body: { data: data as Record<string, unknown>, dryRun, ...given },
      },
      preferring(rest),
    )
    return dryRun ? answer.body : toRun<ExecutionResult>(answer)
  }
}
