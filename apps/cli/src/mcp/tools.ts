import { ruleSchema, testRules } from './file-tools.js'
import { saveDraft } from './save-draft.js'
import { makeTool, type ToolMaker } from './tool.js'

/** Seconds. Most backtests and differences are done by then. */
const wait = 10

/** All that an assistant can do. What makes rules act stays with people: promotion, activation, deletion, and posting events. */
export const toolMakers: ToolMaker[] = [
  makeTool('list_rules', {
    operation: 'GET /api/automation-rules',
    description:
      'Lists the rules of the workspace, newest first, with their definitions, states and counters.',
    call: (client, { query }, options) => client.rules.list(query, options),
  }),
  makeTool('get_rule', {
    operation: 'GET /api/automation-rules/{id}',
    description: 'Reads one rule with its conditions, actions and counters.',
    call: (client, { path }, options) => client.rules.get(path.id, options),
  }),
  makeTool('rule_vocabulary', {
    operation: 'GET /api/vocabulary',
    description: 'Says what rules are made of: event types, operators, filters, actions and limits.',
    call: (client, _, options) => client.vocabulary(options),
  }),
  ruleSchema,
  makeTool('list_event_types', {
    operation: 'GET /api/event-types',
    description: 'Lists the event types: those of the catalogue, then those of the workspace.',
    call: (client, { query }, options) => client.eventTypes.list(query, options),
  }),
  makeTool('list_event_fields', {
    operation: 'GET /api/event-types/{name}/fields',
    description: 'Lists the fields that the newest events of a type have, with their kinds and values.',
    call: (client, { path, query }, options) => client.eventTypes.fields(path.name, query, options),
  }),
  makeTool('list_events', {
    operation: 'GET /api/events',
    description: 'Lists events without their data, newest first.',
    call: (client, { query }, options) => client.events.list(query, options),
  }),
  makeTool('get_event', {
    operation: 'GET /api/events/{id}',
    description: 'Reads one event: its data, and what each rule did for it.',
    call: (client, { path }, options) => client.events.get(path.id, options),
  }),
  makeTool('search_events', {
    operation: 'POST /api/events/search',
    description: 'Finds events whose data matches conditions, newest first. Conditions are those of rules.',
    call: (client, { body }, options) => client.events.search(body, options),
  }),
  makeTool('explain_event', {
    operation: 'GET /api/events/{id}/why',
    description:
      'Explains why each rule matched an event or did not: the conditions that decided it, and the nearest data that would have matched.',
    call: (client, { path, query }, options) => client.events.why(path.id, query, options),
  }),
  makeTool('list_executions', {
    operation: 'GET /api/executions',
    description: 'Lists executions, newest event first. One execution is one rule that ran for one event.',
    call: (client, { query }, options) => client.executions.list(query, options),
  }),
  makeTool('get_execution', {
    operation: 'GET /api/executions/{id}',
    description: 'Reads one execution: its progress, and the result of each action.',
    call: (client, { path, query }, options) =>
      client.executions.get(path.id, { ...options, ...(query.explain && { explain: true }) }),
  }),
  makeTool('list_decisions', {
    operation: 'GET /api/decisions',
    description: 'Lists what executions wait for a person to decide, newest event first. Only people decide.',
    call: (client, { query }, options) => client.decisions.list(query, options),
  }),
  makeTool('check_rules', {
    operation: 'POST /api/automation-rules/check',
    description:
      'Finds rules that never match, redundant conditions, duplicate actions and loops: in the given rules, or in those of the workspace.',
    call: (client, { body }, options) => client.rules.check(body.rules, options),
  }),
  makeTool('validate_rule', {
    operation: 'POST /api/automation-rules/validate',
    description: 'Checks one rule as its creation would, and warns of probable mistakes. Saves nothing.',
    call: (client, { body }, options) => client.rules.validate(body, options),
  }),
  makeTool('dry_run_event', {
    operation: 'POST /api/automation-rules/trigger/{eventType}',
    description:
      'Says what each active rule would do for an event with this data. Nothing happens, and nothing is stored.',
    sets: ['dryRun'],
    call: (client, { path, query, body }, options) =>
      client.dryRun(path.eventType, body.data, { ...options, explain: query.explain }),
  }),
  makeTool('dry_run_rule', {
    operation: 'POST /api/automation-rules/{id}/execute',
    description:
      'Says what one rule, active or not, would do for this data. Nothing happens, and nothing is stored.',
    sets: ['dryRun'],
    call: (client, { path, query, body }, options) => {
      const { data, captured, actions } = body
      const given = { ...(captured && { captured }), ...(actions && { actions }) }
      return client.rules.execute(path.id, data, {
        ...options,
        ...given,
        explain: query.explain,
        dryRun: true,
      })
    },
  }),
  testRules,
  makeTool('get_draft', {
    operation: 'GET /api/automation-rules/{id}/draft',
    description: 'Reads the draft of a rule, its etag, and what it would have done since it was saved.',
    call: (client, { path }, options) => client.rules.drafts.get(path.id, { ...options, wait }),
  }),
  saveDraft,
  makeTool('start_backtest', {
    operation: 'POST /api/automation-rules/backtests',
    description:
      'Computes what a rule would have done for past events: the rule as it is, a definition, or both compared. Nothing is executed. If it is not complete, read it with get_backtest.',
    isReading: false,
    call: (client, { body }, options) => client.rules.backtests.create(body, { ...options, wait }),
  }),
  makeTool('list_backtests', {
    operation: 'GET /api/automation-rules/backtests',
    description: 'Lists backtests, newest first, without their reports.',
    call: (client, { query }, options) => client.rules.backtests.list(query, options),
  }),
  makeTool('get_backtest', {
    operation: 'GET /api/automation-rules/backtests/{id}',
    description: 'Reads the progress of a backtest, and its report so far.',
    call: (client, { path }, options) => client.rules.backtests.get(path.id, options),
  }),
]
