import { Type } from 'typebox'
import { TimeRange } from '../../lists/history-filter.js'

/** The filters that both a query and a body accept. */
export const eventFilter = {
  eventType: Type.Optional(Type.String({ description: 'Type of the event' })),
  ruleId: Type.Optional(
    Type.String({
      description: 'Id of a rule that was considered for the event, or of the subscription that received it',
    }),
  ),
  subscriptionId: Type.Optional(
    Type.String({ description: 'Id of the subscription that the event was delivered to' }),
  ),
  ...TimeRange,
}
