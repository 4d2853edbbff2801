/** The demo's first rule. examples/rules.yaml has it as a file, with tests. */
export const welcomeRule = {
  name: 'Welcome hot leads',
  description: 'Created by the demo: a lead with a score above 80 becomes a task to call within a day.',
  trigger: 'LEAD_CREATED',
  conditions: [{ field: 'score', operator: 'greater_than', value: 80 }],
  actions: [{ type: 'CREATE_TASK', config: { title: 'Call {{name}}', dueIn: '24h' } }],
}
