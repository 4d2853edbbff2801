import { Type } from 'typebox'
import { webUrl } from './url-settings.js'

/** The settings that verify tokens. Exactly one of the first two must be set. */
export const tokenSettings = {
  JWT_SECRET: Type.Optional(
    Type.String({
      pattern: '^[^,]{32,}(,\\s*[^,\\s][^,]{31,})*$',
      description:
        'HS256 secret of 32 characters or more, without a comma; of several, separated by commas, all verify and the first signs',
    }),
  ),
  JWKS_URL: Type.Optional(webUrl({ description: 'URL of the key set for RS256 and EdDSA' })),
  JWT_ISSUER: Type.String({ default: 'automation-rules', description: 'the iss that a token must carry' }),
  JWT_AUDIENCE: Type.String({ default: 'automation-rules', description: 'the aud that a token must carry' }),
}
