import fp from 'fastify-plugin'
import { type Admission, createAdmission } from '../admission.js'
import type { ApiLimits } from '../limits.js'

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
export default fp<Pick<ApiLimits, 'reads'>>(
  async (app, { reads }) => {
    app.decorate('admission', createAdmission(reads))
    app.decorateRequest('hasBegun', false)
  },
  { name: 'admission', dependencies: ['metrics', 'deadline'] },
)
