import { Type } from 'typebox'

/** An origin: what is appended to it is a path. */
export const consoleUrlPattern = '^https?://[^/?#@]+/?$'

/** The settings that the console and the maker of its links share. */
export const consoleSettings = {
  CONSOLE_URL: Type.String({
    default: 'http://127.0.0.1:3003',
    pattern: consoleUrlPattern,
    description: 'URL under which browsers open it, without a path: https, or http on the loopback address',
  }),
  CONSOLE_SECRET: Type.String({
    pattern: '^[^,]{32,}(, *[^, ][^,]{31,})*$',
    description:
      '32 characters or more, without a comma, that encrypt sessions and links; of several, separated by commas, the first encrypts and all decrypt',
  }),
  CONSOLE_SESSION_HOURS: Type.Integer({
    default: 12,
    minimum: 1,
    maximum: 720,
    description: 'hours after which a user has to sign in again, at most the lifetime of the token',
  }),
}
