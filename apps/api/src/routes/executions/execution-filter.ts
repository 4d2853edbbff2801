import { Type } from 'typebox'
import { TimeRange } from '../../lists/history-filter.js'
import { SearchText } from '../../lists/search-text.js'

/** The filters that both a query and a body accept. */
export const executionFilter = {
  ruleId: Type.Optional(Type.String({ description: 'Id of the rule, or of the subscription' })),
  subscriptionId: Type.Optional(Type.String({ description: 'Id of the subscription of a delivery' })),
  eventType: Type.Optional(Type.String({ description: 'Type of the event' })),
  ...TimeRange,
  error: Type.Optional(
    Type.String({ ...SearchText, minLength: 1, description: 'Text that the error contains' }),
  ),
}
