import { randomUUID } from 'node:crypto'

/** The path of its webhook. */
export const webhookPath = 'webhook/lead'
export const workflowId = 'benchWorkflow001'

/** The same work as an n8n workflow: a lead with score > 80 and status = new gets a field. The workflow responds at once. */
export const workflow = {
  id: workflowId,
  name: 'Hot leads',
  active: false,
  versionId: randomUUID(),
  nodes: [
    {
      id: randomUUID(),
      name: 'Webhook',
      type: 'n8n-nodes-base.webhook',
      typeVersion: 2,
      position: [0, 0],
      webhookId: randomUUID(),
      parameters: { httpMethod: 'POST', path: 'lead', responseMode: 'onReceived', options: {} },
    },
    {
      id: randomUUID(),
      name: 'If',
      type: 'n8n-nodes-base.if',
      typeVersion: 2.2,
      position: [200, 0],
      parameters: {
        conditions: {
          options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
          combinator: 'and',
          conditions: [
            condition('={{ $json.body.score }}', 80, { type: 'number', operation: 'gt' }),
            condition('={{ $json.body.status }}', 'new', { type: 'string', operation: 'equals' }),
          ],
        },
        options: {},
      },
    },
    {
      id: randomUUID(),
      name: 'Set',
      type: 'n8n-nodes-base.set',
      typeVersion: 3.4,
      position: [400, 0],
      parameters: {
        assignments: {
          assignments: [
            { id: randomUUID(), name: 'title', value: '=Call {{ $json.body.name }}', type: 'string' },
          ],
        },
        options: {},
      },
    },
  ],
  connections: {
    Webhook: { main: [[{ node: 'If', type: 'main', index: 0 }]] },
    If: { main: [[{ node: 'Set', type: 'main', index: 0 }], []] },
  },
  settings: { executionOrder: 'v1' },
}

function condition(leftValue: string, rightValue: unknown, operator: object) {
  return { id: randomUUID(), leftValue, rightValue, operator }
}
