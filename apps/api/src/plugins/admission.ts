import type { DatabaseLimits } from '@automation/database'
import fp from 'fastify-plugin'
import { type Admission, createAdmission } from '../admission.js'

declare module 'fastify' {
  interface FastifyInstance {
    admission: Admission
  }
  interface FastifyRequest {
    /** Whether it has been admitted before. */
    hasBegun: boolean
  }
}

/** What the tenants of this process share. */
export default fp<{ database: DatabaseLimits }>(
  async (app, { database }) => {
    app.decorate('admission', createAdmission(database))
    app.decorateRequest('hasBegun', false)
  },
  { name: 'admission', dependencies: ['metrics', 'deadline'] },
)
